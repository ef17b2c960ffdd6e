package dbtool

import (
	"context"
	"database/sql"
	"errors"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

var errEnough = errors.New("enough was found")

// rankChecks find siblings without an order: an invalid rank, a rank that is longer
// than any that is generated, or two equal ranks.
func rankChecks() []check {
	var out []check
	for _, s := range store.AllSiblings() {
		out = append(out, check{
			what: "below %s: the rank of a " + s.Noun + " is no rank, or longer than any that is made",
			find: func(ctx context.Context, v *store.RawView, wrong func(string) bool) error {
				err := v.Each(ctx, "SELECT "+s.Parent+", rank FROM "+s.Table, nil, func(rows *sql.Rows) error {
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
			repair: func(ctx context.Context, tx *store.RawTx, parent string) error { return tx.RepairRanks(ctx, s, parent) },
		}, check{
			what: "below %s: two of the kind " + s.Noun + " have one rank",
			text: "SELECT DISTINCT " + s.Parent + " FROM (SELECT " + s.Parent + " FROM " + s.Table + " GROUP BY " + s.Parent +
				", rank HAVING count(*) > 1) AS twice",
			repair: func(ctx context.Context, tx *store.RawTx, parent string) error { return tx.RepairRanks(ctx, s, parent) },
		})
	}
	return out
}
