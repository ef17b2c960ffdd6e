package app

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// NextEmail leases the email that has been due longest and returns it complete with its
// recipient and link. A secret in the link is created now, and only its hash is stored.
// NextEmail deletes due emails that are no longer needed. It returns nil if no email is
// due.
func NextEmail(ctx context.Context, tx *store.Tx, lease time.Duration) (*board.Email, error) {
	for {
		e, about, found, err := tx.ClaimEmail(ctx, lease)
		if err != nil || !found {
			return nil, err
		}
		ready := false
		switch e.Kind {
		case board.EmailInvitation:
			ready, err = invitationEmail(ctx, tx, &e, about)
		case board.EmailWebhookDisabled:
			ready, err = webhookEmail(ctx, tx, &e, about)
		case board.EmailVerify, board.EmailAccountExists:
			ready, err = signUpEmail(ctx, tx, &e, about)
		case board.EmailReset:
			ready, err = resetEmail(ctx, tx, &e, about)
		case board.EmailPasswordChanged, board.EmailPasskeyAdded, board.EmailTokenCreated, board.EmailAppConnected, board.EmailNewDevice:
			ready, err = noticeEmail(ctx, tx, &e, about)
		case board.EmailNotify, board.EmailDigest:
			ready, err = notificationEmail(ctx, tx, &e, about)
		}
		if err != nil {
			return nil, err
		}
		if ready {
			return &e, nil
		}
		if err := tx.DeleteEmail(ctx, e.ID); err != nil {
			return nil, err
		}
	}
}

// signUpEmail asks the owner of a new address to confirm a sign-up, or tells the owner of
// an existing account that someone tried to sign up. An email of the kind
// EmailAccountExists is not sent to an address without an account. The sign-up request
// itself does not look for an account, so neither its response nor its duration reveals
// whether there is one.
func signUpEmail(ctx context.Context, tx *store.Tx, e *board.Email, signUpID string) (ready bool, err error) {
	s, err := tx.SignUp(ctx, signUpID)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	e.To = s.Email
	switch _, err := tx.UserByEmail(ctx, s.Email); {
	case err == nil:
		// The sign-up stays stored without a secret, because it counts against
		// the limit.
		e.Kind, e.Link = board.EmailAccountExists, tx.Link("/sign-in")
		return true, nil
	case !board.IsCode(err, board.CodeNotFound):
		return false, err
	case e.Kind == board.EmailAccountExists:
		return false, nil
	}
	secret := board.NewSecret()
	e.Link = tx.Link("/verify#" + secret)
	return true, tx.AddVerifySecret(ctx, s, secret)
}

// resetEmail adds a password reset link to an email, unless the address has no
// account or the account has board.EmailsToAddress links that still work. Like a sign-up, a reset
// request must not reveal whether an account exists.
func resetEmail(ctx context.Context, tx *store.Tx, e *board.Email, email string) (ready bool, err error) {
	u, err := tx.UserByEmail(ctx, email)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n, err := tx.CountResets(ctx, u.ID)
	if err != nil || n >= board.EmailsToAddress {
		return false, err
	}
	secret := board.NewSecret()
	e.To, e.Link = u.Email, tx.Link("/reset#"+secret)
	return true, tx.AddResetSecret(ctx, u.ID, secret)
}

// noticeEmail tells the owner of an account about a change to it or a sign-in on a new
// device, unless the account, or the token, passkey or device in question, no longer
// exists.
func noticeEmail(ctx context.Context, tx *store.Tx, e *board.Email, about string) (ready bool, err error) {
	to, notice, err := tx.AccountNotice(ctx, e.Kind, about)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	pages := map[board.EmailKind]string{board.EmailTokenCreated: "/profile/tokens", board.EmailAppConnected: "/profile/apps"}
	e.To, e.Notice, e.Link = to, &notice, tx.Link(cmp.Or(pages[e.Kind], "/profile/security"))
	return err == nil, err
}

// webhookEmail tells the owner of a webhook that the service disabled it, and why. It
// does not do so if the webhook was deleted or a person has enabled it again, or if the
// owner's account no longer exists. The link leads to the delivery log, at the last
// failed delivery if failures are the reason. If the owner can no longer manage the
// webhook, the link leads to the people of the workspace or, for an owner who has left
// the workspace, to the start page.
func webhookEmail(ctx context.Context, tx *store.Tx, e *board.Email, webhookID string) (ready bool, err error) {
	w, err := tx.View.Webhook(ctx, webhookID)
	if board.IsCode(err, board.CodeNotFound) || err == nil && (w.OffReason == nil || *w.OffReason == board.OffPaused) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if e.To, err = tx.AddressOf(ctx, w.OwnerID); err != nil || e.To == "" {
		return false, err
	}
	space, err := tx.View.Workspace(ctx, w.WorkspaceID, board.ViewWorkspace)
	if err != nil {
		return false, err
	}
	e.Link = tx.Link("/webhooks/" + w.ID + "/deliveries")
	switch *w.OffReason {
	case board.OffOwner:
		e.Link = tx.Link("/")
		if _, err := tx.Member(ctx, w.WorkspaceID, w.OwnerID); err == nil {
			e.Link = tx.Link("/workspaces/" + w.WorkspaceID + "/members")
		} else if !board.IsCode(err, board.CodeNotFound) {
			return false, err
		}
	case board.OffFailures, board.OffGone:
		failed, err := tx.LastFailure(ctx, w.ID)
		if err != nil {
			return false, err
		}
		if failed != "" {
			e.Link += "?delivery=" + url.QueryEscape(failed)
		}
	}
	e.Webhook = &board.WebhookEmail{Name: w.Name, Host: w.Host, Workspace: space.Name, Reason: *w.OffReason}
	return true, nil
}
