package main

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"cardwall/internal/live"
	"cardwall/internal/store"
)

// leaving is what a server ends when it is told to stop.
type leaving struct {
	db       *store.DB
	holder   string
	draining *atomic.Bool
	server   *http.Server
	hub      *live.Hub
}

// leave takes a server out of service so that nobody notices who has another one
// to go to: it lets others have its leases at once, says for a while that it is
// not ready while it answers all the same and has connections closed behind their
// answers, sends the browsers that listen elsewhere, and then takes no more
// requests and lets those under way end. What works beside the requests has ended
// since the signal; who waits for it waits afterwards.
func (c *serveCommand) leave(ctx context.Context, log *slog.Logger, l leaving) error {
	ctx = context.WithoutCancel(ctx)
	l.draining.Store(true)
	if l.db.Shared() {
		log.Info("stopping: others are asked to go elsewhere", "drain", c.Drain)
		pause := time.NewTimer(c.Drain)
		defer pause.Stop()
		stopping, cancel := context.WithTimeout(ctx, shutdownTimeout)
		if err := l.db.GiveUpLeases(stopping, l.holder); err != nil {
			log.Warn("leases end by their time alone", "error", err)
		}
		cancel()
		<-pause.C
	}
	log.Info("stopping: no new requests, those under way may end")
	stopping, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	l.hub.Close() // its streams would not end by themselves
	return l.server.Shutdown(stopping)
}
