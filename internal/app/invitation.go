package app

import (
	"context"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// CreateInvitationInput is the input of CreateInvitation.
type CreateInvitationInput struct {
	WorkspaceInput
	Email string              `json:"email" maxLength:"254" doc:"The email address to invite." example:"grace@example.com"`
	Role  board.WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The role that the person gets in the workspace. Only owners can invite owners." example:"member"`
}

// invitationEmailInterval is the minimum time between two invitation emails to an address,
// so that nobody can flood the address.
const invitationEmailInterval = 5 * time.Minute

// CreateInvitation invites an email address. If the address has an open invitation to
// the workspace, it renews that invitation with the given role and a new expiry time.
// It queues an email unless the invitation's last email is still queued. Links from
// earlier emails keep working. It returns an error if the address belongs to a member.
func CreateInvitation(ctx context.Context, tx *store.Tx, in CreateInvitationInput) (board.Invitation, error) {
	w, err := tx.OnWorkspace(ctx, in.WorkspaceID, board.ManageMembers)
	if err != nil {
		return board.Invitation{}, err
	}
	email, err := board.NormalEmail(in.Email)
	if err != nil {
		return board.Invitation{}, err
	}
	if err := canGive(tx, w, in.Role); err != nil {
		return board.Invitation{}, err
	}
	if err := checkInvitee(ctx, tx.View, w.ID, email); err != nil {
		return board.Invitation{}, err
	}
	i, err := tx.InvitationTo(ctx, w.ID, email)
	known := err == nil
	switch {
	case known:
		err = canGive(tx, w, i.Role)
	case board.IsCode(err, board.CodeNotFound):
		err = nil
	}
	if err != nil {
		return i, err
	}
	count, err := tx.CountInvitations(ctx, w.ID, i.ID)
	if err != nil {
		return i, err
	}
	if err := board.CheckLimit("pending invitations to a workspace", count, 1, board.MaxInvitations); err != nil {
		return i, err
	}
	i.Role, i.InvitedBy, i.Status = in.Role, nil, board.InvitationPending
	if !tx.Caller().System {
		me, err := tx.User(ctx)
		if err != nil {
			return i, err
		}
		i.InvitedBy = &board.UserRef{ID: me.ID, Name: me.Name}
	}
	i.ExpiresAt = tx.Now() + board.Instant(board.InvitationLifetime.Milliseconds())
	if known {
		err = tx.RenewInvitation(ctx, &i)
	} else {
		i.ID, i.WorkspaceID, i.Email = tx.NewID("inv_"), w.ID, email
		err = tx.InsertInvitation(ctx, &i)
	}
	if err != nil {
		return i, err
	}
	tx.Note("", board.Changes{"email": {To: email}, "role": {To: i.Role}})
	if err := countInvitation(ctx, tx, w, i); err != nil {
		return i, err
	}
	last, err := tx.LastInvitationEmail(ctx, email)
	if err != nil {
		return i, err
	}
	return i, tx.InsertEmail(ctx, board.EmailInvitation, i.ID, last+board.Instant(invitationEmailInterval.Milliseconds()))
}

// checkInvitee returns an error if an email address belongs to a member of the
// workspace, or has no account and can get none.
func checkInvitee(ctx context.Context, v *store.View, workspaceID, email string) error {
	_, err := v.MemberByEmail(ctx, workspaceID, email)
	if err == nil {
		return board.Invalid("email: %s already belongs to a member of the workspace.", email).
			In("email", board.RuleValue)
	}
	if !board.IsCode(err, board.CodeNotFound) {
		return err
	}
	if !v.SignUpClosed() {
		return nil
	}
	_, err = v.UserByEmail(ctx, email)
	if board.IsCode(err, board.CodeNotFound) {
		return board.Invalid("email: %s has no account, and sign-up is closed on this server. Ask its operator for an account.", email).
			In("email", board.RuleValue)
	}
	return err
}

// countInvitation counts the email for an invitation against the limits of the caller
// and of the address. It returns an error if either has reached its limit for the last
// 24 hours. An email that is still waiting to be sent is not counted twice.
func countInvitation(ctx context.Context, tx *store.Tx, w board.Workspace, i board.Invitation) error {
	if tx.Caller().System {
		return nil
	}
	waits, err := tx.InvitationQueued(ctx, i.ID)
	if err != nil || waits {
		return err
	}
	if err := tx.LockInviter(ctx); err != nil {
		return err
	}
	sent, received, err := tx.InvitationEmails(ctx, i.Email)
	if err != nil {
		return err
	}
	most := w.Plan.Limits().InvitationsPerDay
	rate := board.Rate{Resource: board.ResourceMail, Limit: most, Remaining: max(0, most-sent.Count), Reset: sent.ResetAt.Time()}
	if sent.Count == 0 {
		rate.Reset = tx.Now().Time().Add(w.Plan.Budget(board.ResourceMail).Window)
	}
	refuse := func(frees board.Instant, format string, args ...any) error {
		f := board.Refuse(board.CodeRateLimited, format, args...)
		f.Rate = &rate
		f.RetryAfter = max(frees.Time().Sub(tx.Now().Time()), time.Second)
		return f
	}
	if sent.Count >= most {
		return refuse(sent.ResetAt, "You have sent %d invitations in the last 24 hours, the limit of the %s plan. You "+
			"can send the next one at %s UTC.",
			sent.Count, w.Plan, sent.ResetAt.Time().Format("2006-01-02 15:04"))
	}
	if received.Count >= board.EmailsToAddress {
		rate.Limit, rate.Remaining, rate.Reset = board.EmailsToAddress, 0, received.ResetAt.Time()
		return refuse(received.ResetAt, "%s has received %d invitations in the last 24 hours, the limit for one "+
			"address. You can send the next one at %s UTC.",
			i.Email, received.Count, received.ResetAt.Time().Format("2006-01-02 15:04"))
	}
	rate.Remaining--
	tx.Spent(rate)
	return tx.CountInvitationEmail(ctx, i.Email)
}

// canGive returns an error if the caller may not give, change or remove a role in
// the workspace.
func canGive(tx *store.Tx, w board.Workspace, role board.WorkspaceRole) error {
	if tx.Caller().System || w.Role.CanGrant(role) {
		return nil
	}
	return board.Forbidden("Your role in this workspace is %s. Only owners can decide who is an owner.", w.Role)
}

// ListInvitationsInput is the input of ListInvitations.
type ListInvitationsInput struct {
	WorkspaceInput
	op.Paging
}

// ListInvitations returns the open invitations, including expired ones, oldest
// first.
func ListInvitations(ctx context.Context, v *store.View, in ListInvitationsInput) (op.Page[board.Invitation], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.Invitation]{}, err
	}
	w, err := v.Workspace(ctx, in.WorkspaceID, board.ManageMembers)
	if err != nil {
		return op.Page[board.Invitation]{}, err
	}
	all, err := v.Invitations(ctx, w.ID, after, in.Size()+1)
	return op.Cut(all, in.Size(), func(i board.Invitation) any { return i.ID }), err
}

