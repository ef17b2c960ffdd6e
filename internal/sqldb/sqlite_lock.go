package sqldb

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// begin takes the write lock, unless the data has moved. It waits for another
// process up to busyTimeout. After one such timeout it waits only briefly, until
// the lock is free again: a process that has held it that long will hold it longer,
// and callers are told to retry.
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

// rollback ends a transaction in which nothing was written, if there is an error.
func (e *sqliteEngine) rollback(ctx context.Context, err error) error {
	if err != nil {
		_, _ = e.writer.Exec(ctx, "ROLLBACK")
	}
	return err
}

// IsBusy reports whether SQLite gave up waiting for the lock of another connection.
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
