package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"cardwall/internal/board"
)

const (
	invitationSelect = `SELECT i.id, i.workspace_id, i.email, i.role, i.created_at, i.expires_at, i.accepted_at, i.withdrawn_at,
		COALESCE(i.accepted_by, ''), u.id, u.name FROM invitations i LEFT JOIN users u ON u.id = i.invited_by `
	invitationOpen = "i.accepted_at IS NULL AND i.withdrawn_at IS NULL"
)

// invitations returns the invitations that satisfy a condition. It does not check
// permissions.
func (v *View) invitations(ctx context.Context, where string, args ...any) ([]board.Invitation, error) {
	out := []board.Invitation{}
	err := v.each(ctx, invitationSelect+where, args, func(rows *sql.Rows) error {
		var (
			i                   board.Invitation
			accepted, withdrawn sql.NullInt64
			by, name            sql.NullString
		)
		err := rows.Scan(&i.ID, &i.WorkspaceID, &i.Email, &i.Role, &i.CreatedAt, &i.ExpiresAt, &accepted, &withdrawn, &i.AcceptedBy, &by, &name)
		if by.Valid {
			i.InvitedBy = &board.UserRef{ID: by.String, Name: name.String}
		}
		i.Status = i.StateOf(v.now, accepted.Valid, withdrawn.Valid)
		out = append(out, i)
		return err
	})
	return out, err
}

// first returns the first of the invitations found, or a not_found error if there are
// none.
func first(found []board.Invitation, err error) (board.Invitation, error) {
	if err != nil {
		return board.Invitation{}, err
	}
	if len(found) == 0 {
		return board.Invitation{}, board.NotFound()
	}
	return found[0], nil
}

// Invitations returns a page of the open invitations of a loaded workspace, both pending
// and expired, ordered by id, starting after the given id.
func (v *View) Invitations(ctx context.Context, workspaceID, after string, limit int) ([]board.Invitation, error) {
	return v.invitations(ctx, "WHERE i.workspace_id = $1 AND i.id > $2 AND "+invitationOpen+" ORDER BY i.id LIMIT $3",
		workspaceID, after, limit)
}

// Invitation returns an open invitation of a loaded workspace.
func (v *View) Invitation(ctx context.Context, workspaceID, id string) (board.Invitation, error) {
	return first(v.invitations(ctx, "WHERE i.workspace_id = $1 AND i.id = $2 AND "+invitationOpen, workspaceID, id))
}

// InvitationTo returns the open invitation of an email address to a loaded workspace.
func (v *View) InvitationTo(ctx context.Context, workspaceID, email string) (board.Invitation, error) {
	return first(v.invitations(ctx, "WHERE i.workspace_id = $1 AND i.email = $2 AND "+invitationOpen, workspaceID, email))
}

// InvitationAbout returns the invitation with the given id, which an email is about, in
// any state. It does not check permissions.
func (tx *Tx) InvitationAbout(ctx context.Context, id string) (board.Invitation, error) {
	return first(tx.invitations(ctx, "WHERE i.id = $1", id))
}

// InvitationOf returns the invitation to which the given secret belongs, in any state.
// Anyone who has the secret may read the invitation.
func (v *View) InvitationOf(ctx context.Context, secret string) (board.Invitation, error) {
	return first(v.invitations(ctx, "JOIN invitation_tokens t ON t.invitation_id = i.id WHERE t.hash = $1", board.SecretHash(secret)))
}

// InvitationsTo returns the pending invitations of a verified email address, ordered
// by workspace.
func (v *View) InvitationsTo(ctx context.Context, email string) ([]board.Invitation, error) {
	return v.invitations(ctx, "WHERE i.email = $1 AND i.expires_at > $2 AND "+invitationOpen+" ORDER BY i.workspace_id", email, int64(v.now))
}

// CountInvitations returns the number of pending invitations of a workspace. It does not
// count the invitation with the id except.
func (v *View) CountInvitations(ctx context.Context, workspaceID, except string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM invitations i WHERE i.workspace_id = $1 AND i.id <> $2 AND i.expires_at > $3 AND "+
		invitationOpen, workspaceID, except, int64(v.now))
}

