package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"cardwall/internal/attach"
	"cardwall/internal/file"
	"cardwall/internal/store"
)

const (
	sweepInterval = time.Hour
	// sweepLease is how long a server may take for one batch of a sweep before another server
	// may take over.
	sweepLease = 10 * time.Minute
)

// filesAddress returns the address of the storage for attached files: a folder, or s3://….
func (g *globals) filesAddress() string {
	if g.Files == "" {
		return filepath.Join(g.Data, "files")
	}
	return g.Files
}

// openFiles opens the storage for attached files. The caller must call the returned
// function to close it.
func (g *globals) openFiles(ctx context.Context, db *store.DB) (*attach.Files, func() error, error) {
	blobs, closeFiles, err := file.Open(ctx, g.filesAddress())
	if err != nil {
		return nil, nil, fmt.Errorf("--files: %w", err)
	}
	return &attach.Files{DB: db, Blobs: blobs}, closeFiles, nil
}

// sweepFiles removes files that no attachment refers to any more. It does nothing if the
// last sweep began less than an hour ago, or if another server is sweeping.
func (s *runningServer) sweepFiles(ctx context.Context) error {
	now := s.db.Now()
	if now.Sub(s.swept) < sweepInterval {
		return nil
	}
	s.swept = now
	done, err := s.files.Sweep(ctx, func() (bool, error) { return s.db.Lease(ctx, "files", s.holder, sweepLease) })
	if err != nil {
		s.log.Warn("files not swept", "error", err)
	}
	if done.Blobs+done.Strays+done.Partial > 0 {
		s.log.Info("unused files removed", "unused", done.Blobs, "unknown", done.Strays, "incomplete", done.Partial)
	}
	return err
}
