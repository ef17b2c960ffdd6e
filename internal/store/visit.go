package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// PresenceLifetime is the time for which a person counts as present on a board after
// MarkPresent.
const PresenceLifetime = 30 * time.Second

// SetStarred adds a board to the caller's favorites or removes it. It does not change the
// board, which must already be loaded.
func (tx *Tx) SetStarred(ctx context.Context, boardID string, starred bool) error {
	tx.workspace = tx.On(boardID).WorkspaceID
	return tx.exec(ctx, `INSERT INTO board_visits (user_id, board_id, starred) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, board_id) DO UPDATE SET starred = excluded.starred`, tx.caller.UserID, boardID, flag(starred))
}

// SetCollapsed stores which lists of a board the caller has collapsed. It does not change
// the board, which must already be loaded.
func (tx *Tx) SetCollapsed(ctx context.Context, boardID string, listIDs []string) error {
	tx.workspace = tx.On(boardID).WorkspaceID
	return tx.exec(ctx, `INSERT INTO board_visits (user_id, board_id, collapsed) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, board_id) DO UPDATE SET collapsed = excluded.collapsed`, tx.caller.UserID, boardID, strings.Join(listIDs, ","))
}

// Visit returns the caller's own settings for a board. The board must already be loaded.
func (v *View) Visit(ctx context.Context, boardID string) (visit board.Visit, err error) {
	var (
		starred, watching int64
		collapsed         string
	)
	_, err = v.one(ctx, "SELECT starred, seen_at, collapsed, watching FROM board_visits WHERE user_id = $1 AND board_id = $2",
		[]any{v.caller.UserID, boardID}, &starred, &visit.SeenAt, &collapsed, &watching)
	visit.Starred, visit.Watching = starred != 0, watching != 0
	visit.Collapsed = strings.FieldsFunc(collapsed, func(c rune) bool { return c == ',' })
	return visit, err
}

// Visits returns, by board id, which boards are the caller's favorites and when the caller
// last visited them.
func (v *View) Visits(ctx context.Context) (map[string]board.Visit, error) {
	out := map[string]board.Visit{}
	err := v.each(ctx, "SELECT board_id, starred, seen_at FROM board_visits WHERE user_id = $1", []any{v.caller.UserID},
		func(rows *sql.Rows) error {
			var (
				id      string
				starred int64
				visit   board.Visit
			)
			err := rows.Scan(&id, &starred, &visit.SeenAt)
			visit.Starred = starred != 0
			out[id] = visit
			return err
		})
	return out, err
}

// MarkPresent records that a person has boards open. The caller must have checked the
// person's access when the boards were opened. MarkPresent ignores boards that no longer
// exist.
func (db *DB) MarkPresent(ctx context.Context, userID string, boardIDs []string) error {
	return db.setSeen(ctx, userID, boardIDs, 0)
}

// MarkAbsent records that a person has closed boards.
func (db *DB) MarkAbsent(ctx context.Context, userID string, boardIDs []string) error {
	return db.setSeen(ctx, userID, boardIDs, PresenceLifetime)
}

// setSeen records that a person last visited the boards the given duration ago.
func (db *DB) setSeen(ctx context.Context, userID string, boardIDs []string, ago time.Duration) error {
	return db.Write(ctx, board.System(), func(tx *Tx) error {
		for _, id := range boardIDs {
			if err := tx.exec(ctx, `INSERT INTO board_visits (user_id, board_id, seen_at) SELECT $1, b.id, $3 FROM boards b WHERE b.id = $2
				ON CONFLICT (user_id, board_id) DO UPDATE SET seen_at = excluded.seen_at`, userID, id, int64(tx.now)-ago.Milliseconds()); err != nil {
				return fmt.Errorf("record visit: %w", err)
			}
		}
		return nil
	})
}

// Present returns at most 50 people who have a board open, ordered by name. The board
// must already be loaded.
func (v *View) Present(ctx context.Context, boardID string) ([]board.UserRef, error) {
	out := []board.UserRef{}
	err := v.each(ctx, `SELECT u.id, u.name FROM board_visits s JOIN users u ON u.id = s.user_id WHERE s.board_id = $1
		AND s.seen_at > $2 ORDER BY u.name, u.id LIMIT 50`,
		[]any{boardID, int64(v.now) - PresenceLifetime.Milliseconds()}, func(rows *sql.Rows) error {
			var u board.UserRef
			err := rows.Scan(&u.ID, &u.Name)
			out = append(out, u)
			return err
		})
	return out, err
}

// Versions returns the versions of boards by id. It does not check permissions: the caller
// must have checked access to the boards.
func (db *DB) Versions(ctx context.Context, boardIDs []string) (map[string]int64, error) {
	out := map[string]int64{}
	err := db.Read(ctx, board.System(), func(v *View) error {
		return sqldb.InChunks(boardIDs, func(in string, args []any) error {
			return v.each(ctx, "SELECT id, version FROM boards WHERE id IN ("+in+")", args, func(rows *sql.Rows) error {
				var (
					id      string
					version int64
				)
				err := rows.Scan(&id, &version)
				out[id] = version
				return err
			})
		})
	})
	return out, err
}

// PresentOn returns the sorted ids of the people who have boards open, by board id. It
// does not check permissions: the caller must have checked access to the boards.
func (db *DB) PresentOn(ctx context.Context, boardIDs []string) (map[string][]string, error) {
	out := map[string][]string{}
	err := db.Read(ctx, board.System(), func(v *View) error {
		return sqldb.InChunks(boardIDs, func(in string, args []any) error {
			args = append(args, int64(v.now)-PresenceLifetime.Milliseconds())
			return v.each(ctx, "SELECT board_id, user_id FROM board_visits WHERE board_id IN ("+in+") AND seen_at > $"+
				strconv.Itoa(len(args))+" ORDER BY board_id, user_id", args, func(rows *sql.Rows) error {
				var boardID, userID string
				err := rows.Scan(&boardID, &userID)
				out[boardID] = append(out[boardID], userID)
				return err
			})
		})
	})
	return out, err
}
