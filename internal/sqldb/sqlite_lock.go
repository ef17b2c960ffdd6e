package sqldb

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// begin acquires the write lock, unless the data has moved. It waits up to busyTimeout
// for another process. After a timeout, later calls wait only up to busyShort, until one
// of them acquires the lock, because a process that has held the lock for that long will
// probably keep it. Meanwhile, callers are told to retry.
func (e *sqliteEngine) begin(ctx context.Context) error {
	if err := e.errRelocated(); err != nil {
		return err
	}
	_, err := e.writer.Exec(ctx, "BEGIN IMMEDIATE")
	if (err != nil) != e.contended && (err == nil || IsBusy(err)) {
		e.contended = err != nil
		wait := busyTimeout
		if e.contended {
			wait = busyShort
		}
		if set := e.writer.setBusyTimeout(ctx, wait); set != nil && err == nil {
			return e.rollback(ctx, set)
		}
	}
	if err != nil {
		return err
	}
	return e.rollback(ctx, e.checkNotRelocated(ctx))
}

// rollback rolls back the transaction if err is not nil, and returns err. The transaction
// must not have written anything.
func (e *sqliteEngine) rollback(ctx context.Context, err error) error {
	if err != nil {
		_, _ = e.writer.Exec(ctx, "ROLLBACK")
	}
	return err
}

// IsBusy reports whether err means that SQLite gave up waiting for the lock of another
// connection.
func IsBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// setBusyTimeout sets how many milliseconds the connection waits for the lock of
// another process.
func (c *sqliteConn) setBusyTimeout(ctx context.Context, milliseconds int) error {
	_, err := c.Exec(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", milliseconds))
	return err
}
