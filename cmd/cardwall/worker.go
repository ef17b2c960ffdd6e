package main

import (
	"context"
	"time"
)

// startWorker runs a worker in a new goroutine. The returned function cancels the
// worker and waits up to shutdownTimeout for it to return. Other servers take over
// any remaining work.
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
