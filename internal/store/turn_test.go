package store

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestTurns(t *testing.T) {
	// begin takes a turn beside the test and tells how long that took.
	begin := func(ctx context.Context, turns *turns, record string) (waited time.Duration, end func()) {
		begun := time.Now()
		end = turns.take(ctx, record)
		return time.Since(begun), end
	}
	two := func() *turns {
		turns := newTurns()
		turns.saw("card", "board")
		turns.saw("list", "board")
		turns.saw("other", "other board")
		return turns
	}

	t.Run("records of one board one after the other", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			turns := two()
			_, end := begin(t.Context(), turns, "card")
			time.AfterFunc(100*time.Millisecond, end)
			waited, end := begin(t.Context(), turns, "list")
			if waited != 100*time.Millisecond {
				t.Errorf("waited %v, want until the one ahead ended", waited)
			}
			end()
			if waited, end := begin(t.Context(), turns, "card"); waited != 0 {
				t.Errorf("waited %v for nobody", waited)
			} else {
				end()
			}
		})
	})
	t.Run("other boards and unknown records do not wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			turns := two()
			_, end := begin(t.Context(), turns, "card")
			defer end()
			for _, record := range []string{"other", "unknown"} {
				waited, end := begin(t.Context(), turns, record)
				end()
				if waited != 0 {
					t.Errorf("%s waited %v", record, waited)
				}
			}
		})
	})
	t.Run("nobody waits longer than a turn's time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			turns := two()
			_, first := begin(t.Context(), turns, "card")
			waited, second := begin(t.Context(), turns, "card")
			if waited != turnTime {
				t.Errorf("waited %v, want %v", waited, turnTime)
			}
			second() // it had no turn, and ends none
			time.AfterFunc(100*time.Millisecond, first)
			if waited, end := begin(t.Context(), turns, "card"); waited != 100*time.Millisecond {
				t.Errorf("waited %v: the turn of the first was ended by another", waited)
			} else {
				end()
			}
		})
	})
	t.Run("nor longer than its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			turns := two()
			_, end := begin(t.Context(), turns, "card")
			defer end()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer cancel()
			waited, without := begin(ctx, turns, "card")
			without()
			if waited != 10*time.Millisecond {
				t.Errorf("waited %v", waited)
			}
		})
	})
	t.Run("what is over is forgotten", func(t *testing.T) {
		turns := two()
		for i := range 3 * turnsKept {
			turns.saw(fmt.Sprint("card", i), "board")
		}
		if kept := len(turns.boards) + len(turns.older); kept > turnsKept {
			t.Errorf("%d records are remembered, want at most %d", kept, turnsKept)
		}
		last := fmt.Sprint("card", 3*turnsKept-1)
		end := turns.take(t.Context(), last)
		if len(turns.queues) != 1 {
			t.Errorf("%d boards have somebody, want that of %s", len(turns.queues), last)
		}
		end()
		if len(turns.queues) != 0 {
			t.Errorf("%d boards are kept that nobody writes to", len(turns.queues))
		}
	})
}
