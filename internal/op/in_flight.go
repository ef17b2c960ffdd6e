package op

import (
	"context"
	"sync"
	"time"

	"cardwall/internal/board"
)

// inFlight tracks the keyed requests that run in this process. A repeated
// request waits for the first one instead of running in parallel. Between
// processes, the database's lock on the key has the same effect.
type inFlight struct {
	mu   sync.Mutex
	open map[string]chan struct{}
}

func newInFlight() *inFlight { return &inFlight{open: map[string]chan struct{}{}} }

// enter waits until no request with this key is running, and registers this
// one. The caller must call release when it is finished. It returns an error if
// the wait is too long.
func (f *inFlight) enter(ctx context.Context, key string, wait time.Duration) (release func(), err error) {
	var patience <-chan time.Time
	for {
		f.mu.Lock()
		first, busy := f.open[key]
		if !busy {
			mine := make(chan struct{})
			f.open[key] = mine
			f.mu.Unlock()
			return func() {
				f.mu.Lock()
				delete(f.open, key)
				f.mu.Unlock()
				close(mine)
			}, nil
		}
		f.mu.Unlock()
		if patience == nil {
			patience = time.After(wait)
		}
		select {
		case <-first:
		case <-patience:
			return nil, board.InFlight()
		case <-ctx.Done():
			return nil, board.InFlight()
		}
	}
}