// WithdrawInvitationInput identifies an invitation.
type WithdrawInvitationInput struct {
	WorkspaceInput
	InvitationID string `json:"invitationId" maxLength:"64" doc:"The id of the invitation." example:"inv_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// WithdrawInvitation withdraws an open invitation. The invitation's links stop working,
// and a queued email is not sent. WithdrawInvitation returns a not_found error for any
// other invitation.
func WithdrawInvitation(ctx context.Context, tx *store.Tx, in WithdrawInvitationInput) (Deleted, error) {
	w, err := tx.OnWorkspace(ctx, in.WorkspaceID, board.ManageMembers)
	if err != nil {
		return Deleted{}, err
	}
	i, err := tx.Invitation(ctx, w.ID, in.InvitationID)
	if err != nil {
		return Deleted{}, err
	}
	if err := canGive(tx, w, i.Role); err != nil {
		return Deleted{}, err
	}
	tx.Note("", board.Changes{"email": {From: i.Email}, "role": {From: i.Role}})
	return Deleted{i.ID}, tx.WithdrawInvitation(ctx, i.ID)
}

// AcceptInvitation accepts the invitation with the given secret for the signed-in
// caller, who becomes a member of the workspace. It returns the workspace. The
// account's email address may differ from the invited one: people have several
// addresses, and the link was sent only to the invited mailbox. An invitation works
// for one person. If the same person accepts it again, nothing changes.
// AcceptInvitation returns a not_found error for an unknown secret. It returns an
// invalid_request error, with the reason, if the invitation has ended or the caller is
// already a member.
func AcceptInvitation(ctx context.Context, tx *store.Tx, token string) (board.Workspace, error) {
	i, err := tx.InvitationOf(ctx, token)
	if err != nil {
		return board.Workspace{}, err
	}
	if err := lockForJoining(ctx, tx, i.WorkspaceID); err != nil {
		return board.Workspace{}, err
	}
	if i, err = tx.InvitationOf(ctx, token); err != nil { // read again under the lock
		return board.Workspace{}, err
	}
	_, err = tx.Member(ctx, i.WorkspaceID, tx.Caller().UserID)
	switch member := err == nil; {
	case err != nil && !board.IsCode(err, board.CodeNotFound):
		return board.Workspace{}, err
	case member && i.AcceptedBy == tx.Caller().UserID:
		return tx.View.Workspace(ctx, i.WorkspaceID, board.ViewWorkspace)
	case i.Status == board.InvitationAccepted:
		return board.Workspace{}, board.Invalid("secret: the invitation was already accepted. Ask for another one.").
			In("secret", board.RuleValue)
	case i.Status == board.InvitationWithdrawn:
		return board.Workspace{}, board.Invalid("secret: the invitation was withdrawn. Contact the people of the "+
			"workspace.").In("secret", board.RuleValue)
	case i.Status == board.InvitationExpired:
		return board.Workspace{}, board.Invalid("secret: the invitation expired on %s. Ask for "+
			"another one.", i.ExpiresAt.Time().Format(board.DateLayout)).In("secret", board.RuleValue)
	case member:
		return board.Workspace{}, board.Invalid("secret: you are already in this workspace. The invitation stays "+
			"open for the person it is meant for.").In("secret", board.RuleValue)
	}
	if err := tx.AcceptInvitation(ctx, i); err != nil {
		return board.Workspace{}, err
	}
	tx.Note("", board.Changes{"role": {To: i.Role}})
	return tx.View.Workspace(ctx, i.WorkspaceID, board.ViewWorkspace)
}

// InvitationSecretInput holds the secret of an invitation's link.
type InvitationSecretInput struct {
	Secret string `json:"secret" minLength:"1" maxLength:"64" doc:"The secret from the invitation link: the part after the #." example:"K7Q2M4XW3ZB5N6VD8RJHF9TCGP"`
}

// InvitationPreview is the part of an invitation that anyone with its link can see.
type InvitationPreview struct {
	Workspace string                 `json:"workspace" doc:"The workspace's name." example:"Analytical Engines"`
	InvitedBy *string                `json:"invitedBy" doc:"The name of the person who sent the invitation; null if it was not sent by a person." example:"Ada Lovelace"`
	Email     string                 `json:"email" doc:"The invited email address." example:"grace@example.com"`
	Role      board.WorkspaceRole    `json:"role" enum:"owner,admin,member,guest" doc:"The role that the person gets in the workspace." example:"member"`
	Status    board.InvitationStatus `json:"status" enum:"pending,expired,accepted,withdrawn" doc:"The invitation's status. Only a pending invitation can be accepted." example:"pending"`
	ExpiresAt board.Instant          `json:"expiresAt" format:"date-time" doc:"When the invitation expires." example:"2026-03-15T09:00:00.000Z"`
}

// GetInvitation returns the invitation for a secret, in any state. It returns a
// not_found error for an unknown secret.
func GetInvitation(ctx context.Context, v *store.View, in InvitationSecretInput) (InvitationPreview, error) {
	i, err := v.InvitationOf(ctx, in.Secret)
	if err != nil {
		return InvitationPreview{}, err
	}
	preview := InvitationPreview{Email: i.Email, Role: i.Role, Status: i.Status, ExpiresAt: i.ExpiresAt}
	if i.InvitedBy != nil {
		preview.InvitedBy = &i.InvitedBy.Name
	}
	preview.Workspace, err = v.WorkspaceName(ctx, i.WorkspaceID)
	return preview, err
}

// JoinByLink is AcceptInvitation as an operation.
func JoinByLink(ctx context.Context, tx *store.Tx, in InvitationSecretInput) (board.Workspace, error) {
	return AcceptInvitation(ctx, tx, in.Secret)
}

// AcceptInvitationsOf makes the caller, who has just signed up with a verified
// email address, a member of all workspaces to which that address is invited.
// It returns the ids of the workspaces. Invitations that cannot be accepted now
// stay open.
func AcceptInvitationsOf(ctx context.Context, tx *store.Tx, email string) ([]string, error) {
	email, err := board.NormalEmail(email)
	if err != nil {
		return nil, err
	}
	all, err := tx.InvitationsTo(ctx, email)
	if err != nil {
		return nil, err
	}
	joined := []string{}
	for _, i := range all {
		if err := lockForJoining(ctx, tx, i.WorkspaceID); board.IsCode(err, board.CodePlanReadOnly) {
			continue
		} else if err != nil {
			return nil, err
		}
		now, err := tx.InvitationTo(ctx, i.WorkspaceID, email)
		if board.IsCode(err, board.CodeNotFound) || err == nil && now.Status != board.InvitationPending {
			continue
		}
		if err != nil {
			return nil, err
		}
		if _, err := tx.Member(ctx, i.WorkspaceID, tx.Caller().UserID); !board.IsCode(err, board.CodeNotFound) {
			if err != nil {
				return nil, err
			}
			continue
		}
		if err := tx.AcceptInvitation(ctx, now); err != nil {
			return nil, err
		}
		joined = append(joined, i.WorkspaceID)
	}
	return joined, nil
}

// lockForJoining locks a workspace that the caller is about to join. It returns
// an error if the organization is read-only.
func lockForJoining(ctx context.Context, tx *store.Tx, workspaceID string) error {
	return tx.AsSystem(func() error {
		w, err := tx.OnWorkspace(ctx, workspaceID, board.ViewWorkspace)
		if err == nil && w.ReadOnly {
			err = board.Refuse(board.CodePlanReadOnly, "The organization is read-only. Nobody can join its "+
				"workspaces until an operator of this server allows changes again.")
		}
		return err
	})
}

// invitationEmail completes an invitation email with a link that contains a new secret,
// and stores the hash of the secret. It returns false if the invitation is no longer
// pending. The secret is in the fragment of the link. Browsers do not send the fragment,
// so no server logs it.
func invitationEmail(ctx context.Context, tx *store.Tx, e *board.Email, invitationID string) (ready bool, err error) {
	i, err := tx.InvitationAbout(ctx, invitationID)
	if board.IsCode(err, board.CodeNotFound) || err == nil && i.Status != board.InvitationPending {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	w, err := tx.View.Workspace(ctx, i.WorkspaceID, board.ViewWorkspace)
	if err != nil {
		return false, err
	}
	secret := board.NewSecret()
	e.To, e.Link = i.Email, tx.Link("/invitation#"+secret)
	e.Invitation = &board.InvitationEmail{Workspace: w.Name, Role: i.Role, ExpiresAt: i.ExpiresAt}
	if i.InvitedBy != nil {
		e.Invitation.InvitedBy = i.InvitedBy.Name
	}
	return true, tx.AddInvitationSecret(ctx, i.ID, secret)
}
