package store

import (
	"context"
	"database/sql"
	"fmt"

	"cardwall/internal/board"
)

// A workspace in the trash has no members, so queries that check membership need not
// check for the trash. The table trashed_members keeps its members for a restore.

// TrashedWorkspaces returns the workspaces in the trash that the caller owned, ordered
// by id.
func (v *View) TrashedWorkspaces(ctx context.Context) ([]board.TrashedWorkspace, error) {
	out := []board.TrashedWorkspace{}
	err := v.each(ctx, `SELECT w.id, w.name, w.trashed_at FROM trashed_members m JOIN workspaces w ON w.id = m.workspace_id
		WHERE m.user_id = $1 AND m.role = 'owner' AND ($2 = '' OR w.id = $2) ORDER BY w.id`,
		[]any{v.caller.UserID, v.caller.WorkspaceID}, func(rows *sql.Rows) error {
			var w board.TrashedWorkspace
			err := rows.Scan(&w.ID, &w.Name, &w.TrashedAt)
			w.PurgedAt = w.TrashedAt + board.Instant(TrashLifetime.Milliseconds())
			out = append(out, w)
			return err
		})
	return out, err
}

// TrashWorkspace moves a workspace to the trash and withdraws its open invitations. The
// workspace must already be loaded for a change.
func (tx *Tx) TrashWorkspace(ctx context.Context, id string) error {
	tx.regrant(id)
	for _, step := range []struct {
		text string
		args []any
	}{
		{"UPDATE workspaces SET trashed_at = $1 WHERE id = $2", []any{int64(tx.now), id}},
		{"UPDATE invitations SET withdrawn_at = $1 WHERE workspace_id = $2 AND accepted_at IS NULL AND withdrawn_at IS NULL",
			[]any{int64(tx.now), id}},
		{"INSERT INTO trashed_members (workspace_id, user_id, role, created_at) SELECT workspace_id, user_id, role, created_at " +
			"FROM workspace_members WHERE workspace_id = $1", []any{id}},
		{"DELETE FROM workspace_members WHERE workspace_id = $1", []any{id}},
	} {
		if err := tx.exec(ctx, step.text, step.args...); err != nil {
			return fmt.Errorf("trash workspace: %w", err)
		}
	}
	return nil
}

// TrashedWorkspace locks a workspace in the trash for a change. It returns a not_found
// error unless the caller owned the workspace.
func (tx *Tx) TrashedWorkspace(ctx context.Context, id string) error {
	if err := tx.lock(ctx, workspaceLock, id); err != nil {
		return err
	}
	n, err := tx.count(ctx, `SELECT count(*) FROM trashed_members WHERE workspace_id = $1 AND user_id = $2 AND role = 'owner'`,
		id, tx.caller.UserID)
	if err == nil && n == 0 {
		err = board.NotFound()
	}
	if err == nil {
		tx.workspace = id
	}
	return err
}

// RestoreWorkspace restores a workspace and its members. The workspace must have been
// locked by TrashedWorkspace. RestoreWorkspace returns the ids of members whose accounts
// were deleted in the meantime. They are no longer members, but still have roles on the
// workspace's boards.
func (tx *Tx) RestoreWorkspace(ctx context.Context, id string) (deleted []string, err error) {
	tx.regrant(id)
	deleted, err = tx.texts(ctx, "SELECT m.user_id FROM trashed_members m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1 "+
		"AND u.deleted_at IS NOT NULL ORDER BY m.user_id", id)
	if err != nil {
		return nil, err
	}
	for _, text := range []string{
		"UPDATE workspaces SET trashed_at = NULL WHERE id = $1",
		`INSERT INTO workspace_members (workspace_id, user_id, role, created_at) SELECT m.workspace_id, m.user_id, m.role, m.created_at
			FROM trashed_members m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1 AND u.deleted_at IS NULL`,
		"DELETE FROM trashed_members WHERE workspace_id = $1",
	} {
		if err := tx.exec(ctx, text, id); err != nil {
			return nil, fmt.Errorf("restore workspace: %w", err)
		}
	}
	return deleted, nil
}

// GivenRole returns the role of a person on a board, or nil if there is none. It also
// finds the roles of deleted accounts. The board must already be loaded.
func (v *View) GivenRole(ctx context.Context, boardID, userID string) (*board.Role, error) {
	var role board.Role
	found, err := v.one(ctx, "SELECT role FROM board_members WHERE board_id = $1 AND user_id = $2", []any{boardID, userID}, &role)
	if err != nil || !found {
		return nil, err
	}
	return &role, nil
}
