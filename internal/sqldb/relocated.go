package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Two settings mark a relocation, which moves all data to another database. The
// source has moved_to: the id of the relocation, the new address and the date. It is
// never written again. The target has arriving, the id of the relocation, until the
// source is marked. It is not written before.
const (
	RelocatedSetting = "moved_to"
	ArrivingSetting  = "arriving"
)

// ErrRelocated means that the data is in another database now.
var ErrRelocated = errors.New("the data of this database has moved")

var errArriving = errors.New("a move of data into this database has not finished: run the same cardwall migrate --to again")

// RelocatedError returns the ErrRelocated that names the new address, from the value
// of the setting moved_to.
func RelocatedError(value string) error {
	words := strings.Fields(value)
	if len(words) != 3 {
		return ErrRelocated
	}
	return fmt.Errorf("%w to %s on %s: use that as --database; this file only keeps the state of that day",
		ErrRelocated, words[1], words[2])
}

// RelocatedTo returns the value of the setting moved_to, or "" if the data is
// here.
func RelocatedTo(ctx context.Context, q Querier) (to string, err error) {
	_, err = One(ctx, q, "SELECT value FROM settings WHERE key = $1", []any{RelocatedSetting}, &to)
	return to, err
}

// CheckHere returns an error if the data was relocated away, or has not arrived yet.
func CheckHere(ctx context.Context, q Querier) error {
	to, err := RelocatedTo(ctx, q)
	if err != nil {
		return fmt.Errorf("read the mark of a relocation: %w", err)
	}
	if to != "" {
		return RelocatedError(to)
	}
	var n int
	if _, err := One(ctx, q, "SELECT count(*) FROM settings WHERE key = $1", []any{ArrivingSetting}, &n); err != nil {
		return fmt.Errorf("read the mark of a relocation: %w", err)
	}
	if n > 0 {
		return errArriving
	}
	return nil
}

// checkNotRelocated refuses to write to a file whose data was relocated since the last
// batch. It runs inside the transaction of the batch, because a relocation holds the
// write lock until it has set the mark. It reads the mark only if another connection
// has written.
func (e *sqliteEngine) checkNotRelocated(ctx context.Context) error {
	var version int64
	if _, err := One(ctx, e.writer, "PRAGMA data_version", nil, &version); err != nil {
		return fmt.Errorf("read the data version: %w", err)
	}
	if version == e.version {
		return nil
	}
	to, err := RelocatedTo(ctx, e.writer)
	if err != nil {
		return err
	}
	if to != "" {
		err := fmt.Errorf("%w: %w", ErrUnavailable, RelocatedError(to))
		e.relocated.Store(&err)
		return err
	}
	e.version = version
	return nil
}

// errRelocated returns the error of all writes after a relocation, and nil before.
func (e *sqliteEngine) errRelocated() error {
	if moved := e.relocated.Load(); moved != nil {
		return *moved
	}
	return nil
}
