package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"cardwall/internal/board"
)

const (
	// countedFor is how long a count of the rows of a board is valid. After
	// that, they are counted again if the board has changed. This corrects
	// counters that servers of a previous version did not maintain during an
	// upgrade.
	countedFor = 30 * 24 * time.Hour
	// toCountAtOnce is how many boards are listed at a time.
	toCountAtOnce = 200
)

// CountStorage counts the rows of boards whose counters may be wrong, for at most
// about the given time, and returns how many boards it counted. The next call
// continues. Writers don't wait for it: it reads the rows and the counter of a board
// in one statement, and then corrects the counter by the difference.
func (db *DB) CountStorage(ctx context.Context, most time.Duration) (counted int, err error) {
	begun := time.Now()
	for after := ""; ; {
		var ids []string
		if err := db.Read(ctx, board.System(), func(v *View) (err error) {
			ids, err = v.texts(ctx, `SELECT b.id FROM boards b WHERE b.id > $1 AND (b.counted_at IS NULL
				OR b.counted_at < $2 AND b.updated_at > b.counted_at) ORDER BY b.id LIMIT $3`,
				after, int64(v.now)-countedFor.Milliseconds(), toCountAtOnce)
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
			if time.Since(begun) > most {
				return counted, nil
			}
		}
		if len(ids) < toCountAtOnce {
			return counted, nil
		}
	}
}

// countBoard counts the rows of a board.
func (db *DB) countBoard(ctx context.Context, id string) error {
	var (
		off   growth
		found bool
	)
	if err := db.Stream(ctx, board.System(), func(v *View) error {
		text := "SELECT " + BoardTextBytes() + " - b.text_bytes, " + BoardActivityBytes() + " - b.activity_bytes FROM boards b WHERE b.id = $1"
		return v.each(ctx, text, []any{id}, func(rows *sql.Rows) error {
			found = true
			return rows.Scan(&off.text, &off.activity)
		})
	}); err != nil || !found {
		return err
	}
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		return tx.exec(ctx, `UPDATE boards SET text_bytes = text_bytes + $1, activity_bytes = activity_bytes + $2,
			counted_at = $3 WHERE id = $4`, off.text, off.activity, int64(tx.now), id)
	})
}
