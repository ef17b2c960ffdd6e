package store

import (
	"cmp"
	"context"
	"database/sql"
	"math"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// ScanLimit is the maximum number of entries that a page of filtered activity reads. A filter
// that rarely matches would otherwise read all of a long history at once. An index for each
// filter would be faster, but would make every change more expensive.
const ScanLimit = 10_000

// ActivityFilter selects entries of the activity of a board. An empty field matches all
// entries.
type ActivityFilter struct {
	CardID string
	Kinds  []board.Kind
	Actors []string      // ids of actors, and types of actors
	From   board.Instant // inclusive
	Until  board.Instant // exclusive
}

// conditions returns the SQL conditions of the filter on kinds, actors and times. The time is an
// expression, so that SQLite does not choose an index that is not in the order of the versions.
func (f ActivityFilter) conditions(a *sqldb.Args) (text string) {
	if len(f.Kinds) > 0 {
		kinds := make([]string, len(f.Kinds))
		for i, k := range f.Kinds {
			kinds[i] = string(k)
		}
		text += " AND type IN (" + a.In(kinds) + ")"
	}
	if len(f.Actors) > 0 {
		text += " AND (actor_id IN (" + a.In(f.Actors) + ") OR actor_type IN (" + a.In(f.Actors) + "))"
	}
	if f.From != 0 {
		text += " AND at + 0 >= " + a.Add(int64(f.From))
	}
	if f.Until != 0 {
		text += " AND at + 0 < " + a.Add(int64(f.Until))
	}
	return text
}

// FilteredActivity returns a page of the changes to a loaded board before the given version
// that match a filter, newest first. It reads at most ScanLimit entries, so a page may have
// fewer entries than the limit although there are more. Next is the version before which the
// next page starts, or 0 if there is none.
func (v *View) FilteredActivity(ctx context.Context, boardID string, f ActivityFilter, before int64, limit int) (
	entries []board.Entry, next int64, err error,
) {
	after := int64(0)
	if f.CardID == "" && (f.From != 0 || f.Until != 0) {
		first, last, err := v.versionsBetween(ctx, boardID, f.From, f.Until)
		if err != nil {
			return nil, 0, err
		}
		after, before = max(after, first-1), min(before, last+1)
	}
	scan, a := f.between(boardID, after, before)
	_, err = v.one(ctx, "SELECT version FROM activity "+scan+" ORDER BY version DESC LIMIT 1 OFFSET "+a.Add(ScanLimit-1), a, &next)
	if err != nil {
		return nil, 0, err
	}
	scan, a = f.between(boardID, max(after, next-1), before)
	entries, err = v.entries(ctx, scan+f.conditions(&a)+" ORDER BY version DESC LIMIT "+a.Add(limit+1), a...)
	if len(entries) > limit {
		entries = entries[:limit]
		next = entries[limit-1].BoardVersion
	}
	return entries, next, err
}

// between returns an SQL condition on the entries of the filter's card, or of the board, between two
// versions, both exclusive. Only a single lower bound makes SQLite stop there.
func (f ActivityFilter) between(boardID string, after, before int64) (text string, a sqldb.Args) {
	text = "WHERE board_id = " + a.Add(boardID)
	if f.CardID != "" { // the board is an expression, so that SQLite chooses the index of the card
		text = "WHERE board_id || '' = $1 AND card_id = " + a.Add(f.CardID)
	}
	return text + " AND version > " + a.Add(after) + " AND version < " + a.Add(before), a
}

// versionsBetween returns the first and the last version of a loaded board between two instants.
// An instant of 0 is no limit. Times and versions usually have the same order, but an import can
// contain any times, and the clocks of two servers can differ. It returns 0 and math.MaxInt64-1 if
// there are more than ScanLimit versions, and 1 and 0 if there are none.
func (v *View) versionsBetween(ctx context.Context, boardID string, from, until board.Instant) (first, last int64, err error) {
	var (
		lowest, highest sql.NullInt64
		n               int
	)
	_, err = v.one(ctx, "SELECT count(*), min(r.version), max(r.version) FROM (SELECT version FROM activity "+
		"WHERE board_id = $1 AND at >= $2 AND at < $3 LIMIT $4) r",
		[]any{boardID, int64(from), int64(cmp.Or(until, math.MaxInt64)), ScanLimit + 1}, &n, &lowest, &highest)
	switch {
	case err != nil:
		return 0, 0, err
	case n > ScanLimit:
		return 0, math.MaxInt64 - 1, nil
	case n == 0:
		return 1, 0, nil
	}
	return lowest.Int64, highest.Int64, nil
}

// FilteredChanges returns a page of the changes to a loaded board after version since, up to
// and including version last, that match a filter, ordered by version. It reads at most ScanLimit
// changes, so a page may have fewer changes than the limit although there are more. Next is the
// version after which the next page starts, or 0 if there is none. Kept is false if one of the
// changes up to the end of the page is no longer kept.
func (v *View) FilteredChanges(ctx context.Context, boardID string, f ActivityFilter, since, last int64, limit int) (
	entries []board.Entry, next int64, kept bool, err error,
) {
	end := min(last, since+ScanLimit)
	if end < last {
		next = end
	}
	a := sqldb.Args{boardID, since, end}
	const scan = "WHERE board_id = $1 AND version > $2 AND version <= $3"
	conditions := f.conditions(&a)
	entries, err = v.entries(ctx, scan+conditions+" ORDER BY version LIMIT "+a.Add(limit+1), a...)
	if err != nil {
		return nil, 0, false, err
	}
	if len(entries) > limit {
		entries = entries[:limit]
		end = entries[limit-1].BoardVersion
		next = end
	}
	n, err := v.count(ctx, "SELECT count(*) FROM activity "+scan, boardID, since, end)
	return entries, next, int64(n) == max(0, end-since), err
}
