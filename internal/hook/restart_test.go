package hook_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/hook"
)

// backlog is a number of deliveries that fit on one page of the log, which has at most 100.
const backlog = 90

// wantAll checks that the webhook's log has n deliveries, and that each was delivered and arrived at
// the receiver at least once.
func (w *world) wantAll(id string, to *receiver, n int) {
	w.t.Helper()
	times := map[string]int{}
	for _, d := range to.ids() {
		times[d]++
	}
	all := w.deliveries(id)
	if len(all) != n || len(times) != n {
		w.t.Errorf("got %d deliveries in the log and %d at the receiver, want %d of both", len(all), len(times), n)
	}
	for _, d := range all {
		if d.Status != board.DeliveryDelivered || times[d.ID] == 0 {
			w.t.Errorf("%s: got status %s and %d arrivals, want delivered and at least 1", d.ID, d.Status, times[d.ID])
		}
	}
}

// wantOnce checks that no delivery arrived twice.
func wantOnce(t *testing.T, ids []string) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(ids))
	if distinct := len(slices.Compact(slices.Clone(sorted))); distinct != len(ids) {
		t.Errorf("got %d arrivals of %d deliveries, want one of each", len(ids), distinct)
	}
}

// delayed responds after 300 ms.
func delayed(int, http.ResponseWriter, *http.Request) { time.Sleep(300 * time.Millisecond) }

func TestStoppedServerNeitherLosesNorRepeatsDeliveries(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", delayed)
		h := w.webhook("receiver.test")
		stop := w.engine()
		w.cards(backlog)
		for range 3 {
			advance(700 * time.Millisecond) // in the middle of attempts
			stopping, sent := time.Now(), len(to.received())
			stop()
			if took := time.Since(stopping); took > 300*time.Millisecond {
				t.Errorf("stopping took %v, want at most 300 ms", took)
			}
			if sent == 0 || sent == backlog {
				t.Fatalf("got %d of %d sent before the stop, want some but not all", sent, backlog)
			}
			if now := len(to.received()); now != sent {
				t.Errorf("got %d attempts after the stop, want 0", now-sent)
			}
			stop = w.engine()
		}
		advance(time.Minute)
		w.wantAll(h.ID, to, backlog)
		wantOnce(t, to.ids())
	})
}

func TestStoppingServerWaitsFiveSecondsForHangingReceivers(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", hang)
		h := w.webhook("receiver.test")
		stop := w.engine()
		w.card()
		advance(time.Second)
		stopping := time.Now()
		stop()
		if took := time.Since(stopping); took != 5*time.Second {
			t.Errorf("stopping took %v, want 5 s", took)
		}
		if d := w.onlyDelivery(h.ID); d.Attempts != 0 || d.NextAttemptAt == nil {
			t.Errorf("got %+v, want no attempt counted", d)
		}
		to.respondWith(nil)
		w.engine()
		advance(time.Second)
		if d := w.onlyDelivery(h.ID); d.Status != board.DeliveryDelivered || d.Attempts != 1 {
			t.Errorf("next server: got %s after %d attempts, want delivered after 1", d.Status, d.Attempts)
		}
		if ids := to.ids(); len(ids) != 2 || ids[0] != ids[1] {
			t.Errorf("got deliveries %v, want the same one twice", ids)
		}
	})
}

func TestKilledServerLosesNoDelivery(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", delayed)
		h := w.webhook("receiver.test")
		killed := w.db
		stop := w.engineOn(killed)
		w.cards(backlog)
		advance(700 * time.Millisecond)
		// From now on the server cannot write, so it no longer records responses.
		if err := killed.Close(); err != nil {
			t.Fatal(err)
		}
		advance(time.Second)
		sent := len(to.received())
		stop()
		w.db = w.openDB()
		recorded := 0
		for _, d := range w.deliveries(h.ID) {
			if d.Status == board.DeliveryDelivered {
				recorded++
			}
		}
		if recorded == 0 || recorded >= sent || sent == backlog {
			t.Fatalf("got %d of %d results recorded, want some but not all", recorded, sent)
		}
		w.engine(func(o *hook.Options) { o.Holder = "second" })
		advance(time.Minute)
		w.wantAll(h.ID, to, backlog)
		if resent := len(to.received()) - backlog; resent != sent-recorded {
			t.Errorf("got %d deliveries sent again, want the %d that were not recorded", resent, sent-recorded)
		}
	})
}

