package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// undo is what the writer needs to undo a part of a write.
type undo struct {
	db      uintptr // the sqlite3 handle
	tls     *libc.TLS
	refused func(error) bool
	careful bool // writes and subtransactions run in savepoints
	again   bool // the current write must fail, or run again in savepoints
}

// errAgain is the error of a failed subtransaction without a savepoint.
var errAgain = errors.New("the write must run again in savepoints")

// Subtransaction implements Runner. Savepoints make SQLite copy every changed page.
// Therefore, a subtransaction uses one only if a write of the batch has failed before.
// Otherwise, it can undo nothing. If fn refused the request after a change, the whole batch
// runs again. After any other failure, the write must fail.
func (c *sqliteConn) Subtransaction(ctx context.Context, fn func() error) error {
	switch {
	case c.undo == nil:
		return errors.New("only the writer can undo changes")
	case c.undo.careful:
		err, failed := c.inSavepoint(ctx, "subtransaction", fn)
		if failed != nil {
			return errors.Join(err, failed)
		}
		return err
	}
	before := c.undo.changes()
	err := fn()
	if err == nil || c.harmless(ctx, err, before) {
		return err
	}
	c.undo.again = true
	if c.undo.refused(err) {
		return errAgain
	}
	return err
}

// inSavepoint runs fn in a savepoint, and rolls back to it if fn fails. It returns the error
// of fn, and that of the savepoint itself.
func (c *sqliteConn) inSavepoint(ctx context.Context, name string, fn func() error) (err, failed error) {
	if _, failed = c.Exec(ctx, "SAVEPOINT "+name); failed != nil {
		return nil, failed
	}
	if err = fn(); err != nil {
		if _, failed = c.Exec(ctx, "ROLLBACK TO "+name); failed != nil {
			return err, failed
		}
	}
	_, failed = c.Exec(ctx, "RELEASE "+name)
	return err, failed
}

// changes returns the number of rows that the writer has changed since it was opened.
func (u *undo) changes() int64 { return sqlite3.Xsqlite3_total_changes64(u.tls, u.db) }

// harmless reports whether a failure has left the transaction as it was when changes
// returned before. It has if a request was refused before it changed a row, and SQLite has
// not ended the transaction. The effects of any other failure are unknown; it may even
// have changed the schema.
func (c *sqliteConn) harmless(ctx context.Context, failure error, before int64) bool {
	if !c.undo.refused(failure) || c.undo.changes() != before {
		return false
	}
	_, err := c.Exec(ctx, "BEGIN") // fails if the transaction has not ended
	return err != nil
}

// handleOf returns the sqlite3 handle of a connection.
func handleOf(conn *sql.Conn) (db uintptr, err error) {
	err = conn.Raw(func(driver any) error {
		field := reflect.Indirect(reflect.ValueOf(driver)).FieldByName("db") // the driver does not export it
		if field.Kind() != reflect.Uintptr {
			return errors.New("the driver does not expose the handle of its connection")
		}
		db = uintptr(field.Uint())
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("get the handle of a connection: %w", err)
	}
	return db, nil
}
