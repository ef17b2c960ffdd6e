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

// A committed delivery is visible in the outbox before the committing goroutine hands it over
// to the engine. The engine may find it there first, and must not send it a second time after
// the hand-over.
func TestLateHandOverSendsNothingTwice(t *testing.T) {
	late := func(t *testing.T, w *world, wait time.Duration) {
		to := w.receiver("late.test", each(500, 404, 200))
		h := w.webhookFor(w.ada, app.CreateWebhookInput{URL: "http://late.test/in", BoardID: w.board, Events: created})
		w.engine()
		pass(29990 * time.Millisecond) // the next poll of the outbox comes before the late hand-over
		w.running.DelayHandOver(func() time.Duration { return wait })
		w.card()
		pass(35 * time.Second)
		wantTimes(t, to, 2) // the first attempt and its retry
		w.wantStatus(h.ID, board.DeliveryFailed)
		// A redelivery by a person has the same ID and is not a duplicate.
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
		t.Errorf("the delivery arrived %d times, want %d: %v", len(ids), want, ids)
	}
}

// Sixteen people change a board at the same time, on sixteen connections, and each commit is
// handed over late.
func TestConcurrentWritersCauseNoDuplicateDelivery(t *testing.T) {
	t.Parallel()
	const writers, changes = 16, 75
	w := newWorldOn(t, apptest.PostgresURL(t))
	to := w.receiver("receiver.test", func(int, http.ResponseWriter, *http.Request) {})
	w.webhook("receiver.test")
	w.engine(unpaced)
	time.Sleep(2 * time.Second) // time for the engine to lease its shards
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
		t.Errorf("%d deliveries arrived, want %d", len(ids), writers*changes)
	}
	wantOnce(t, to.ids())
}
