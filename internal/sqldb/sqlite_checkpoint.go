package sqldb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	checkpointEvery = 50 * time.Millisecond
	checkpointPages = 1000 // in the log that are not in the database yet, before a checkpoint begins
	restartPages    = 4000 // in the log before the writer reuses it from its beginning
)

// checkpointer copies the pages of the log into the database with a connection of
// its own. A checkpoint syncs the database file, which takes as long as the disk
// needs for all changed pages. If the writer did that at the end of a commit, as
// SQLite does by default, every other write would wait for it.
//
// SQLite reuses the log from its beginning only after a checkpoint of all of it,
// which never happens while commits follow each other closely. So the writer
// checkpoints the last few pages itself once the log is long.
type checkpointer struct {
	conn *sqliteConn
	stop chan struct{}
	done chan struct{}
}

// startCheckpoints moves checkpoints from the writer to a connection of their own.
func (e *sqliteEngine) startCheckpoints(ctx context.Context) error {
	if _, err := e.writer.Exec(ctx, "PRAGMA wal_autocheckpoint = 0"); err != nil {
		return fmt.Errorf("turn automatic checkpoints off: %w", err)
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
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-tick.C:
		}
		if !e.committed.Swap(false) || e.uncertain.Load() {
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

// restartLog checkpoints the rest of a log that is long enough to be reused from
// its beginning.
func (e *sqliteEngine) restartLog() {
	if e.restart.Swap(false) && !e.uncertain.Load() {
		_, err := e.writer.checkpoint(context.Background(), "PASSIVE")
		e.checkpointed(err)
	}
}

// checkpointed handles the error of a checkpoint. After a failed sync of the log the
// next one may succeed without the lost pages, as after a failed commit.
func (e *sqliteEngine) checkpointed(err error) {
	switch {
	case isIOError(err):
		e.uncertain.Store(true)
		e.log.Error("checkpoint failed: disk error; writes refused until the disk recovers", "error", err)
	case err != nil && !IsBusy(err):
		e.failures.Failed(notCheckpointed, err)
	case err == nil:
		e.failures.Succeeded(notCheckpointed)
	}
}

const notCheckpointed = "log not copied into the database"

// logState is what a checkpoint returns.
type logState struct {
	busy  bool // a reader or another process was in the way
	pages int  // in the log
	moved int  // of these, in the database
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
