package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// interruptAgain is the interval between interrupts of the same statement. More than one
// may be needed, because SQLite drops an interrupt that arrives just before a statement
// begins.
const interruptAgain = 20 * time.Millisecond

// stopwatch interrupts the statements of one reader when they run longer than the limit
// of the snapshot, or when their caller's context ends.
//
// When a context ends, the driver interrupts only the first step of a query. A statement
// can spend its time in any step, so the stopwatch itself calls sqlite3_interrupt.
type stopwatch struct {
	db uintptr // the sqlite3 handle

	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration   // zero between snapshots, and for a snapshot without a limit
	ctx   context.Context // context of the snapshot; nil if its end must not interrupt statements
	began time.Time       // when the latest statement began
}

func newStopwatch(conn *sql.Conn) (*stopwatch, error) {
	db, err := handleOf(conn)
	if err != nil {
		return nil, err
	}
	w := &stopwatch{db: db}
	w.timer = time.AfterFunc(time.Hour, w.check)
	w.timer.Stop()
	return w, nil
}

// start begins to watch a snapshot. The caller must call stop when the snapshot ends.
func (w *stopwatch) start(ctx context.Context, limit time.Duration, withCaller bool) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit, w.began = limit, time.Now()
	if limit > 0 {
		w.timer.Reset(limit)
	}
	if !withCaller {
		return w.stop
	}
	w.ctx = ctx
	forget := context.AfterFunc(ctx, w.check)
	return func() {
		forget()
		w.stop()
	}
}

func (w *stopwatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit, w.ctx = 0, nil
	w.timer.Stop()
}

// begin records that a statement begins.
func (w *stopwatch) begin() {
	w.mu.Lock()
	w.began = time.Now()
	w.mu.Unlock()
}

// check interrupts the current statement if its time is up. An interrupt between two
// statements has no effect, and the lock prevents it from hitting the next statement.
func (w *stopwatch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	gone := w.ctx != nil && w.ctx.Err() != nil
	if w.limit == 0 && !gone {
		return
	}
	if left := w.limit - time.Since(w.began); left > 0 && !gone {
		w.timer.Reset(left)
		return
	}
	tls := libc.NewTLS()
	sqlite3.Xsqlite3_interrupt(tls, w.db)
	tls.Close()
	w.timer.Reset(interruptAgain)
}

// interrupted adds the error of ctx to the error of an interrupted statement, or
// ErrTooLong if ctx has not ended.
func interrupted(ctx context.Context, err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_INTERRUPT {
		return err
	}
	if gone := ctx.Err(); gone != nil {
		return fmt.Errorf("%w: %w", gone, err)
	}
	return fmt.Errorf("%w: %w", ErrTooLong, err)
}
