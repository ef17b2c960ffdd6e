package op

import (
	"context"
	"sync"
	"time"

	"cardwall/internal/board"
)

// inFlight tracks the running requests of this process that have an idempotency
// key. A retry waits for the first request instead of running in parallel. If the two
// run in different processes, the unique index on keys lets only one take effect.
type inFlight struct {
	mu      sync.Mutex
	open    map[string]chan struct{}
	waiting int
}

func newInFlight() *inFlight { return &inFlight{open: map[string]chan struct{}{}} }

// enter waits until no other request with this key is running, and registers the
// caller's request. The caller must call release when the request is finished. If the
// wait takes too long or ctx ends, enter returns an error.
func (f *inFlight) enter(ctx context.Context, key string, wait time.Duration) (release func(), err error) {
	var timeout <-chan time.Time
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
		f.waiting++
		f.mu.Unlock()
		if timeout == nil {
			timeout = time.After(wait)
		}
		select {
		case <-first:
		case <-timeout:
			err = board.InFlight()
		case <-ctx.Done():
			err = board.InFlight()
		}
		f.mu.Lock()
		f.waiting--
		f.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
}
