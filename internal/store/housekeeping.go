package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// TrashLifetime is how long a board or a workspace stays in the trash.
const TrashLifetime = 30 * 24 * time.Hour

// rerankLifetime is how long a cursor finds its place after its list was
// ranked anew.
const rerankLifetime = 48 * time.Hour

// leaseMost is longer than anybody takes a lease for. One that lasts longer was
// taken by a clock that was wrong.
const leaseMost = time.Hour

// Lease makes the holder the one who does a piece of work until the given
// time from now. It is false while somebody else holds it. Who holds it
// already prolongs it.
func (db *DB) Lease(ctx context.Context, name, holder string, length time.Duration) (held bool, err error) {
	err = db.Write(ctx, board.System(), func(tx *Tx) error {
		names, err := tx.lease(ctx, holder, length, name)
		held = len(names) == 1
		return err
	})
	return held, err
}

// lease takes leases for the holder, or prolongs them, and names those that it
// has now. Each name comes once.
func (tx *Tx) lease(ctx context.Context, holder string, length time.Duration, names ...string) (held []string, err error) {
	slices.Sort(names) // two servers that want the same wait for each other in one order
	rows := make([][]any, len(names))
	for i, name := range names {
		rows[i] = []any{name, holder, int64(tx.now) + length.Milliseconds()}
	}
	now := fmt.Sprintf("excluded.until - %d", length.Milliseconds())
	err = sqldb.Batches(rows, func(n int, args []any) error {
		return tx.each(ctx, "INSERT INTO leases (name, holder, until) VALUES "+sqldb.Values(n, 3)+` ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
			WHERE leases.holder = excluded.holder OR leases.until < `+now+` OR leases.until > `+now+fmt.Sprintf(" + %d", leaseMost.Milliseconds())+" RETURNING name", args, func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			held = append(held, name)
			return err
		})
	})
	return held, err
}

// ReleaseLeases lets others have at once what the holder does alone, but for the
// webhooks, which it gives up when what it sends has arrived.
func (db *DB) ReleaseLeases(ctx context.Context, holder string) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		return tx.exec(ctx, "DELETE FROM leases WHERE holder = $1 AND name NOT LIKE 'webhooks:%'", holder)
	})
}

// ExpiredBoard is a board whose time in the trash, or whose workspace's, is
// over; "" when there is none.
func (v *View) ExpiredBoard(ctx context.Context) (id string, err error) {
	until := int64(v.now) - TrashLifetime.Milliseconds()
	for _, text := range []string{
		"SELECT id FROM boards WHERE trashed_at IS NOT NULL AND trashed_at < $1 ORDER BY trashed_at, id LIMIT 1",
		"SELECT b.id FROM workspaces w JOIN boards b ON b.workspace_id = w.id WHERE w.trashed_at IS NOT NULL AND w.trashed_at < $1 ORDER BY b.id LIMIT 1",
	} {
		if _, err = v.one(ctx, text, []any{until}, &id); err != nil || id != "" {
			return id, err
		}
	}
	return id, nil
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

// PurgeWorkspaces takes workspaces away for good whose time in the trash is
// over and whose boards are gone, and tells how many. What their organizations
// have agreed on stays.
func (tx *Tx) PurgeWorkspaces(ctx context.Context) (int, error) {
	n, err := tx.affected(ctx, "DELETE FROM workspaces WHERE trashed_at IS NOT NULL AND trashed_at < $1 AND NOT EXISTS (SELECT 1 FROM boards b WHERE b.workspace_id = workspaces.id)",
		int64(tx.now)-TrashLifetime.Milliseconds())
	return int(n), err
}

// PurgeReranks forgets where ranks went, once no cursor should ask any more.
func (tx *Tx) PurgeReranks(ctx context.Context) (int64, error) {
	return tx.affected(ctx, "DELETE FROM reranks WHERE at < $1", int64(tx.now)-rerankLifetime.Milliseconds())
}
