package sqldb

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A relocation moves all data to another database. Two settings mark it. The moved_to
// setting of the source contains the id of the relocation, the new address and the date.
// After it is set, nothing is written to the source. The arriving setting of the target
// contains the id of the relocation. It is deleted after the source has been marked. Until
// then, servers write nothing to the target.
const (
	RelocatedSetting = "moved_to"
	ArrivingSetting  = "arriving"
)

// ErrRelocated is returned if the data has moved to another database.
var ErrRelocated = errors.New("the data of this database has moved")

var errArriving = errors.New("a move of data into this database has not finished: run the same cardwall migrate --to again")

// RelocatedError returns an error that wraps ErrRelocated and names the new address.
// value is the value of the moved_to setting.
func RelocatedError(value string) error {
	words := strings.Fields(value)
	if len(words) != 3 {
		return ErrRelocated
	}
	return fmt.Errorf("%w to %s on %s: use that address as --database; this file contains the data only up to that day",
		ErrRelocated, words[1], words[2])
}

// RelocatedTo returns the value of the moved_to setting, or "" if the data has not moved.
func RelocatedTo(ctx context.Context, q Querier) (to string, err error) {
	_, err = One(ctx, q, "SELECT value FROM settings WHERE key = $1", []any{RelocatedSetting}, &to)
	return to, err
}

// CheckHere returns an error if the data has moved to another database, or has not
// completely arrived in this one.
func CheckHere(ctx context.Context, q Querier) error {
	to, err := RelocatedTo(ctx, q)
	if err != nil {
		return fmt.Errorf("read the relocation settings: %w", err)
	}
	if to != "" {
		return RelocatedError(to)
	}
	var n int
	if _, err := One(ctx, q, "SELECT count(*) FROM settings WHERE key = $1", []any{ArrivingSetting}, &n); err != nil {
		return fmt.Errorf("read the relocation settings: %w", err)
	}
	if n > 0 {
		return errArriving
	}
	return nil
}

// checkNotRelocated returns an error if the data of the file has been relocated since the
// last batch. It runs inside the transaction of the batch, because a relocation holds the
// write lock until it has set moved_to. It reads moved_to only if another connection has
// written to the file.
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

// errRelocated returns the error of all writes if the data has been relocated, or else
// nil.
func (e *sqliteEngine) errRelocated() error {
	if moved := e.relocated.Load(); moved != nil {
		return *moved
	}
	return nil
}
