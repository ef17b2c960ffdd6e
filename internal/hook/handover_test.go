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

// A committed delivery is visible in the outbox before the committing goroutine hands it over to the
// engine. If the engine finds it in the outbox first, it must not send it again after the hand-over.
func TestLateHandOverCausesNoDuplicateDelivery(t *testing.T) {
	test := func(t *testing.T, w *world, wait time.Duration) {
		to := w.receiver("late.test", sequence(500, 404, 200))
		h := w.webhookFor(w.ada, app.CreateWebhookInput{URL: "http://late.test/in", BoardID: w.board, Events: created})
		w.engine()
		advance(29990 * time.Millisecond) // the engine polls the outbox at 30 s, before the delayed hand-over
		w.running.DelayHandOver(func() time.Duration { return wait })
		w.card()
		advance(35 * time.Second)
		wantDeliveries(t, to, 2) // the first attempt and its retry
		w.wantStatus(h.ID, board.DeliveryFailed)
		// A redelivery by a person has the same ID and is not a duplicate.
		do(w, w.ada, app.Redeliver, app.DeliveryInput{DeliveryID: w.onlyDelivery(h.ID).ID})
		advance(time.Minute)
		wantDeliveries(t, to, 3)
		w.wantStatus(h.ID, board.DeliveryDelivered)
	}
	t.Run("sqlite", func(t *testing.T) {
		bubble(t, func(t *testing.T, w *world) { test(t, w, 40*time.Millisecond) })
	})
	t.Run("postgres", func(t *testing.T) {
		onPostgres(t, func(t *testing.T, c *cluster) { test(t, c.world, 400*time.Millisecond) })
	})
}

func wantDeliveries(t *testing.T, to *receiver, want int) {
	t.Helper()
	if ids := to.ids(); len(ids) != want {
		t.Errorf("got %d deliveries, want %d: %v", len(ids), want, ids)
	}
}

// Sixteen writers change a board at the same time on sixteen connections, and the hand-over of each
// commit is delayed.
func TestConcurrentWritersCauseNoDuplicateDelivery(t *testing.T) {
	t.Parallel()
	const writers, changes = 16, 25
	w := newWorldOn(t, apptest.PostgresURL(t))
	to := w.receiver("receiver.test", func(int, http.ResponseWriter, *http.Request) {})
	w.webhook("receiver.test")
	stop := w.engine(unpaced)
	arrived := func(n int) {
		t.Helper()
		apptest.Await(t, "the deliveries arrive", func() (int, bool) { got := len(to.ids()); return got, got >= n })
	}
	w.card()
	arrived(1) // so the engine has leased its shards
	w.running.DelayHandOver(func() time.Duration { return rand.N(40 * time.Millisecond) })
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range changes {
				w.card()
			}
		})
	}
	wg.Wait()
	arrived(1 + writers*changes)
	w.card() // after the hand-over of all others
	arrived(2 + writers*changes)
	stop()
	wantOnce(t, to.ids())
}
