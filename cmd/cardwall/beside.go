package main

import (
	"context"
	"time"
)

// beside runs what works on its own beside the requests. Stop ends it and waits,
// for as long as a server that stops may; what is left then another server does.
func beside(ctx context.Context, run func(context.Context)) (stop func()) {
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
