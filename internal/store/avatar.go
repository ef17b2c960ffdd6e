package store

import (
	"context"
	"database/sql"

	"cardwall/internal/board"
)

// SetAvatar stores the caller's picture. It returns the version of the picture.
func (tx *Tx) SetAvatar(ctx context.Context, p board.Picture) (version string, err error) {
	version = p.Version()
	if err := tx.exec(ctx, `INSERT INTO avatars (user_id, media_type, picture, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (user_id) DO UPDATE SET media_type = excluded.media_type, picture = excluded.picture, created_at = excluded.created_at`,
		tx.caller.UserID, p.MediaType, p.Content, int64(tx.now)); err != nil {
		return "", err
	}
	return version, tx.exec(ctx, "UPDATE users SET avatar = $1 WHERE id = $2", version, tx.caller.UserID)
}

// DeleteAvatar deletes the caller's picture, if there is one.
func (tx *Tx) DeleteAvatar(ctx context.Context) error {
	if err := tx.exec(ctx, "DELETE FROM avatars WHERE user_id = $1", tx.caller.UserID); err != nil {
		return err
	}
	return tx.exec(ctx, "UPDATE users SET avatar = NULL WHERE id = $1", tx.caller.UserID)
}

// known selects the people whom the person $1 can see. Members see everyone in a workspace.
// Guests see only people who can see the same board. If $2 is not empty, it is the only
// workspace that counts.
const known = `SELECT wm.user_id FROM workspace_members me
	JOIN workspaces w ON w.id = me.workspace_id AND w.trashed_at IS NULL
	JOIN workspace_members wm ON wm.workspace_id = me.workspace_id
	WHERE me.user_id = $1 AND ($2 = '' OR w.id = $2) AND (me.role <> 'guest' OR EXISTS (SELECT 1 FROM boards b
		JOIN board_members mine ON mine.board_id = b.id AND mine.user_id = me.user_id
		LEFT JOIN board_members bm ON bm.board_id = b.id AND bm.user_id = wm.user_id
		WHERE b.workspace_id = w.id AND b.trashed_at IS NULL AND ` + visible + `))`

// Avatar returns the picture of a person. It returns a not_found error if the person has
// none, or is not someone whom the caller can see.
func (v *View) Avatar(ctx context.Context, userID string) (a board.Avatar, err error) {
	found, err := v.one(ctx, `SELECT a.media_type, a.picture, a.created_at FROM avatars a JOIN users u ON u.id = a.user_id
		WHERE u.id = $3 AND u.deleted_at IS NULL AND (u.id = $1 OR EXISTS (`+known+` AND wm.user_id = $3))`,
		[]any{v.caller.UserID, v.caller.WorkspaceID, userID}, &a.MediaType, &a.Content, &a.At)
	if err == nil && !found {
		err = board.NotFound()
	}
	return a, err
}

// Avatars returns the first people, ordered by id, who have a picture and whom the caller can
// see.
func (v *View) Avatars(ctx context.Context, limit int) ([]board.Pictured, error) {
	out := []board.Pictured{}
	err := v.each(ctx, "SELECT u.id, u.avatar FROM users u WHERE u.avatar IS NOT NULL AND u.deleted_at IS NULL AND u.id IN ("+known+
		") ORDER BY u.id LIMIT $3", []any{v.caller.UserID, v.caller.WorkspaceID, limit}, func(rows *sql.Rows) error {
		var p board.Pictured
		err := rows.Scan(&p.ID, &p.Avatar)
		out = append(out, p)
		return err
	})
	return out, err
}