func TestRetriesSurviveARestart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", sequence(500, 500, 500, 200))
		h := w.webhook("receiver.test")
		w.card()
		for range 20 { // a restart every minute
			stop := w.engine()
			advance(time.Minute)
			stop()
		}
		w.wantAll(h.ID, to, 1)
		wantPauses(t, to.received(), pauses[0], pauses[1], pauses[2])
	})
}

func TestFailureCountSurvivesARestart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", always(400))
		h := w.webhook("receiver.test")
		for i := range 9 {
			stop := w.engine(func(o *hook.Options) { o.Holder = fmt.Sprint("server ", i) })
			w.fail(1)
			stop()
		}
		w.wantOn(h.ID, 9)
		to.respondWith(nil)
		w.engine()
		w.fail(1)
		w.wantOn(h.ID, 0) // the new server has loaded the count, which it must reset
	})
}

func TestDatabaseOutageLosesNoDelivery(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", delayed)
		h := w.webhook("receiver.test")
		w.engine()
		w.cards(backlog)
		advance(700 * time.Millisecond)
		w.sql("CREATE TRIGGER outage BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'outage'); END")
		advance(20 * time.Second)
		w.sql("DROP TRIGGER outage")
		advance(time.Minute)
		w.wantAll(h.ID, to, backlog)
		wantOnce(t, to.ids()) // results are kept in memory until they are written
	})
}

func TestLogIsPrunedToTheLastHundredDeliveries(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.receiver("receiver.test", nil)
		h := w.webhook("receiver.test")
		w.engine(unpaced)
		for range 7 {
			w.cards(50)
			advance(time.Second)
		}
		advance(10 * time.Minute)
		if n := w.count("SELECT count(*) FROM deliveries WHERE webhook_id = $1", h.ID); n != 100 {
			t.Errorf("got %d deliveries in the log, want 100", n)
		}
	})
}

// commitLate adds a delivery that sorts before the pending ones, as if its transaction had begun first
// and committed last.
func (w *world) commitLate(id string) {
	w.t.Helper()
	w.sql(`INSERT INTO deliveries (id, webhook_id, board_id, version, kind, status, due_at, reason, created_at, log, body)
		SELECT $1, webhook_id, board_id, version, kind, status, due_at - 1, reason, created_at, log, replace(body, id, $1)
		FROM deliveries WHERE due_at IS NOT NULL LIMIT 1`, id)
}

// The engine reads a backlog page by page. If a delivery is committed late and belongs to a page that
// has been read, the engine still finds it before the end of the backlog.
func TestBacklogIncludesLateCommits(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const many, late = 1500, "itg_late"
		to := w.receiver("receiver.test", func(int, http.ResponseWriter, *http.Request) { time.Sleep(10 * time.Millisecond) })
		w.webhook("receiver.test")
		w.cards(many)
		w.engine(unpaced)
		advance(500 * time.Millisecond)
		before := len(to.received())
		w.commitLate(late)
		advance(3 * time.Second)
		ids := to.ids()
		wantOnce(t, ids)
		if len(ids) != many+1 {
			t.Errorf("got %d deliveries, want %d", len(ids), many+1)
		}
		if at := slices.Index(ids, late); at < before || at > before+many/2 {
			t.Errorf("the late delivery, committed after %d of %d, was number %d, want it soon after the commit", before,
				many, at)
		}
	})
}

// A delivery that is committed late at the end of a backlog is sent without waiting for the
// next poll.
func TestLateCommitAtTheEndOfABacklogIsSentAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const many, late = 200, "itg_late"
		to := w.receiver("receiver.test", func(int, http.ResponseWriter, *http.Request) { time.Sleep(10 * time.Millisecond) })
		w.webhook("receiver.test")
		w.cards(many)
		w.engine(unpaced)
		advance(150 * time.Millisecond)
		w.commitLate(late)
		advance(time.Second)
		if ids := to.ids(); len(ids) != many+1 || !slices.Contains(ids, late) {
			t.Errorf("got %d deliveries, want %d including the late one", len(ids), many+1)
		}
	})
}
