package main

import (
	"context"
	"time"

	"cardwall/internal/notify"
	"cardwall/internal/store"
)

// startNotify begins to remind people and to have letters written about their
// notifications. Stop ends that.
func startNotify(ctx context.Context, g *globals, db *store.DB, holder string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	rounds := notify.New(db, holder, g.log)
	go func() {
		defer close(done)
		rounds.Run(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-done:
		case <-time.After(shutdownTimeout): // its lease ends by itself
		}
	}
}
