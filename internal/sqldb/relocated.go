package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A database whose data moves is marked by two settings. The database that was
// left has moved_to: the id of the move, the new address and the date; nothing
// is written there any more. The database that receives the data has arriving,
// the id of the move, until the other one is marked; nothing is written there yet.
const (
	MovedSetting    = "moved_to"
	ArrivingSetting = "arriving"
)

// ErrRelocated means that the data is in another database now.
var ErrRelocated = errors.New("the data of this database has moved")

var errArriving = errors.New("a move of data into this database has not finished: run the same cardwall migrate --to again")

// Relocated returns the ErrRelocated that names the new address, from the value
// of the setting moved_to.
func Relocated(value string) error {
	words := strings.Fields(value)
	if len(words) != 3 {
		return ErrRelocated
	}
	return fmt.Errorf("%w to %s on %s: use that as --database; this file only keeps the state of that day",
		ErrRelocated, words[1], words[2])
}

// MovedTo returns the value of the setting moved_to, "" if the data is here.
func MovedTo(ctx context.Context, q Querier) (to string, err error) {
	_, err = One(ctx, q, "SELECT value FROM settings WHERE key = $1", []any{MovedSetting}, &to)
	return to, err
}

// CheckHere returns an error if the data has moved away, or has not arrived yet.
func CheckHere(ctx context.Context, q Querier) error {
	to, err := MovedTo(ctx, q)
	if err != nil {
		return fmt.Errorf("look for the mark of a move: %w", err)
	}
	if to != "" {
		return Relocated(to)
	}
	var n int
	if _, err := One(ctx, q, "SELECT count(*) FROM settings WHERE key = $1", []any{ArrivingSetting}, &n); err != nil {
		return fmt.Errorf("look for the mark of a move: %w", err)
	}
	if n > 0 {
		return errArriving
	}
	return nil
}

// checkNotMoved refuses to write into a file whose data has moved since the last
// batch. It runs inside the transaction of the batch: a move holds the writer's
// lock until it has set the mark. It reads the mark only when another connection
// has written.
func (e *sqliteEngine) checkNotMoved(ctx context.Context) error {
	var version int64
	if _, err := One(ctx, e.writer, "PRAGMA data_version", nil, &version); err != nil {
		return fmt.Errorf("read the data version: %w", err)
	}
	if version == e.version {
		return nil
	}
	to, err := MovedTo(ctx, e.writer)
	if err != nil {
		return err
	}
	if to != "" {
		err := fmt.Errorf("%w: %w", ErrUnavailable, Relocated(to))
		e.moved.Store(&err)
		return err
	}
	e.version = version
	return nil
}

// errMoved returns the error of writes once the data has moved, and nil before.
func (e *sqliteEngine) errMoved() error {
	if moved := e.moved.Load(); moved != nil {
		return *moved
	}
	return nil
}
