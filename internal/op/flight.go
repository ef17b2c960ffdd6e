package op

import (
	"context"
	"sync"
	"time"

	"cardwall/internal/board"
)

// flights knows which keyed requests run in this process, so that a copy waits
// for the first instead of running beside it. Between processes the database's
// own lock on the key does the same.
type flights struct {
	mu   sync.Mutex
	open map[string]chan struct{}
}

func newFlights() *flights { return &flights{open: map[string]chan struct{}{}} }

// enter waits until no request with this key runs and takes its place; land
// must be called at its end. After the wait it refuses.
func (f *flights) enter(ctx context.Context, key string, wait time.Duration) (land func(), err error) {
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
