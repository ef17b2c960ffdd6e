package store

import (
	"context"
	"time"

	"cardwall/internal/board"
)

// TrashLifetime is how long a board stays in the trash.
const TrashLifetime = 30 * 24 * time.Hour

// rerankLifetime is how long a cursor finds its place after its list was
// ranked anew.
const rerankLifetime = 48 * time.Hour

// Lease makes the holder the one who does a piece of work until the given
// time from now. It is false while somebody else holds it. Who holds it
// already prolongs it.
func (db *DB) Lease(ctx context.Context, name, holder string, length time.Duration) (held bool, err error) {
	err = db.Write(ctx, board.System(), func(tx *Tx) (err error) {
		held, err = tx.lease(ctx, name, holder, length)
		return err
	})
	return held, err
}

func (tx *Tx) lease(ctx context.Context, name, holder string, length time.Duration) (held bool, err error) {
	now := int64(tx.now)
	n, err := tx.affected(ctx, `INSERT INTO leases (name, holder, until) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE leases.holder = $2 OR leases.until < $4`,
		name, holder, now+length.Milliseconds(), now)
	return n == 1, err
}

// ExpiredBoard is a board whose time in the trash is over, "" when there is none.
func (v *View) ExpiredBoard(ctx context.Context) (id string, err error) {
	_, err = v.one(ctx, "SELECT id FROM boards WHERE trashed_at IS NOT NULL AND trashed_at < $1 ORDER BY trashed_at, id LIMIT 1",
		[]any{int64(v.now) - TrashLifetime.Milliseconds()}, &id)
	return id, err
}

// PurgeCards takes some cards of a board away for good, and tells how many, so
// that no transaction of a large board's end is long.
func (tx *Tx) PurgeCards(ctx context.Context, boardID string, most int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM cards WHERE id IN (SELECT id FROM cards WHERE board_id = $1 LIMIT $2)", boardID, most)
}

// PurgeBoard takes a board away for good, with all that is left of it.
func (tx *Tx) PurgeBoard(ctx context.Context, boardID string) error {
	for _, text := range []string{
		"DELETE FROM reranks WHERE parent_id IN (SELECT id FROM lists WHERE board_id = $1)",
		"DELETE FROM boards WHERE id = $1",
	} {
		if err := tx.exec(ctx, text, boardID); err != nil {
			return err
		}
	}
	return nil
}

// PurgeReranks forgets where ranks went, once no cursor should ask any more.
func (tx *Tx) PurgeReranks(ctx context.Context) (int64, error) {
	return tx.affected(ctx, "DELETE FROM reranks WHERE at < $1", int64(tx.now)-rerankLifetime.Milliseconds())
}
