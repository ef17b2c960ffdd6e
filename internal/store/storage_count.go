package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"cardwall/internal/board"
)

const (
	// recountAfter is the time after which the counters of a changed board are checked
	// again. They may be wrong because servers of the previous version may not maintain
	// them during an upgrade.
	recountAfter = 30 * 24 * time.Hour
	// recountBatch is the number of boards that one query lists.
	recountBatch = 200
)

// CountStorage corrects the storage counters of boards whose counters may be wrong. It
// stops soon after the time limit and returns the number of boards that it checked. The
// next call continues. Writers don't wait for it: it reads the rows and the counters of a
// board in one statement, and then corrects the counters by the difference.
func (db *DB) CountStorage(ctx context.Context, limit time.Duration) (counted int, err error) {
	start := time.Now()
	for after := ""; ; {
		var ids []string
		if err := db.Read(ctx, board.System(), func(v *View) (err error) {
			ids, err = v.texts(ctx, `SELECT b.id FROM boards b WHERE b.id > $1 AND (b.counted_at IS NULL
				OR b.counted_at < $2 AND b.updated_at > b.counted_at) ORDER BY b.id LIMIT $3`,
				after, int64(v.now)-recountAfter.Milliseconds(), recountBatch)
			return err
		}); err != nil {
			return counted, fmt.Errorf("list boards to count: %w", err)
		}
		for _, id := range ids {
			if err := db.countBoard(ctx, id); err != nil {
				return counted, fmt.Errorf("count storage of board %s: %w", id, err)
			}
			counted++
			after = id
			if time.Since(start) > limit {
				return counted, nil
			}
		}
		if len(ids) < recountBatch {
			return counted, nil
		}
	}
}

// countBoard corrects the storage counters of a board.
func (db *DB) countBoard(ctx context.Context, id string) error {
	var (
		diff  growth
		found bool
	)
	if err := db.Stream(ctx, board.System(), func(v *View) error {
		text := "SELECT " + BoardTextBytes() + " - b.text_bytes, " + BoardActivityBytes() + " - b.activity_bytes FROM boards b WHERE b.id = $1"
		return v.each(ctx, text, []any{id}, func(rows *sql.Rows) error {
			found = true
			return rows.Scan(&diff.text, &diff.activity)
		})
	}); err != nil || !found {
		return err
	}
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		return tx.exec(ctx, `UPDATE boards SET text_bytes = text_bytes + $1, activity_bytes = activity_bytes + $2,
			counted_at = $3 WHERE id = $4`, diff.text, diff.activity, int64(tx.now), id)
	})
}
