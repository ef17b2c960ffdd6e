package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// countTime is the default of Options.CountTime. It is short, because a request waits
// for it.
const countTime = 500 * time.Millisecond

// RateCount is how much of a limit all servers have used in a window.
type RateCount struct {
	Key  string
	Used int
	Ends board.Instant // of the window
}

// CountRates adds the counts of this server to those of all servers, and returns the
// sums ordered by key. If the stored window has ended at the given time, a new one
// begins with the end that this server sets; otherwise the stored end applies. A
// count that arrives after its window has ended is dropped: it then ends before the
// stored window begins. The keys must be distinct. CountRates fails if it takes longer
// than Options.CountTime.
func (db *DB) CountRates(ctx context.Context, at board.Instant, counted []RateCount) (sums []RateCount, err error) {
	ctx, cancel := context.WithTimeout(ctx, db.opts.CountTime)
	defer cancel()
	slices.SortFunc(counted, func(a, b RateCount) int {
		return strings.Compare(a.Key,
			b.Key)
	}) // so that servers wait for each other in one order
	rows := make([][]any, len(counted))
	for i, c := range counted {
		rows[i] = []any{c.Key, c.Used, int64(c.Ends), int64(at)}
	}
	err = db.Write(ctx, board.System(), func(tx *Tx) error {
		sums = nil
		return sqldb.Batches(rows, func(n int, args []any) error {
			return tx.each(ctx, "INSERT INTO rate_counts (key, used, ends, at) VALUES "+sqldb.Values(n, 4)+` ON CONFLICT (key) DO UPDATE SET
				used = CASE WHEN rate_counts.ends >= 2 * excluded.ends - excluded.at THEN rate_counts.used
					WHEN rate_counts.ends > excluded.at THEN rate_counts.used + excluded.used ELSE excluded.used END,
				ends = CASE WHEN rate_counts.ends > excluded.at THEN rate_counts.ends ELSE excluded.ends END,
				at = excluded.at RETURNING key, used, ends`, args, func(rows *sql.Rows) error {
				var c RateCount
				err := rows.Scan(&c.Key, &c.Used, &c.Ends)
				sums = append(sums, c)
				return err
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("count rates: %w", err)
	}
	slices.SortFunc(sums, func(a, b RateCount) int { return strings.Compare(a.Key, b.Key) })
	return sums, nil
}

// PurgeRateCounts deletes windows that have ended, at most limit.
func (tx *Tx) PurgeRateCounts(ctx context.Context, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM rate_counts WHERE key IN (SELECT key FROM rate_counts WHERE ends < $1 LIMIT $2)",
		int64(tx.now), limit)
}
