package main

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

// startWriters starts writers that change boards until stop is called. Each writer sends one change at a time. It
// retries the change with the same idempotency key until the change is acknowledged, and then pauses.
func (w *workload) startWriters(pause time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(w.ctx)
	var running sync.WaitGroup
	w.ledger.setLoaded(true)
	for i := range writers {
		running.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				w.writeOnce(ctx, n)
				_ = sleep(ctx, pause)
			}
		})
	}
	return sync.OnceFunc(func() {
		cancel()
		w.ledger.setLoaded(false)
		running.Wait()
	})
}

// writeOnce creates a card, which causes one event. Sometimes it also makes a change that causes two events, or one
// that must not cause deliveries.
func (w *workload) writeOnce(ctx context.Context, n int) {
	created := &write{key: rand.Text(), to: w.boards[n%len(w.boards)]}
	if !w.submit(ctx, created, 0) {
		return
	}
	if n%4 == 0 {
		w.submit(ctx, &write{key: rand.Text(), to: created.to, card: created.id}, 0)
	}
	switch n % 9 {
	case 3:
		w.submit(ctx, &write{key: rand.Text(), to: w.confidential, confidential: true}, 0)
	case 6:
		w.submit(ctx, &write{key: rand.Text(), to: created.to, invalid: true}, 0)
	}
}

// submit sends a write until it is acknowledged or rejected. If attempts is not 0, it limits the number of attempts.
// submit reports whether the write was acknowledged.
func (w *workload) submit(ctx context.Context, c *write, attempts int) bool {
	w.ledger.add(c)
	if attempts == 0 {
		attempts = math.MaxInt
	}
	first := mathrand.IntN(len(w.nodes)) // start with a random server
	for i := 0; i < attempts && ctx.Err() == nil; i++ {
		before := w.ledger.isWithoutDisk()
		r, err := w.send(ctx, w.nodes[(first+i)%len(w.nodes)], c)
		var status statusError
		switch {
		case err == nil && c.invalid:
			w.ledger.report("an invalid write was acknowledged")
			return false
		case err == nil && w.ledger.isWithoutDisk(): // a sync that was in progress may have reported success
			if before && !c.withoutDisk {
				w.ledger.report("a write was acknowledged that the server received after its disk was cut off")
			}
			c.withoutDisk = true
		case err == nil:
			w.ledger.acknowledge(c, r)
			return true
		case errors.As(err, &status) && status.code == 500:
			w.ledger.report(fmt.Sprintf("the server returned an internal error: %v", err))
		case errors.As(err, &status) && !status.temporary():
			if !c.invalid {
				w.ledger.report(fmt.Sprintf("a valid write was rejected: %v", err))
			}
			return false
		}
		_ = sleep(ctx, retryPause)
	}
	return false
}

// send sends a write once. It waits for the response even if ctx is canceled.
func (w *workload) send(ctx context.Context, n *server.Server, c *write) (r response, err error) {
	ctx = context.WithoutCancel(ctx)
	if c.card != "" {
		err = w.client.do(ctx, "PATCH", n.Addr, "/cards/"+c.card, c.key, map[string]any{"description": c.key, "done": true}, &r)
		return r, err
	}
	title := c.key
	if c.invalid {
		title = " "
	}
	err = w.client.do(ctx, "POST", n.Addr, "/cards", c.key, map[string]any{"listId": c.to.list, "title": title}, &r)
	return r, err
}

// resubmit retries all unacknowledged writes and repeats some acknowledged ones. The response to an acknowledged write
// must be the same as before.
func (w *workload) resubmit() error {
	const samples = 1000 // maximum number of acknowledged writes to repeat
	work := append(w.ledger.unacknowledged(), w.ledger.sample(samples)...)
	next := make(chan *write)
	var running sync.WaitGroup
	var mu sync.Mutex
	failed := 0
	for range writers {
		running.Go(func() {
			for c := range next {
				if !w.submit(w.ctx, c, 200) {
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
