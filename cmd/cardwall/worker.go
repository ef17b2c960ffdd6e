package main

import (
	"context"
	"time"
)

// startWorker runs a worker in its own goroutine. The returned stop function
// cancels it and waits for it, but not longer than shutdownTimeout. Another
// server does the work that remains.
func startWorker(ctx context.Context, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-done:
		case <-time.After(shutdownTimeout):
		}
	}
}
