package hook_test

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A commit can be seen in the outbox before its goroutine hands it over. The
// delivery is then found there, and must not go out a second time when it is
// handed over after all.
func TestALateHandOverSendsNothingTwice(t *testing.T) {
	late := func(t *testing.T, w *world, wait time.Duration) {
		to := w.receiver("late.test", each(500, 404, 200))
		h := w.webhookFor(w.ada, app.CreateWebhookInput{URL: "http://late.test/in", BoardID: w.board, Events: created})
		w.engine()
		pass(29990 * time.Millisecond) // the next look at the outbox comes while the hand-over is late
		w.running.DelayHandOver(func() time.Duration { return wait })
		w.card()
		pass(35 * time.Second)
		wantTimes(t, to, 2) // the first attempt and its retry
		w.wantStatus(h.ID, board.DeliveryFailed)
		// What a person sends again has the same id, and is no repetition.
		do(w, w.ada, app.SendDeliveryAgain, app.DeliveryInput{DeliveryID: w.only(h.ID).ID})
		pass(time.Minute)
		wantTimes(t, to, 3)
		w.wantStatus(h.ID, board.DeliveryDelivered)
	}
	t.Run("sqlite", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) { late(t, w, 40*time.Millisecond) })
	})
	t.Run("postgres", func(t *testing.T) {
		onPostgres(t, func(t *testing.T, c *cluster) { late(t, c.world, 400*time.Millisecond) })
	})
}

func wantTimes(t *testing.T, to *receiver, want int) {
	t.Helper()
	if ids := to.ids(); len(ids) != want {
		t.Errorf("it came %d times, want %d: %v", len(ids), want, ids)
	}
}

// Sixteen people change a board at once, on as many connections, and each commit
// is handed over a little late.
func TestManyWritersCauseNoDeliveryTwice(t *testing.T) {
	t.Parallel()
	const writers, changes = 16, 75
	w := newWorldOn(t, apptest.PostgresURL(t))
	to := w.receiver("receiver.test", func(int, http.ResponseWriter, *http.Request) {})
	w.webhook("receiver.test")
	w.engine(unpaced)
	time.Sleep(2 * time.Second) // it leases its shards
	w.running.DelayHandOver(func() time.Duration { return rand.N(40 * time.Millisecond) })
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range changes {
				w.card()
			}
		})
	}
	all.Wait()
	for deadline := time.Now().Add(time.Minute); len(to.ids()) < writers*changes && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(time.Second)
	if ids := to.ids(); len(ids) < writers*changes {
		t.Errorf("%d deliveries came, want %d", len(ids), writers*changes)
	}
	wantOnce(t, to.ids())
}
