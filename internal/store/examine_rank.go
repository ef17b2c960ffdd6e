package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"cardwall/internal/board"
)

var errEnough = errors.New("enough was found")

// rankChecks look for what stands in no order: a rank that is none, that is
// longer than any that is made, or that two have.
func rankChecks() []check {
	var out []check
	for _, of := range []struct {
		shelf shelf
		lock  string
	}{{listShelf(), boardLock}, {cardShelf(), listLock}, {itemShelf(), checklistLock}} {
		s, lock := of.shelf, of.lock
		out = append(out, check{
			what: "below %s: the rank of a " + s.noun + " is no rank, or longer than any that is made",
			find: func(ctx context.Context, v *View, wrong func(string) bool) error {
				err := v.each(ctx, "SELECT "+s.parent+", rank FROM "+s.table, nil, func(rows *sql.Rows) error {
					var parent, rank string
					if err := rows.Scan(&parent, &rank); err != nil {
						return err
					}
					if board.CheckRank(rank) != nil && !wrong(parent) {
						return errEnough
					}
					return nil
				})
				if errors.Is(err, errEnough) {
					return nil
				}
				return err
			},
			mend: func(ctx context.Context, tx *Tx, parent string) error { return tx.mendRanks(ctx, s, lock, parent) },
		}, check{
			what: "below %s: two of the kind " + s.noun + " have one rank",
			text: "SELECT DISTINCT " + s.parent + " FROM (SELECT " + s.parent + " FROM " + s.table + " GROUP BY " + s.parent + ", rank HAVING count(*) > 1) AS twice",
			mend: func(ctx context.Context, tx *Tx, parent string) error { return tx.mendRanks(ctx, s, lock, parent) },
		})
	}
	return out
}

// mendRanks ranks everything below a parent anew, in the order in which it
// stands.
func (tx *Tx) mendRanks(ctx context.Context, s shelf, lock, parent string) error {
	if err := tx.lock(ctx, lock, parent); err != nil {
		return err
	}
	for _, text := range []string{
		// What an earlier ranking left under way keeps out of the way of this one.
		`UPDATE ` + s.table + ` SET rank = '"' || rank WHERE ` + s.parent + ` = $1 AND substr(rank, 1, 1) = '!'`,
		// Of two with one rank the later made stands behind the other.
		"UPDATE " + s.table + " SET rank = rank || ' ' || id WHERE " + s.parent + " = $1 AND EXISTS (SELECT 1 FROM " + s.table + " AS o WHERE o." +
			s.parent + " = $1 AND o.rank = " + s.table + ".rank AND o.id < " + s.table + ".id)",
	} {
		if err := tx.exec(ctx, text, parent); err != nil {
			return fmt.Errorf("part the ranks: %w", err)
		}
	}
	return tx.rerank(ctx, s, parent)
}
