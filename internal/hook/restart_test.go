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

// backlog is less than the 100 deliveries of one page of the log.
const backlog = 90

// wantAll checks that the receiver got every delivery in the webhook's log exactly once.
func (w *world) wantAll(id string, to *receiver, n int) {
	w.t.Helper()
	times := map[string]int{}
	for _, d := range to.ids() {
		times[d]++
	}
	all := w.deliveries(id)
	if len(all) != n || len(times) != n {
		w.t.Errorf("%d deliveries are in the log and %d arrived, want %d of both", len(all), len(times), n)
	}
	for _, d := range all {
		if d.Status != board.DeliveryDelivered || times[d.ID] == 0 {
			w.t.Errorf("%s is %s and arrived %d times", d.ID, d.Status, times[d.ID])
		}
	}
}

func wantOnce(t *testing.T, ids []string) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(ids))
	if distinct := len(slices.Compact(slices.Clone(sorted))); distinct != len(ids) {
		t.Errorf("%d deliveries arrived %d times, want once each", distinct, len(ids))
	}
}

// brief takes a moment to respond.
func brief(int, http.ResponseWriter, *http.Request) { time.Sleep(300 * time.Millisecond) }

func TestStoppedServerLosesAndRepeatsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", brief)
		h := w.webhook("receiver.test")
		stop := w.engine()
		w.cards(backlog)
		for range 3 {
			pass(700 * time.Millisecond) // in the middle of attempts
			stopping, sent := time.Now(), len(to.seen())
			stop()
			if took := time.Since(stopping); took > 300*time.Millisecond {
				t.Errorf("it took %v to stop", took)
			}
			if sent == 0 || sent == backlog {
				t.Fatalf("%d were sent before the stop, so nothing was interrupted", sent)
			}
			if now := len(to.seen()); now != sent {
				t.Errorf("%d attempts began after the stop", now-sent)
			}
			stop = w.engine()
		}
		pass(time.Minute)
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
		pass(time.Second)
		stopping := time.Now()
		stop()
		if took := time.Since(stopping); took != 5*time.Second {
			t.Errorf("it took %v to stop, want 5 s", took)
		}
		if d := w.only(h.ID); d.Attempts != 0 || d.NextAttemptAt == nil {
			t.Errorf("the interrupted attempt counts: %+v", d)
		}
		to.then(nil)
		w.engine()
		pass(time.Second)
		if d := w.only(h.ID); d.Status != board.DeliveryDelivered || d.Attempts != 1 {
			t.Errorf("the next server left the delivery %s after %d attempts", d.Status, d.Attempts)
		}
		if ids := to.ids(); len(ids) != 2 || ids[0] != ids[1] {
			t.Errorf("the received deliveries are %v", ids)
		}
	})
}

func TestKilledServerLosesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", brief)
		h := w.webhook("receiver.test")
		doomed := w.db
		stop := w.engineOn(doomed)
		w.cards(backlog)
		pass(700 * time.Millisecond)
		// From here on it cannot write: responses are no longer recorded.
		if err := doomed.Close(); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		sent := len(to.seen())
		stop()
		w.db = w.openAgain()
		recorded := 0
		for _, d := range w.deliveries(h.ID) {
			if d.Status == board.DeliveryDelivered {
				recorded++
			}
		}
		if recorded == 0 || recorded >= sent || sent == backlog {
			t.Fatalf("%d of %d were recorded, so no result was lost", recorded, sent)
		}
		w.engine(func(o *hook.Options) { o.Holder = "second" })
		pass(time.Minute)
		w.wantAll(h.ID, to, backlog)
		if again := len(to.seen()) - backlog; again != sent-recorded {
			t.Errorf("%d were resent, want the %d that were not recorded", again, sent-recorded)
		}
	})
}

func TestRetriesSurviveARestart(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", each(500, 500, 500, 200))
		h := w.webhook("receiver.test")
		w.card()
		for range 20 { // a restart every minute, followed by some downtime
			stop := w.engine()
			pass(time.Minute)
			stop()
		}
		w.wantAll(h.ID, to, 1)
		wantPauses(t, to.seen(), pauses[0], pauses[1], pauses[2])
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
		to.then(nil)
		w.engine()
		w.fail(1)
		w.wantOn(h.ID, 0) // the new server knew that there were failures to reset
	})
}

func TestDatabaseOutageLosesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		to := w.receiver("receiver.test", brief)
		h := w.webhook("receiver.test")
		w.engine()
		w.cards(backlog)
		pass(700 * time.Millisecond)
		w.sql("CREATE TRIGGER away BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'away'); END")
		pass(20 * time.Second)
		w.sql("DROP TRIGGER away")
		pass(time.Minute)
		w.wantAll(h.ID, to, backlog)
		wantOnce(t, to.ids()) // results are kept in memory until they are written
	})
}

func TestLongLogIsPrunedToTheLastHundred(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.receiver("receiver.test", nil)
		h := w.webhook("receiver.test")
		w.engine(unpaced)
		for range 7 {
			w.cards(50)
			pass(time.Second)
		}
		pass(10 * time.Minute)
		if n := w.count("SELECT count(*) FROM deliveries WHERE webhook_id = $1", h.ID); n != 100 {
			t.Errorf("%d deliveries are kept, want 100", n)
		}
	})
}

// commitLate commits a delivery whose transaction began before all other open ones.
func (w *world) commitLate(id string) {
	w.t.Helper()
	w.sql(`INSERT INTO deliveries (id, webhook_id, board_id, version, kind, status, due_at, reason, created_at, log, body)
		SELECT $1, webhook_id, board_id, version, kind, status, due_at - 1, reason, created_at, log, replace(body, id, $1)
		FROM deliveries WHERE due_at IS NOT NULL LIMIT 1`, id)
}

// A backlog is read in pages, each after the previous one. A delivery that is committed late
// into a page already read is still found, and not only at the end.
func TestBacklogIncludesLateCommits(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		const many, late = 1500, "itg_late"
		to := w.receiver("receiver.test", func(int, http.ResponseWriter, *http.Request) { time.Sleep(10 * time.Millisecond) })
		w.webhook("receiver.test")
		w.cards(many)
		w.engine(unpaced)
		pass(500 * time.Millisecond)
		before := len(to.seen())
		w.commitLate(late)
		pass(3 * time.Second)
		ids := to.ids()
		wantOnce(t, ids)
		if len(ids) != many+1 {
			t.Errorf("%d deliveries arrived, want %d", len(ids), many+1)
		}
		if at := slices.Index(ids, late); at < before || at > before+many/2 {
			t.Errorf("the late delivery, committed after %d of %d, arrived as number %d", before, many, at)
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
		pass(150 * time.Millisecond)
		w.commitLate(late)
		pass(time.Second)
		if ids := to.ids(); len(ids) != many+1 || !slices.Contains(ids, late) {
			t.Errorf("%d deliveries arrived, want %d including the late one", len(ids), many+1)
		}
	})
}
