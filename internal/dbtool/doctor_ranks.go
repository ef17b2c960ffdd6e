package dbtool

import (
	"context"
	"database/sql"
	"errors"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// errEnough ends a query when no more defects are needed.
var errEnough = errors.New("enough defects found")

// rankChecks returns the checks for siblings with an invalid rank, with a rank that is
// longer than any generated rank, or with equal ranks.
func rankChecks() []check {
	var out []check
	for _, s := range store.AllSiblings() {
		out = append(out, check{
			problem: "in %s: the rank of one " + s.Noun + " is invalid or too long",
			find: func(ctx context.Context, v *store.RawView, report func(string) bool) error {
				err := v.Each(ctx, "SELECT "+s.Parent+", rank FROM "+s.Table, nil, func(rows *sql.Rows) error {
					var parent, rank string
					if err := rows.Scan(&parent, &rank); err != nil {
						return err
					}
					if board.CheckRank(rank) != nil && !report(parent) {
						return errEnough
					}
					return nil
				})
				if errors.Is(err, errEnough) {
					return nil
				}
				return err
			},
			repair: func(ctx context.Context, tx *store.RawTx, parent string) error { return tx.RepairRanks(ctx, s, parent) },
		}, check{
			problem: "in %s: two " + s.Noun + "s have the same rank",
			query: "SELECT DISTINCT " + s.Parent + " FROM (SELECT " + s.Parent + " FROM " + s.Table + " GROUP BY " + s.Parent +
				", rank HAVING count(*) > 1) AS twice",
			repair: func(ctx context.Context, tx *store.RawTx, parent string) error { return tx.RepairRanks(ctx, s, parent) },
		})
	}
	return out
}
