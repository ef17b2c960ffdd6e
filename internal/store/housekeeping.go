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

const (
	// rerankLifetime is the time for which a cursor stays valid after the ranks of its list
	// were rewritten.
	rerankLifetime = 48 * time.Hour
	// epochLifetime is how long the rank epoch of a list is known after its ranks were
	// rewritten. During this time, cursors that are no longer valid are rejected.
	epochLifetime = 365 * 24 * time.Hour
)

// maxLease is longer than any lease. A lease that ends more than maxLease from now was
// written by a server with a wrong clock, and is ignored.
const maxLease = time.Hour

// Lease acquires a lease for the given time, or renews it for its current holder. It
// returns false if another holder has the lease.
func (db *DB) Lease(ctx context.Context, name, holder string, length time.Duration) (held bool, err error) {
	err = db.Write(ctx, board.System(), func(tx *Tx) error {
		names, err := tx.lease(ctx, holder, length, name)
		held = len(names) == 1
		return err
	})
	return held, err
}

// lease acquires or renews leases and returns the names of the leases that the holder now
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

// ReleaseLeases releases the leases of a holder, except the leases of webhook shards.
// Package hook releases those with ReleaseShards when the deliveries in progress have
// ended.
func (db *DB) ReleaseLeases(ctx context.Context, holder string) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		return tx.exec(ctx, "DELETE FROM leases WHERE holder = $1 AND name NOT LIKE 'webhooks:%'", holder)
	})
}

// ExpiredBoard returns the id of a board that has been in the trash for longer than
// TrashLifetime, either itself or with its workspace. It returns "" if there is none. It
// skips boards that a job is writing, and boards from or to which a job is moving a list.
func (v *View) ExpiredBoard(ctx context.Context) (id string, err error) {
	until := int64(v.now) - TrashLifetime.Milliseconds()
	const unused = " AND NOT EXISTS (SELECT 1 FROM job_boards jb WHERE jb.board_id = b.id)" +
		" AND NOT EXISTS (SELECT 1 FROM list_moves m WHERE b.id IN (m.from_id, m.to_id))"
	for _, text := range []string{
		"SELECT b.id FROM boards b WHERE b.trashed_at IS NOT NULL AND b.trashed_at < $1" + unused +
			" ORDER BY b.trashed_at, b.id LIMIT 1",
		"SELECT b.id FROM workspaces w JOIN boards b ON b.workspace_id = w.id WHERE w.trashed_at IS NOT NULL AND w.trashed_at < $1" +
			unused + " ORDER BY b.id LIMIT 1",
	} {
		if _, err = v.one(ctx, text, []any{until}, &id); err != nil || id != "" {
			return id, err
		}
	}
	return id, nil
}

// PurgeBoard hides a board, permanently deletes a part of it, and reports whether nothing
// is left. To keep transactions short, the caller calls it in one transaction after
// another until it returns true. A call deletes at most limit cards. Once there are no
// cards, it deletes at most ten times as many smaller rows of one kind. The last call
// deletes the board itself.
func (tx *Tx) PurgeBoard(ctx context.Context, boardID string, limit int) (deleted bool, err error) {
	if err := tx.exec(ctx, "UPDATE boards SET trashed_at = $1 WHERE id = $2 AND (trashed_at IS NULL OR trashed_at <> $1)",
		hiddenAt, boardID); err != nil {
		return false, err
	}
	for _, part := range []struct {
		text  string
		limit int
	}{
		{"DELETE FROM cards WHERE id IN (SELECT id FROM cards WHERE board_id = $1 LIMIT $2)", limit},
		{"DELETE FROM activity WHERE board_id = $1 AND version IN (SELECT version FROM activity WHERE board_id = $1 ORDER BY version LIMIT $2)",
			10 * limit},
		{"DELETE FROM rule_runs WHERE id IN (SELECT id FROM rule_runs WHERE board_id = $1 LIMIT $2)", 10 * limit},
		{"DELETE FROM notifications WHERE id IN (SELECT id FROM notifications WHERE board_id = $1 LIMIT $2)", 10 * limit},
	} {
		if n, err := tx.affected(ctx, part.text, boardID, part.limit); err != nil || n > 0 {
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

// PurgeWorkspaces permanently deletes workspaces that have been in the trash for longer
// than TrashLifetime and have no boards left. It returns the number of workspaces deleted.
// It keeps their organizations.
func (tx *Tx) PurgeWorkspaces(ctx context.Context) (int, error) {
	n, err := tx.affected(ctx, "DELETE FROM workspaces WHERE trashed_at IS NOT NULL AND trashed_at < $1 AND NOT EXISTS (SELECT 1 "+
		"FROM boards b WHERE b.workspace_id = workspaces.id)",
		int64(tx.now)-TrashLifetime.Milliseconds())
	return int(n), err
}

// PurgeReranks deletes at most limit records of rewritten ranks that are older than
// rerankLifetime. For epochLifetime, it keeps one record of the newest epoch of each
// parent. Otherwise, rankEpoch would begin at zero again, and cursors from before the
// rewrite would not be rejected.
func (tx *Tx) PurgeReranks(ctx context.Context, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM reranks WHERE (parent_id, epoch, old_rank) IN (SELECT r.parent_id, r.epoch, r.old_rank "+
		"FROM reranks r WHERE r.at < $1 AND (r.at < $2 OR EXISTS (SELECT 1 FROM reranks n WHERE n.parent_id = r.parent_id AND "+
		"(n.epoch > r.epoch OR n.epoch = r.epoch AND n.old_rank < r.old_rank))) LIMIT $3)",
		int64(tx.now)-rerankLifetime.Milliseconds(), int64(tx.now)-epochLifetime.Milliseconds(), limit)
}

// purge deletes at most limit rows of a table that satisfy a condition. It returns the
// number of rows deleted. Args are the arguments of the condition, starting with $2.
func (tx *Tx) purge(ctx context.Context, table, key, where string, limit int, args ...any) (int64, error) {
	// The condition is repeated, because a row may change while the statement waits for it.
	return tx.affected(ctx, "DELETE FROM "+table+" WHERE "+key+" IN (SELECT "+key+" FROM "+table+" WHERE "+where+" LIMIT $1) AND ("+where+")",
		append([]any{limit}, args...)...)
}
