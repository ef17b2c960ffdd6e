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

// rerankLifetime is how long a cursor stays valid after the ranks of its list
// were rewritten.
const rerankLifetime = 48 * time.Hour

// maxLease is longer than any lease. A lease that ends more than maxLease from
// now was written with a wrong clock, and is ignored.
const maxLease = time.Hour

// Lease acquires a lease for the given time, or renews it for its current
// holder. It returns false if another holder has it.
func (db *DB) Lease(ctx context.Context, name, holder string, length time.Duration) (held bool, err error) {
	err = db.Write(ctx, board.System(), func(tx *Tx) error {
		names, err := tx.lease(ctx, holder, length, name)
		held = len(names) == 1
		return err
	})
	return held, err
}

// lease acquires or renews leases and returns the names of those that the holder
// has. The names must be distinct.
func (tx *Tx) lease(ctx context.Context, holder string, length time.Duration, names ...string) (held []string, err error) {
	slices.Sort(names) // every server locks in this order, which prevents deadlocks
	rows := make([][]any, len(names))
	for i, name := range names {
		rows[i] = []any{name, holder, int64(tx.now) + length.Milliseconds()}
	}
	now := fmt.Sprintf("excluded.until - %d", length.Milliseconds())
	err = sqldb.Batches(rows, func(n int, args []any) error {
		return tx.each(ctx, "INSERT INTO leases (name, holder, until) VALUES "+sqldb.Values(n, 3)+` ON CONFLICT (name) DO UPDATE
			SET holder = excluded.holder, until = excluded.until
			WHERE leases.holder = excluded.holder OR leases.until < `+now+` OR leases.until > `+now+fmt.Sprintf(" + %d",
			maxLease.Milliseconds())+" RETURNING name", args, func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			held = append(held, name)
			return err
		})
	})
	return held, err
}

// ReleaseLeases releases the leases of a holder. It keeps those of webhooks,
// which the holder releases after its deliveries in flight.
func (db *DB) ReleaseLeases(ctx context.Context, holder string) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		return tx.exec(ctx, "DELETE FROM leases WHERE holder = $1 AND name NOT LIKE 'webhooks:%'", holder)
	})
}

// ExpiredBoard returns a board that has been in the trash, or whose workspace
// has been there, for longer than TrashLifetime. It returns "" if there is none. A board
// that a job is moving a list from or to must wait for the job.
func (v *View) ExpiredBoard(ctx context.Context) (id string, err error) {
	until := int64(v.now) - TrashLifetime.Milliseconds()
	const still = " AND NOT EXISTS (SELECT 1 FROM list_moves m WHERE b.id IN (m.from_id, m.to_id))"
	for _, text := range []string{
		"SELECT b.id FROM boards b WHERE b.trashed_at IS NOT NULL AND b.trashed_at < $1 AND NOT EXISTS (SELECT 1 FROM job_boards jb " +
			"WHERE jb.board_id = b.id)" + still + " ORDER BY b.trashed_at, b.id LIMIT 1",
		"SELECT b.id FROM workspaces w JOIN boards b ON b.workspace_id = w.id WHERE w.trashed_at IS NOT NULL AND w.trashed_at < $1" +
			still + " ORDER BY b.id LIMIT 1",
	} {
		if _, err = v.one(ctx, text, []any{until}, &id); err != nil || id != "" {
			return id, err
		}
	}
	return id, nil
}

// PurgeBoard deletes at most limit cards of a board permanently, or ten times as
// many of its smaller rows once the cards are gone, and at last the board. It reports
// whether the board is gone. Deleting a large board in steps keeps transactions short.
func (tx *Tx) PurgeBoard(ctx context.Context, boardID string, limit int) (gone bool, err error) {
	if err := tx.exec(ctx, "UPDATE boards SET trashed_at = $1 WHERE id = $2 AND (trashed_at IS NULL OR trashed_at <> $1)",
		hiddenAt, boardID); err != nil {
		return false, err
	}
	for _, part := range []struct {
		text string
		most int
	}{
		{"DELETE FROM cards WHERE id IN (SELECT id FROM cards WHERE board_id = $1 LIMIT $2)", limit},
		{"DELETE FROM activity WHERE board_id = $1 AND version IN (SELECT version FROM activity WHERE board_id = $1 ORDER BY version LIMIT $2)",
			10 * limit},
		{"DELETE FROM rule_runs WHERE id IN (SELECT id FROM rule_runs WHERE board_id = $1 LIMIT $2)", 10 * limit},
		{"DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE board_id = $1 LIMIT $2)", 10 * limit},
	} {
		if n, err := tx.affected(ctx, part.text, boardID, part.most); err != nil || n > 0 {
			return false, err
		}
	}
	for _, text := range []string{
		"DELETE FROM reranks WHERE parent_id IN (SELECT id FROM lists WHERE board_id = $1)",
		"DELETE FROM boards WHERE id = $1",
	} {
		if err := tx.exec(ctx, text, boardID); err != nil {
			return false, err
		}
	}
	return true, nil
}

// PurgeWorkspaces permanently deletes workspaces that have been in the trash for
// longer than TrashLifetime and have no boards left, and returns how many. Their
// organizations stay.
func (tx *Tx) PurgeWorkspaces(ctx context.Context) (int, error) {
	n, err := tx.affected(ctx, "DELETE FROM workspaces WHERE trashed_at IS NOT NULL AND trashed_at < $1 AND NOT EXISTS (SELECT 1 "+
		"FROM boards b WHERE b.workspace_id = workspaces.id)",
		int64(tx.now)-TrashLifetime.Milliseconds())
	return int(n), err
}

// PurgeReranks deletes records of rewritten ranks that are older than
// rerankLifetime, at most limit.
func (tx *Tx) PurgeReranks(ctx context.Context, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM reranks WHERE (parent_id, epoch, old_rank) IN (SELECT parent_id, epoch, old_rank FROM reranks "+
		"WHERE at < $1 LIMIT $2)", int64(tx.now)-rerankLifetime.Milliseconds(), limit)
}

// purge deletes at most limit rows of a table that satisfy a condition, and returns how
// many. Args are the arguments of the condition from $2 on.
func (tx *Tx) purge(ctx context.Context, table, key, where string, limit int, args ...any) (int64, error) {
	return tx.affected(ctx, "DELETE FROM "+table+" WHERE "+key+" IN (SELECT "+key+" FROM "+table+" WHERE "+where+" LIMIT $1)",
		append([]any{limit}, args...)...)
}
