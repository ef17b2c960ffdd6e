package store

import (
	"context"
	"database/sql"
	"fmt"

	"cardwall/internal/board"
)

const workspaceSelect = `SELECT w.id, w.organization_id, w.name, o.plan, o.read_only, wm.role, w.created_at
	FROM workspaces w JOIN organizations o ON o.id = w.organization_id `

func scanWorkspace(rows *sql.Rows) (board.Workspace, error) {
	var (
		w        board.Workspace
		readOnly int64
		role     sql.NullString
	)
	err := rows.Scan(&w.ID, &w.OrganizationID, &w.Name, &w.Plan, &readOnly, &role, &w.CreatedAt)
	w.ReadOnly, w.Role = readOnly != 0, board.WorkspaceRole(role.String)
	return w, err
}

// Workspace loads the workspace with the given id. It returns an error unless the caller
// has the capability in the workspace.
func (v *View) Workspace(ctx context.Context, id string, need board.WorkspaceCapability) (board.Workspace, error) {
	var (
		w     board.Workspace
		found bool
	)
	err := v.each(ctx, workspaceSelect+"LEFT JOIN workspace_members wm ON wm.workspace_id = w.id AND wm.user_id = $2 WHERE w.id = $1",
		[]any{id, v.caller.UserID}, func(rows *sql.Rows) (err error) {
			found = true
			w, err = scanWorkspace(rows)
			return err
		})
	switch {
	case err != nil:
		return w, err
	case !found:
		return w, board.NotFound()
	case v.caller.System:
		return w, nil
	case w.Role == "" || v.caller.WorkspaceID != "" && v.caller.WorkspaceID != id:
		return board.Workspace{}, board.NotFound()
	case !w.Role.Can(need):
		return board.Workspace{}, board.Forbidden("Your role in this workspace is %s, which does not allow this.", w.Role)
	}
	return w, nil
}

// Workspace loads a workspace for a change. It returns a plan_read_only error if the
// organization is read-only.
func (tx *Tx) Workspace(ctx context.Context, id string, need board.WorkspaceCapability) (board.Workspace, error) {
	w, err := tx.View.Workspace(ctx, id, need)
	if err == nil && w.ReadOnly && !tx.caller.System {
		err = board.Refuse(board.CodePlanReadOnly, "The organization's plan is read-only. Nothing in its workspaces can be changed "+
			"until an operator of the server allows changes again.")
	}
	return w, err
}

// Workspaces returns a page of the caller's workspaces, ordered by id, starting after the
// given id.
func (v *View) Workspaces(ctx context.Context, after string, limit int) ([]board.Workspace, error) {
	out := []board.Workspace{}
	err := v.each(ctx, workspaceSelect+`JOIN workspace_members wm ON wm.workspace_id = w.id AND wm.user_id = $1
		WHERE w.id > $2 AND ($3 = '' OR w.id = $3) ORDER BY w.id LIMIT $4`,
		[]any{v.caller.UserID, after, v.caller.WorkspaceID, limit}, func(rows *sql.Rows) error {
			w, err := scanWorkspace(rows)
			out = append(out, w)
			return err
		})
	return out, err
}

// Members returns a page of the members of a workspace with their email addresses, ordered
// by id, starting after the given id.
func (v *View) Members(ctx context.Context, workspaceID, after string, limit int) ([]board.Member, error) {
	out := []board.Member{}
	err := v.each(ctx, `SELECT u.id, u.name, u.email, wm.role, wm.created_at, u.avatar
		FROM workspace_members wm JOIN users u ON u.id = wm.user_id
		WHERE wm.workspace_id = $1 AND u.id > $2 AND u.deleted_at IS NULL ORDER BY u.id LIMIT $3`, []any{workspaceID, after, limit},
		func(rows *sql.Rows) error {
			var m board.Member
			err := rows.Scan(&m.ID, &m.Name, &m.Email, &m.Role, &m.JoinedAt, &m.Avatar)
			out = append(out, m)
			return err
		})
	return out, err
}

// InsertWorkspace stores a new workspace.
func (tx *Tx) InsertWorkspace(ctx context.Context, w *board.Workspace) error {
	w.CreatedAt = tx.now
	return tx.exec(ctx, "INSERT INTO workspaces (id, organization_id, name, created_at) VALUES ($1, $2, $3, $4)", w.ID,
		w.OrganizationID, w.Name, int64(tx.now))
}

// SetMember gives a person a role in a workspace.
func (tx *Tx) SetMember(ctx context.Context, workspaceID, userID string, role board.WorkspaceRole) error {
	tx.regrant(workspaceID)
	return tx.exec(ctx, `INSERT INTO workspace_members (workspace_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role`, workspaceID, userID, string(role), int64(tx.now))
}

// RemoveMember removes a person from a workspace. It also removes the person's roles on
// the boards of the workspace and unassigns the person from the cards of these boards.
func (tx *Tx) RemoveMember(ctx context.Context, workspaceID, userID string) error {
	tx.regrant(workspaceID)
	for _, text := range []string{
		"DELETE FROM board_members WHERE user_id = $2 AND board_id IN (SELECT id FROM boards WHERE workspace_id = $1)",
		"DELETE FROM card_assignees WHERE user_id = $2 AND card_id IN (SELECT c.id FROM cards c JOIN boards b ON b.id = c.board_id " +
			"WHERE b.workspace_id = $1)",
		"DELETE FROM workspace_members WHERE workspace_id = $1 AND user_id = $2",
	} {
		if err := tx.exec(ctx, text, workspaceID, userID); err != nil {
			return fmt.Errorf("remove member: %w", err)
		}
	}
	return nil
}

// WorkspaceOwner returns the id of the owner who has been a member of a workspace
// longest. It returns a not_found error if the workspace has no owner.
func (v *View) WorkspaceOwner(ctx context.Context, workspaceID string) (id string, err error) {
	found, err := v.one(ctx, "SELECT user_id FROM workspace_members WHERE workspace_id = $1 AND role = 'owner' ORDER BY created_at, "+
		"user_id LIMIT 1", []any{workspaceID}, &id)
	if err == nil && !found {
		err = board.NotFound()
	}
	return id, err
}
