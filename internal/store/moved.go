package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cardwall/internal/board"
)

// A database that moved says so itself, in two settings. In the one that was
// left, moved_to is the id of the move, where the data is now and when: nobody
// writes there any more. In the one that data comes to, arriving is the id of
// the move until the other is marked: nobody writes there yet.
const (
	movedSetting    = "moved_to"
	arrivingSetting = "arriving"
)

// errRelocated is that the data is elsewhere now.
var errRelocated = errors.New("the data of this database has moved")

var errArriving = errors.New("data is still on its way into this database, or its move was interrupted: run the same cardwall migrate --to again")

// relocated says where the data went, by the setting moved_to.
func relocated(value string) error {
	words := strings.Fields(value)
	if len(words) != 3 {
		return errRelocated
	}
	return fmt.Errorf("%w to %s on %s: give that as --database; this file only stays as it was then", errRelocated, words[1], words[2])
}

// moved reads where the data went, "" when it is here.
func (v *View) moved(ctx context.Context) (to string, err error) {
	_, err = v.one(ctx, "SELECT value FROM settings WHERE key = $1", []any{movedSetting}, &to)
	return to, err
}

// refuseMoved refuses a database that is not where the data is.
func (v *View) refuseMoved(ctx context.Context) error {
	to, err := v.moved(ctx)
	if err != nil {
		return fmt.Errorf("look for the mark of a move: %w", err)
	}
	if to != "" {
		return relocated(to)
	}
	n, err := v.count(ctx, "SELECT count(*) FROM settings WHERE key = $1", arrivingSetting)
	if err != nil {
		return fmt.Errorf("look for the mark of a move: %w", err)
	}
	if n > 0 {
		return errArriving
	}
	return nil
}

// checkMoved refuses to open a database that is not where the data is.
func (db *DB) checkMoved(ctx context.Context) error {
	return db.Read(ctx, board.System(), func(v *View) error { return v.refuseMoved(ctx) })
}

// notMoved refuses to write into a file whose data has moved since the batch
// before. It runs inside of the batch's transaction: who moves the data holds
// the lock of the writer while it does, and sets the mark before it lets go. It
// looks for the mark only when another connection than this has written.
func (e *sqliteEngine) notMoved(ctx context.Context) error {
	rows, err := e.writer.query(ctx, "PRAGMA data_version")
	if err != nil {
		return err
	}
	var version int64
	if rows.Next() {
		err = rows.Scan(&version)
	}
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("read the data version: %w", err)
	}
	if version == e.version {
		return nil
	}
	to, err := (&View{run: e.writer}).moved(ctx)
	if err != nil {
		return err
	}
	if to != "" {
		err := fmt.Errorf("%w: %w", errUnavailable, relocated(to))
		e.gone.Store(&err)
		return err
	}
	e.version = version
	return nil
}

func (e *sqliteEngine) left() error {
	if gone := e.gone.Load(); gone != nil {
		return *gone
	}
	return nil
}
