package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"cardwall/perf/server"
)

// retryPause is how long a writer waits before it retries a write that was not acknowledged.
const retryPause = 20 * time.Millisecond

// StartWriters starts writers that change boards until stop is called. Each writer sends one change at a time. It
// retries the change with the same idempotency key until the change is acknowledged, and then pauses.
func (f *Fleet) StartWriters(pause time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(f.ctx)
	var running sync.WaitGroup
	f.Ledger.setLoaded(true)
	for i := range Writers {
		running.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				f.writeOnce(ctx, n)
				_ = Sleep(ctx, pause)
			}
		})
	}
	return sync.OnceFunc(func() {
		cancel()
		f.Ledger.setLoaded(false)
		running.Wait()
	})
}

// writeOnce creates a card, which causes one event. Sometimes it also makes a change that causes two events, or one
// that must not cause deliveries.
func (f *Fleet) writeOnce(ctx context.Context, n int) {
	created := &Write{Key: rand.Text(), To: f.Boards[n%len(f.Boards)]}
	if !f.Submit(ctx, created, 0) {
		return
	}
	if n%4 == 0 {
		f.Submit(ctx, &Write{Key: rand.Text(), To: created.To, change: created.ID}, 0)
	}
	switch n % 9 {
	case 0: // a copy on another board sends no events
		f.Submit(ctx, &Write{Key: rand.Text(), To: f.Boards[(n+1)%len(f.Boards)], copy: created.ID, Silent: true}, 0)
	case 3:
		f.Submit(ctx, &Write{Key: rand.Text(), To: f.Confidential, Silent: true}, 0)
	case 6:
		f.Submit(ctx, &Write{Key: rand.Text(), To: created.To, invalid: true}, 0)
	}
}

// Submit sends a write until it is acknowledged or rejected. If attempts is not 0, it limits the number of attempts.
// submit reports whether the write was acknowledged.
func (f *Fleet) Submit(ctx context.Context, c *Write, attempts int) bool {
	f.Ledger.Add(c)
	if attempts == 0 {
		attempts = math.MaxInt
	}
	first := mathrand.IntN(len(f.Servers)) // start with a random server
	for i := 0; i < attempts && ctx.Err() == nil; i++ {
		before := f.Ledger.isWithoutDisk()
		r, err := f.Send(ctx, f.Servers[(first+i)%len(f.Servers)], c)
		var status StatusError
		switch {
		case err == nil && c.invalid:
			f.Ledger.Report("an invalid write was acknowledged")
			return false
		case err == nil && f.Ledger.isWithoutDisk(): // a sync that was in progress may have reported success
			if before && !c.withoutDisk {
				f.Ledger.Report("a write was acknowledged that the server received after its disk was cut off")
			}
			c.withoutDisk = true
		case err == nil:
			f.Ledger.Acknowledge(c, r)
			return true
		case errors.As(err, &status) && status.Code == 500:
			f.Ledger.Report(fmt.Sprintf("the server returned an internal error: %v", err))
		case errors.As(err, &status) && !status.Temporary():
			if !c.invalid {
				f.Ledger.Report(fmt.Sprintf("a valid write was rejected: %v", err))
			}
			return false
		}
		_ = Sleep(ctx, retryPause)
	}
	return false
}

// Send sends a write once. It waits for the response even if ctx is canceled.
func (f *Fleet) Send(ctx context.Context, n *server.Server, c *Write) (r Response, err error) {
	ctx = context.WithoutCancel(ctx)
	if c.copy != "" {
		err = f.Client.Do(ctx, "POST", n.Addr, "/cards/"+c.copy+"/copy", c.Key, map[string]any{"listId": c.To.List, "title": c.Key}, &r)
		return r, err
	}
	if c.change != "" {
		err = f.Client.Do(ctx, "PATCH", n.Addr, "/cards/"+c.change, c.Key, map[string]any{"description": c.Key, "done": true}, &r)
		return r, err
	}
	title := c.Key
	if c.invalid {
		title = " "
	}
	err = f.Client.Do(ctx, "POST", n.Addr, "/cards", c.Key, map[string]any{"listId": c.To.List, "title": title}, &r)
	return r, err
}

// resubmit retries all unacknowledged writes and repeats some acknowledged ones. The response to an acknowledged write
// must be the same as before.
func (f *Fleet) resubmit() error {
	const samples = 1000 // maximum number of acknowledged writes to repeat
	work := append(f.Ledger.unacknowledged(), f.Ledger.sample(samples)...)
	next := make(chan *Write)
	var running sync.WaitGroup
	var mu sync.Mutex
	failed := 0
	for range Writers {
		running.Go(func() {
			for c := range next {
				if !f.Submit(f.ctx, c, 200) {
					mu.Lock()
					failed++
					mu.Unlock()
				}
			}
		})
	}
	for _, c := range work {
		next <- c
	}
	close(next)
	running.Wait()
	if failed > 0 {
		return fmt.Errorf("%d writes were not acknowledged when they were sent again", failed)
	}
	return nil
}
