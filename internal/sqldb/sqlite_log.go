package sqldb

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// This file handles failures to sync SQLite's write-ahead log to disk. After a failed
// fsync, Linux marks the pages as clean, so a later fsync of the same file succeeds
// without writing them (https://wiki.postgresql.org/wiki/Fsync_Errors). The end of the
// log can then be read, but it may not be on disk. In a power failure, these pages would
// be lost together with everything written after them.
//
// The recovery is the same after a failed commit and after a restart. A checkpoint copies
// the committed part of the log into the database, syncs the database, and truncates the
// log.

// errUncertain is the error of writes while it is unknown what is on disk.
var errUncertain = fmt.Errorf("%w: the disk failed, and no write has succeeded since", ErrUnavailable)

// errFull is the error of writes while the disk has no room to copy the log of earlier
// writes into the database.
var errFull = fmt.Errorf("%w: the disk is full, and the log of earlier writes is not yet in the database",
	ErrUnavailable)

func isIOError(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_IOERR
}

// isFull reports whether err means that the disk was full. SQLite has an error code for
// that, but returns another one if it fails to extend a file that it maps into memory.
func isFull(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, syscall.ENOSPC) || errors.As(err, &e) &&
		(e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE)
}

// CheckWritable returns an error while writes are refused, unless the only reason is
// that the disk was full when the server started. Reads still work then.
func (e *sqliteEngine) CheckWritable() error {
	if e.uncertain.Load() && !e.full.Load() {
		return errUncertain
	}
	return e.errRelocated()
}

// whyRefused returns the error of refused writes.
func (e *sqliteEngine) whyRefused() error {
	if e.full.Load() {
		return errFull
	}
	return errUncertain
}

// recover tries to bring the disk into a known state after a failed commit, and reports
// whether it succeeded. After that, the failed commit is gone: it is not found in the log
// when the server restarts. Checkpointing a log without commits writes nothing, so
// recover makes its own commit to prove that the disk works.
func (e *sqliteEngine) recover() bool {
	ctx := context.Background()
	emptied, err := e.writer.emptyLog(ctx)
	if err == nil && emptied {
		err = e.writer.prove(ctx)
	}
	if err != nil || !emptied {
		e.full.Store(e.full.Load() && (err == nil || isFull(err)))
		if err == nil {
			err = errors.New("a reader or another process prevented the checkpoint")
		}
		e.failures.Failed(notRecovered, err)
		return false
	}
	e.uncertain.Store(false)
	e.full.Store(false)
	e.failures.Succeeded(notRecovered)
	e.log.Info("disk recovered: writes accepted again")
	return true
}

const notRecovered = "disk not recovered: writes refused"

// prove commits a new value. The value must differ from the previous one, because SQLite
// does not write unchanged pages, and a commit without pages syncs nothing.
func (c *sqliteConn) prove(ctx context.Context) error {
	_, err := c.Exec(ctx, `INSERT INTO settings (key, value) VALUES ('disk_proved_at', CURRENT_TIMESTAMP || ' ' || hex(randomblob(8)))
		ON CONFLICT (key) DO UPDATE SET value = excluded.value`)
	return err
}

// adopt checkpoints the log of an earlier process before anything is added to it, because
// that process may have ended after a disk failure. If another process has the file open,
// adopt does not wait for it, because that process has already adopted the log.
func (c *sqliteConn) adopt(ctx context.Context) error {
	if err := c.setBusyTimeout(ctx, 0); err != nil {
		return err
	}
	if _, err := c.emptyLog(ctx); err != nil && !IsBusy(err) {
		return err
	}
	return c.setBusyTimeout(ctx, busyTimeout)
}

// emptyLog checkpoints and truncates the log. It returns false if a reader or
// another process prevented that.
func (c *sqliteConn) emptyLog(ctx context.Context) (emptied bool, err error) {
	log, err := c.checkpoint(ctx, "TRUNCATE")
	return err == nil && !log.busy, err
}
