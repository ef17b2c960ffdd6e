package sqldb

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// This file handles a disk that fails to sync SQLite's write-ahead log. After a
// failed fsync Linux marks the pages as clean, so a later fsync of the same file
// succeeds without writing them (https://wiki.postgresql.org/wiki/Fsync_Errors).
// The end of the log can then be read, but may not be on disk, and everything
// written after such a hole would be lost with it in a power failure.
//
// The recovery is the same in both cases below: a checkpoint copies the committed
// part of the log into the database by new writes, which are synced, and the log
// is truncated.

// errUncertain refuses writes while it is not known what is on disk.
var errUncertain = fmt.Errorf("%w: the disk failed, and no write has succeeded since", ErrUnavailable)

// errFull refuses writes while the disk has no room for the log of earlier ones.
var errFull = fmt.Errorf("%w: the disk is full, and the log of earlier writes is not in the database yet", ErrUnavailable)

func isIOError(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_IOERR
}

// isFull reports whether the disk had no room. SQLite has a code for that, except
// where it extends a file that it maps into memory.
func isFull(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, syscall.ENOSPC) || errors.As(err, &e) &&
		(e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE)
}

// CheckWritable returns an error while writes are refused, but not if the disk is
// only full, because reads still work.
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

// recover tries to make the state on disk certain after a failed commit, and
// reports whether it did. The failed commit is gone afterwards: a later start does
// not find it in the log. Checkpointing a log without a commit writes nothing, so
// a commit of its own must prove that the disk works.
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

// prove commits a new value. It must differ from the last one: SQLite does not
// write a page that did not change, and a commit of no page syncs nothing.
func (c *sqliteConn) prove(ctx context.Context) error {
	_, err := c.Exec(ctx, `INSERT INTO settings (key, value) VALUES ('disk_proved_at', CURRENT_TIMESTAMP || ' ' || hex(randomblob(8)))
		ON CONFLICT (key) DO UPDATE SET value = excluded.value`)
	return err
}

// adopt checkpoints the log that an earlier process left before anything is added
// to it, because that process may have ended when its disk failed. It does not
// wait for another process that has the file open: that one has adopted the log.
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
