package app

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// NextEmail leases the email that has been due for longest and returns it complete
// with its recipient and link. A secret in the link is created now, and only its
// hash is stored. NextEmail deletes due emails that are no longer needed. It
// returns nil if no email is due.
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
		case board.EmailVerify:
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

// signUpEmail asks the owner of a new address to confirm a sign-up, or tells
// the owner of an existing account that someone tried to sign up. This is
// decided here and not at sign-up, so that the response of a sign-up and its
// duration do not reveal whether an account exists.
func signUpEmail(ctx context.Context, tx *store.Tx, e *board.Email, signUpID string) (ready bool, err error) {
	s, err := tx.SignUp(ctx, signUpID)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	e.To = s.Email
	if _, err := tx.UserByEmail(ctx, s.Email); err == nil {
		// The sign-up is kept without a secret, because it counts against the
		// limit.
		e.Kind, e.Link = board.EmailAccountExists, tx.Link("/sign-in")
		return true, nil
	} else if !board.IsCode(err, board.CodeNotFound) {
		return false, err
	}
	secret := board.NewSecret()
	e.Link = tx.Link("/verify#" + secret)
	return true, tx.AddVerifySecret(ctx, s, secret)
}

// resetsPerHour is the maximum number of password reset emails per account and
// hour.
const resetsPerHour = 5

// resetEmail sends a link for a password reset to an address if it has an
// account. Like a sign-up, the request must not reveal whether it has one.
func resetEmail(ctx context.Context, tx *store.Tx, e *board.Email, email string) (ready bool, err error) {
	u, err := tx.UserByEmail(ctx, email)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n, err := tx.CountResets(ctx, u.ID, tx.AnHourAgo())
	if err != nil || n >= resetsPerHour {
		return false, err
	}
	secret := board.NewSecret()
	e.To, e.Link = u.Email, tx.Link("/reset#"+secret)
	return true, tx.AddResetSecret(ctx, u.ID, secret)
}

// noticeEmail tells the owner of an account about a change to it, unless the
// account no longer exists.
func noticeEmail(ctx context.Context, tx *store.Tx, e *board.Email, about string) (ready bool, err error) {
	to, notice, err := tx.AccountNotice(ctx, e.Kind, about)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	pages := map[board.EmailKind]string{board.EmailTokenCreated: "/profile/tokens", board.EmailAppConnected: "/profile/apps"}
	e.To, e.Notice, e.Link = to, &notice, tx.Link(cmp.Or(pages[e.Kind], "/profile/security"))
	return err == nil, err
}

// webhookEmail tells the owner of a webhook that the service switched it off,
// and why, unless a person has switched it on again or the owner's account no
// longer exists. Its link leads to the last failed delivery, or to the people of
// the workspace if the owner can no longer open the delivery.
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
