package store

import (
	"context"

	"cardwall/internal/board"
)

const workspaceLock = "SELECT w.id FROM workspaces w WHERE w.id = $1 FOR NO KEY UPDATE OF w"

// OnWorkspace locks a workspace and loads it for a change to its members or
// invitations. The transaction's audit entry then names the workspace, even if boards
// change too. The caller must lock the workspace before its boards.
func (tx *Tx) OnWorkspace(ctx context.Context, id string, need board.WorkspaceCapability) (board.Workspace, error) {
	if err := tx.lock(ctx, workspaceLock, id); err != nil {
		return board.Workspace{}, err
	}
	w, err := tx.Workspace(ctx, id, need)
	if err == nil {
		tx.workspace = id
	}
	return w, err
}

// AsSystem runs fn with the permissions of the service, for changes to records that the
// caller cannot see. The changes are still attributed to the caller.
func (tx *Tx) AsSystem(fn func() error) error {
	caller := tx.caller
	defer func() { tx.caller = caller }()
	tx.caller = board.System()
	tx.caller.Actor = caller.Actor
	return fn()
}

// Member returns a member of a workspace. The workspace must already be loaded.
func (v *View) Member(ctx context.Context, workspaceID, userID string) (board.Member, error) {
	return v.member(ctx, "u.id", workspaceID, userID)
}

// MemberByEmail returns the member of a workspace with the given email address. The
// workspace must already be loaded.
func (v *View) MemberByEmail(ctx context.Context, workspaceID, email string) (board.Member, error) {
	return v.member(ctx, "u.email", workspaceID, email)
}

func (v *View) member(ctx context.Context, column, workspaceID, value string) (board.Member, error) {
	var m board.Member
	found, err := v.one(ctx, `SELECT u.id, u.name, u.email, wm.role, wm.created_at, u.avatar
		FROM workspace_members wm JOIN users u ON u.id = wm.user_id
		WHERE wm.workspace_id = $1 AND `+column+` = $2 AND u.deleted_at IS NULL`, []any{workspaceID, value}, &m.ID, &m.Name, &m.Email,
		&m.Role, &m.JoinedAt, &m.Avatar)
	if err == nil && !found {
		err = board.NotFound()
	}
	return m, err
}

// OtherOwner returns the id of the owner, other than the given person, who has been a
// member of a workspace longest. It returns "" if there is none.
func (v *View) OtherOwner(ctx context.Context, workspaceID, userID string) (id string, err error) {
	_, err = v.one(ctx, `SELECT wm.user_id FROM workspace_members wm JOIN users u ON u.id = wm.user_id
		WHERE wm.workspace_id = $1 AND wm.user_id <> $2 AND wm.role = 'owner' AND u.deleted_at IS NULL
		ORDER BY wm.created_at, wm.user_id LIMIT 1`,
		[]any{workspaceID, userID}, &id)
	return id, err
}

// MemberBoards returns the ids of the boards of a workspace on which a person has a role
// or assigned cards, ordered by id. It includes archived and trashed boards.
func (v *View) MemberBoards(ctx context.Context, workspaceID, userID string) ([]string, error) {
	return v.texts(ctx, `SELECT b.id FROM boards b WHERE b.workspace_id = $1 AND (b.id IN (SELECT m.board_id FROM board_members m
		WHERE m.user_id = $2)
		OR b.id IN (SELECT c.board_id FROM card_assignees k JOIN cards c ON c.id = k.card_id WHERE k.user_id = $2))
		ORDER BY b.id`, workspaceID, userID)
}

// RevokeWorkspaceTokens revokes a person's tokens that are restricted to a workspace. The
// tokens stay revoked if the person joins again.
func (tx *Tx) RevokeWorkspaceTokens(ctx context.Context, userID, workspaceID string) error {
	return tx.exec(ctx, "UPDATE tokens SET revoked_at = $1 WHERE user_id = $2 AND workspace_id = $3 AND revoked_at IS NULL",
		int64(tx.now), userID, workspaceID)
}
