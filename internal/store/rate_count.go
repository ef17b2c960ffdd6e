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

// countTime is the default of Options.CountTime. It is short because a request waits
// for the count.
const countTime = 500 * time.Millisecond

// RateCount is the use of one rate limit in one window, on one server or in total.
type RateCount struct {
	Key  string
	Used int
	Ends board.Instant // end of the window
}

// CountRates adds the counts of this server to the stored totals, and returns the totals
// ordered by key. If the stored window has ended by the given time, the server's window
// replaces it; otherwise the stored end applies. CountRates drops a late count: one whose
// window ends before the stored window, by at least the time that was left in the count's
// window. The keys must be distinct. CountRates sorts counted by key. CountRates returns
// an error if it takes longer than Options.CountTime.
func (db *DB) CountRates(ctx context.Context, at board.Instant, counted []RateCount) (sums []RateCount, err error) {
	ctx, cancel := context.WithTimeout(ctx, db.opts.CountTime)
	defer cancel()
	// All servers lock the rows in the same order, so they cannot deadlock.
	slices.SortFunc(counted, func(a, b RateCount) int { return strings.Compare(a.Key, b.Key) })
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

// PurgeRateCounts deletes at most limit windows that have ended. It returns the number of
// windows deleted.
func (tx *Tx) PurgeRateCounts(ctx context.Context, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM rate_counts WHERE key IN (SELECT key FROM rate_counts WHERE ends < $1 LIMIT $2)",
		int64(tx.now), limit)
}
