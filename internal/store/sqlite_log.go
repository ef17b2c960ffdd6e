package store

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What becomes of SQLite's write-ahead log when the disk does not do what it is
// asked to. After a sync that failed the system takes the pages for written,
// keeps them in memory and drops them from what is still to be written: a later
// sync of the same file succeeds and says nothing about them (as Linux does; see
// https://wiki.postgresql.org/wiki/Fsync_Errors). So the end of the log may be
// there for whoever reads the file, and not be on disk. What follows behind such
// a hole would be lost with it at the next power cut.
//
// The way out is the same in both cases below: what the log holds that is
// committed goes into the database by new writes, which are synced, and the log
// begins anew.

// errDoubt refuses a write while nobody knows what is on disk.
var errDoubt = fmt.Errorf("%w: the disk failed, and has not yet proved to be well", errUnavailable)

// errFull refuses a write while the disk has no room for the log of before.
var errFull = fmt.Errorf("%w: the disk is full, and the log of earlier writes is not in the database yet", errUnavailable)

func isIOError(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_IOERR
}

// isFull reports whether the disk had no room. SQLite has a code of its own for
// that, but not where it makes a file larger that it maps into memory.
func isFull(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, syscall.ENOSPC) || errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE)
}

// fit refuses while nothing can be written here. A disk that is only full keeps
// nobody from reading.
func (e *sqliteEngine) fit() error {
	if e.doubt.Load() && !e.full.Load() {
		return errDoubt
	}
	return e.left()
}

// uncertain is why nothing is written.
func (e *sqliteEngine) uncertain() error {
	if e.full.Load() {
		return errFull
	}
	return errDoubt
}

// settle ends the doubt after a commit that failed, and tells whether it did. The
// failed commit ends with it: a later start does not find it in the log. A log in
// which nothing is committed asks nothing of the disk, so that has to prove by a
// commit that it is well.
func (e *sqliteEngine) settle() bool {
	ctx := context.Background()
	emptied, err := e.writer.emptyLog(ctx)
	if err == nil && emptied {
		err = e.writer.prove(ctx)
	}
	if err != nil || !emptied {
		e.full.Store(e.full.Load() && (err == nil || isFull(err)))
		if err == nil {
			err = errors.New("a reader or another process was in the way")
		}
		e.failures.Failed(unsettled, err)
		return false
	}
	e.doubt.Store(false)
	e.full.Store(false)
	e.failures.Succeeded(unsettled)
	e.log.Info("the disk is well again: the log is in the database, and writes go on")
	return true
}

const unsettled = "the log is not in the database yet, and nothing is written"

// prove commits something that the disk has to keep. It differs from what was
// committed before: SQLite writes no page into which nothing new is put, and a
// commit of no page syncs nothing.
func (c *sqliteConn) prove(ctx context.Context) error {
	_, err := c.exec(ctx, `INSERT INTO settings (key, value) VALUES ('disk_proved_at', CURRENT_TIMESTAMP || ' ' || hex(randomblob(8)))
		ON CONFLICT (key) DO UPDATE SET value = excluded.value`)
	return err
}

// adopt brings the log that an earlier process left into the database before
// anything is added to it, for that process may have ended because its disk
// failed. Where another process has the file open it waits for nobody: that one
// has done it.
func (c *sqliteConn) adopt(ctx context.Context) error {
	if err := c.patient(ctx, 0); err != nil {
		return err
	}
	if _, err := c.emptyLog(ctx); err != nil && !sqliteBusy(err) {
		return err
	}
	return c.patient(ctx, busyTimeout)
}

// emptyLog writes all of the log into the database, syncs that, and empties the
// log. It is false when a reader or another process was in the way.
func (c *sqliteConn) emptyLog(ctx context.Context) (emptied bool, err error) {
	rows, err := c.query(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err != nil {
		return false, err
	}
	var busy, pages, moved int
	for rows.Next() {
		err = errors.Join(err, rows.Scan(&busy, &pages, &moved))
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return false, sqliteFault(err)
	}
	return busy == 0, nil
}
