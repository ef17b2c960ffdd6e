package store

import (
	"context"
	"time"

	"cardwall/internal/board"
)

// The limits of the pause after a slice.
const (
	minPause = 2 * time.Millisecond
	maxPause = 200 * time.Millisecond
)

// WriteSlice runs one short transaction of the service's background work, pauses, and
// returns how long the write took, including the wait for its turn. On SQLite, which has
// one writer, the pause is as long as the write, up to maxPause. A server runs only one
// slice at a time, so that background work leaves about half of the writer's time to
// requests.
func (db *DB) WriteSlice(ctx context.Context, fn func(*Tx) error) (took time.Duration, err error) {
	return db.WriteSliceFor(ctx, board.System(), fn)
}

// WriteSliceFor is like WriteSlice, on behalf of a caller.
func (db *DB) WriteSliceFor(ctx context.Context, caller board.Caller, fn func(*Tx) error) (took time.Duration, err error) {
	db.slices.Lock()
	defer db.slices.Unlock()
	if err := ctx.Err(); err != nil { // Write may still run fn, and a stopping server should begin nothing new
		return 0, err
	}
	began := time.Now()
	err = db.Write(ctx, caller, fn)
	took = time.Since(began)
	pause := minPause
	if !db.Shared() { // PostgreSQL has concurrent writers, so the minimum is enough
		pause = min(max(took, minPause), maxPause)
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return took, err
}
