package sqldb

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestWriteQueues(t *testing.T) {
	// enter enters a queue and returns how long that took.
	enter := func(ctx context.Context, q *writeQueues, record string) (waited time.Duration, leave func()) {
		start := time.Now()
		leave = q.enter(ctx, record)
		return time.Since(start), leave
	}
	newQueues := func() *writeQueues {
		q := newWriteQueues()
		q.learn("card", "board")
		q.learn("list", "board")
		q.learn("other", "other board")
		return q
	}

	t.Run("writes to one board run one at a time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := newQueues()
			_, leave := enter(t.Context(), q, "card")
			time.AfterFunc(100*time.Millisecond, leave)
			waited, leave := enter(t.Context(), q, "list")
			if waited != 100*time.Millisecond {
				t.Errorf("second write waited %v, want 100ms, until the first one ended", waited)
			}
			leave()
			waited, leave = enter(t.Context(), q, "card")
			if waited != 0 {
				t.Errorf("waited %v in an empty queue, want 0", waited)
			}
			leave()
		})
	})
	t.Run("other boards and unknown records do not wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := newQueues()
			_, leave := enter(t.Context(), q, "card")
			defer leave()
			for _, record := range []string{"other", "unknown"} {
				waited, leave := enter(t.Context(), q, record)
				leave()
				if waited != 0 {
					t.Errorf("%s waited %v, want 0", record, waited)
				}
			}
		})
	})
	t.Run("no write waits longer than the timeout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := newQueues()
			_, first := enter(t.Context(), q, "card")
			waited, second := enter(t.Context(), q, "card")
			if waited != queueTimeout {
				t.Errorf("waited %v, want %v", waited, queueTimeout)
			}
			second() // the second write did not get the turn, so it must not end the turn of the first
			time.AfterFunc(100*time.Millisecond, first)
			waited, leave := enter(t.Context(), q, "card")
			if waited != 100*time.Millisecond {
				t.Errorf("waited %v, want %v; the write that timed out ended the turn of the first one", waited,
					100*time.Millisecond)
			}
			leave()
		})
	})
	t.Run("no write waits longer than its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := newQueues()
			_, leave := enter(t.Context(), q, "card")
			defer leave()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			waited, without := enter(ctx, q, "card")
			without()
			if waited != 10*time.Millisecond {
				t.Errorf("waited %v, want %v", waited, 10*time.Millisecond)
			}
		})
	})
	t.Run("old records and empty queues are dropped", func(t *testing.T) {
		q := newQueues()
		for i := range 3 * recordsKept {
			q.learn(fmt.Sprint("card", i), "board")
		}
		if kept := len(q.groups) + len(q.older); kept > recordsKept {
			t.Errorf("the queues remember %d records, want at most %d", kept, recordsKept)
		}
		last := fmt.Sprint("card", 3*recordsKept-1)
		leave := q.enter(t.Context(), last)
		if len(q.queues) != 1 {
			t.Errorf("got %d queues, want only that of %s", len(q.queues), last)
		}
		leave()
		if len(q.queues) != 0 {
			t.Errorf("%d empty queues are kept, want 0", len(q.queues))
		}
	})
}