// InsertInvitation writes a new invitation.
func (tx *Tx) InsertInvitation(ctx context.Context, i *board.Invitation) error {
	i.CreatedAt = tx.now
	return tx.exec(ctx, "INSERT INTO invitations (id, workspace_id, email, role, invited_by, created_at, expires_at) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $7)",
		i.ID, i.WorkspaceID, i.Email, string(i.Role), inviterID(i), int64(i.CreatedAt), int64(i.ExpiresAt))
}

// RenewInvitation updates the role, the inviter and the expiry time of an open invitation.
func (tx *Tx) RenewInvitation(ctx context.Context, i *board.Invitation) error {
	return tx.exec(ctx, "UPDATE invitations SET role = $1, invited_by = $2, expires_at = $3 WHERE id = $4", string(i.Role),
		inviterID(i), int64(i.ExpiresAt), i.ID)
}

func inviterID(i *board.Invitation) any {
	if i.InvitedBy == nil {
		return nil
	}
	return i.InvitedBy.ID
}

// LastInvitationEmail returns when an invitation to any workspace was last sent to an
// email address, or 0 if none was sent.
func (tx *Tx) LastInvitationEmail(ctx context.Context, email string) (at board.Instant, err error) {
	_, err = tx.one(ctx, "SELECT COALESCE(max(lettered_at), 0) FROM invitations WHERE email = $1", []any{email}, &at)
	return at, err
}

// AddInvitationSecret adds a secret with which an invitation can be accepted, and records
// that it is being sent by email.
func (tx *Tx) AddInvitationSecret(ctx context.Context, invitationID, secret string) error {
	if err := tx.exec(ctx, "INSERT INTO invitation_tokens (hash, invitation_id) VALUES ($1, $2)", board.SecretHash(secret),
		invitationID); err != nil {
		return fmt.Errorf("add secret: %w", err)
	}
	return tx.exec(ctx, "UPDATE invitations SET lettered_at = $1 WHERE id = $2", int64(tx.now), invitationID)
}

// WithdrawInvitation ends an open invitation.
func (tx *Tx) WithdrawInvitation(ctx context.Context, id string) error {
	return tx.exec(ctx, "UPDATE invitations SET withdrawn_at = $1 WHERE id = $2", int64(tx.now), id)
}

// WithdrawInvitationsBy ends the open invitations to a workspace that a person has sent.
// If ownersOnly is true, it ends only invitations with the owner role.
func (tx *Tx) WithdrawInvitationsBy(ctx context.Context, workspaceID, userID string, ownersOnly bool) error {
	text := "UPDATE invitations SET withdrawn_at = $1 WHERE workspace_id = $2 AND invited_by = $3 AND accepted_at IS NULL " +
		"AND withdrawn_at IS NULL"
	if ownersOnly {
		text += " AND role = 'owner'"
	}
	return tx.exec(ctx, text, int64(tx.now), workspaceID, userID)
}

// AcceptInvitation makes the caller a member of the invitation's workspace, and ends
// the invitation.
func (tx *Tx) AcceptInvitation(ctx context.Context, i board.Invitation) error {
	if err := tx.exec(ctx, "UPDATE invitations SET accepted_at = $1, accepted_by = $2 WHERE id = $3", int64(tx.now),
		tx.caller.UserID, i.ID); err != nil {
		return fmt.Errorf("accept invitation: %w", err)
	}
	return tx.SetMember(ctx, i.WorkspaceID, tx.caller.UserID, i.Role)
}

// InvitationKept is how long an ended invitation stays in the database, so that its
// link can show why it no longer works.
const InvitationKept = 90 * 24 * time.Hour

// PurgeInvitations deletes at most limit invitations that ended more than InvitationKept
// ago, including their email addresses.
func (tx *Tx) PurgeInvitations(ctx context.Context, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM invitations WHERE id IN (SELECT id FROM invitations "+
		"WHERE COALESCE(accepted_at, withdrawn_at, expires_at) < $1 LIMIT $2)", int64(tx.now)-InvitationKept.Milliseconds(), limit)
}
