package main

import (
	"context"
	"time"

	"cardwall/internal/automate"
)

// startAutomation begins to run rules. Stop lets those under way end.
func startAutomation(ctx context.Context, o automate.Options) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	engine := automate.New(o)
	go func() {
		defer close(done)
		engine.Run(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-done:
		case <-time.After(shutdownTimeout): // what was not handled is handled by the next server
		}
	}
}
