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

// shutdown holds the components of a server that shutDown stops.
type shutdown struct {
	db       *store.DB
	holder   string
	draining *atomic.Bool
	server   *http.Server
	hub      *live.Hub
}

// shutDown takes a server out of service so that clients can move to another
// server without errors:
//
//   - It releases its leases, so that another server takes over its work.
//   - For the drain time, /readyz fails, but requests are still served, and
//     connections are closed after their response.
//   - It closes event streams, so that browsers reconnect to another server.
//   - It stops accepting requests, and waits up to shutdownTimeout for those in
//     progress.
//
// With SQLite, there is no other server, so shutDown does not release leases and does
// not wait for the drain time. The background workers begin stopping as soon as the
// signal arrives. The caller must wait for them.
func (c *serveCommand) shutDown(ctx context.Context, log *slog.Logger, s shutdown) error {
	ctx = context.WithoutCancel(ctx)
	s.draining.Store(true)
	if s.db.Shared() {
		log.Info("shutting down: draining", "drain", c.Drain)
		pause := time.NewTimer(c.Drain)
		defer pause.Stop()
		stopping, cancel := context.WithTimeout(ctx, shutdownTimeout)
		if err := s.db.ReleaseLeases(stopping, s.holder); err != nil {
			log.Warn("leases not released; they will expire", "error", err)
		}
		cancel()
		<-pause.C
	}
	log.Info("shutting down: waiting for requests in progress")
	stopping, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	s.hub.Close() // event streams do not end by themselves
	return s.server.Shutdown(stopping)
}
