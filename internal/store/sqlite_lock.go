package store

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// begin takes the lock of the writer, unless the data has moved. It waits for
// another process as long as sqliteAddress says. When the lock was not to be had
// in that time, it waits shortly until it is: who holds it for so long holds it
// longer, and callers are told to come again.
func (e *sqliteEngine) begin(ctx context.Context) error {
	if err := e.left(); err != nil {
		return err
	}
	_, err := e.writer.exec(ctx, "BEGIN IMMEDIATE")
	if (err != nil) != e.pressed && (err == nil || sqliteBusy(err)) {
		e.pressed = err != nil
		wait := busyTimeout
		if e.pressed {
			wait = busyShort
		}
		if set := e.writer.patient(ctx, wait); set != nil && err == nil {
			return e.undone(ctx, set)
		}
	}
	if err != nil {
		return err
	}
	return e.undone(ctx, e.notMoved(ctx))
}

// undone ends a transaction in which nothing was written, if there is a reason.
func (e *sqliteEngine) undone(ctx context.Context, why error) error {
	if why != nil {
		_, _ = e.writer.exec(ctx, "ROLLBACK") // of nothing
	}
	return why
}

// sqliteBusy tells whether another connection held a lock for too long.
func sqliteBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// patient says for how many milliseconds the connection waits for the lock of
// another process.
func (c *sqliteConn) patient(ctx context.Context, wait int) error {
	_, err := c.exec(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", wait))
	return err
}
