package store

import (
	"context"
	"time"

	"cardwall/internal/board"
)

const (
	leastPause   = 2 * time.Millisecond   // after each slice
	longestPause = 200 * time.Millisecond // after a slow slice
)

// WriteSlice runs one short transaction of long work that the service does, and
// returns how long it took. On a database with one writer it then pauses for the same
// time. All slices of a server take turns, so that together they use at most half of
// the writer's time.
func (db *DB) WriteSlice(ctx context.Context, fn func(*Tx) error) (took time.Duration, err error) {
	return db.WriteSliceFor(ctx, board.System(), fn)
}

// WriteSliceFor is WriteSlice for a caller.
func (db *DB) WriteSliceFor(ctx context.Context, caller board.Caller, fn func(*Tx) error) (took time.Duration, err error) {
	db.slices.Lock()
	defer db.slices.Unlock()
	began := time.Now()
	err = db.Write(ctx, caller, fn)
	took = time.Since(began)
	pause := leastPause
	if !db.Shared() { // otherwise writers do not wait for each other
		pause = min(max(took, leastPause), longestPause)
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return took, err
}
