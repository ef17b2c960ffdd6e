package main

import (
	"context"
	"time"
)

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
func (s *runningServer) shutDown(ctx context.Context, front *httpServer) error {
	ctx = context.WithoutCancel(ctx)
	s.Draining.Store(true)
	if s.db.Shared() {
		s.log.Info("shutting down: draining", "drain", s.Drain)
		pause := time.NewTimer(s.Drain)
		defer pause.Stop()
		stopping, cancel := context.WithTimeout(ctx, shutdownTimeout)
		if err := s.db.ReleaseLeases(stopping, s.holder); err != nil {
			s.log.Warn("leases not released; they will expire", "error", err)
		}
		cancel()
		<-pause.C
	}
	s.log.Info("shutting down: waiting for requests in progress")
	stopping, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	s.Hub.Close() // event streams do not end by themselves
	return front.server.Shutdown(stopping)
}
