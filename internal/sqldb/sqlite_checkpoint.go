package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	checkpointPause = 50 * time.Millisecond // time between a commit and the check, so that one check covers many commits
	checkpointPages = 1000                  // a checkpoint begins when this many pages have not been copied into the database yet
	restartPages    = 4000                  // length of the log at which the writer reuses it from the beginning
)

// checkpointer copies the pages of the log into the database on its own connection. A
// checkpoint syncs the database file, which takes as long as the disk needs for all
// changed pages. If the writer did that at the end of a commit, as SQLite does by
// default, all other writes would have to wait.
//
// SQLite reuses the log from the beginning only after a checkpoint of the whole log,
// which never happens while commits follow each other without a pause. When the log is
// long, the writer itself therefore checkpoints the last few pages.
type checkpointer struct {
	conn *sqliteConn
	stop chan struct{}
	done chan struct{}
}

// startCheckpoints moves checkpoints from the writer to a separate connection.
func (e *sqliteEngine) startCheckpoints(ctx context.Context) error {
	if _, err := e.writer.Exec(ctx, "PRAGMA wal_autocheckpoint = 0"); err != nil {
		return fmt.Errorf("disable automatic checkpoints: %w", err)
	}
	conn, err := newSQLiteConn(ctx, e.pool)
	if err != nil {
		return err
	}
	e.checkpoints = &checkpointer{conn: conn, stop: make(chan struct{}), done: make(chan struct{})}
	go e.checkpoint(e.checkpoints)
	return nil
}

func (e *sqliteEngine) checkpoint(c *checkpointer) {
	defer close(c.done)
	for {
		select {
		case <-c.stop:
			return
		case <-e.committed:
		}
		select {
		case <-c.stop:
			return
		case <-time.After(checkpointPause):
		}
		if e.uncertain.Load() {
			continue
		}
		log, err := c.conn.checkpoint(context.Background(), "NOOP")
		if err == nil && log.pages-log.moved >= checkpointPages {
			log, err = c.conn.checkpoint(context.Background(), "PASSIVE")
			if err == nil && log.pages >= restartPages {
				e.restart.Store(true)
			}
		}
		e.checkpointed(err)
	}
}

// restartLog checkpoints the rest of the log if the log is so long that it must be reused
// from the beginning.
func (e *sqliteEngine) restartLog() {
	if e.restart.Swap(false) && !e.uncertain.Load() {
		_, err := e.writer.checkpoint(context.Background(), "PASSIVE")
		e.checkpointed(err)
	}
}

// checkpointed handles the outcome of a checkpoint. After a failed sync of the log, the
// next sync may succeed without having written the lost pages, as after a failed commit.
func (e *sqliteEngine) checkpointed(err error) {
	switch {
	case isIOError(err):
		e.uncertain.Store(true)
		e.log.Error("checkpoint failed because of a disk error; writes refused until the disk recovers", "error", err)
	case err != nil && !IsBusy(err):
		e.failures.Failed(notCheckpointed, err)
	case err == nil:
		e.failures.Succeeded(notCheckpointed)
	}
}

const notCheckpointed = "log not copied into the database"

// logState is the result of a checkpoint.
type logState struct {
	busy  bool // a reader or another process prevented the checkpoint from completing
	pages int  // number of pages in the log
	moved int  // number of these pages that are in the database
}

func (c *sqliteConn) checkpoint(ctx context.Context, mode string) (s logState, err error) {
	rows, err := c.Query(ctx, "PRAGMA wal_checkpoint("+mode+")")
	if err != nil {
		return s, err
	}
	for rows.Next() {
		err = errors.Join(err, rows.Scan(&s.busy, &s.pages, &s.moved))
	}
	return s, sqliteFault(errors.Join(err, rows.Err(), rows.Close()))
}
