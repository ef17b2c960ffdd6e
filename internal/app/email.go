package app

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// NextEmail returns the email that has been due for longest and leases it. It
// completes the email: a secret in it is created now, and only its hash is
// stored. It returns nil if no email is due. Emails that have become pointless
// are deleted.
func NextEmail(ctx context.Context, tx *store.Tx, lease time.Duration) (*board.Email, error) {
	for {
		l, about, found, err := tx.ClaimEmail(ctx, lease)
		if err != nil || !found {
			return nil, err
		}
		ready := false
		switch l.Kind {
		case board.EmailInvitation:
			ready, err = invitationEmail(ctx, tx, &l, about)
		case board.EmailWebhookDisabled:
			ready, err = webhookEmail(ctx, tx, &l, about)
		case board.EmailVerify:
			ready, err = signUpEmail(ctx, tx, &l, about)
		case board.EmailReset:
			ready, err = resetEmail(ctx, tx, &l, about)
		case board.EmailPasswordChanged, board.EmailPasskeyAdded, board.EmailTokenCreated, board.EmailAppConnected, board.EmailNewDevice:
			ready, err = noticeEmail(ctx, tx, &l, about)
		case board.EmailNotify, board.EmailDigest:
			ready, err = notificationEmail(ctx, tx, &l, about)
		}
		if err != nil {
			return nil, err
		}
		if ready {
			return &l, nil
		}
		if err := tx.DeleteEmail(ctx, l.ID); err != nil {
			return nil, err
		}
	}
}

// signUpEmail asks the owner of a new address to confirm a sign-up, or tells
// the owner of an existing account that someone tried to sign up. This is
// decided here and not at sign-up, so that the response of a sign-up and its
// duration do not reveal whether an account exists.
func signUpEmail(ctx context.Context, tx *store.Tx, l *board.Email, signUpID string) (ready bool, err error) {
	s, err := tx.SignUp(ctx, signUpID)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l.To = s.Email
	if _, err := tx.UserByEmail(ctx, s.Email); err == nil {
		// The sign-up is kept without a secret, because it counts against the
		// limit.
		l.Kind, l.Link = board.EmailAccountExists, tx.Link("/sign-in")
		return true, nil
	} else if !board.IsCode(err, board.CodeNotFound) {
		return false, err
	}
	secret := board.NewSecret()
	l.Link = tx.Link("/verify#" + secret)
	return true, tx.AddVerifySecret(ctx, s, secret)
}

// resetsPerHour is the maximum number of password reset emails per account and
// hour.
const resetsPerHour = 5

// resetEmail sends a link for a password reset to an address if it has an
// account. This is decided here for the same reason.
func resetEmail(ctx context.Context, tx *store.Tx, l *board.Email, email string) (ready bool, err error) {
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
	l.To, l.Link = u.Email, tx.Link("/reset#"+secret)
	return true, tx.AddResetSecret(ctx, u.ID, secret)
}

// noticeEmail tells the owner of an account about a change to it, unless the
// account no longer exists.
func noticeEmail(ctx context.Context, tx *store.Tx, l *board.Email, about string) (ready bool, err error) {
	to, notice, err := tx.AccountNotice(ctx, l.Kind, about)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	pages := map[board.EmailKind]string{board.EmailTokenCreated: "/profile/tokens", board.EmailAppConnected: "/profile/apps"}
	l.To, l.Notice, l.Link = to, &notice, tx.Link(cmp.Or(pages[l.Kind], "/profile/security"))
	return err == nil, err
}

// webhookEmail tells the owner of a webhook that the service switched it off,
// and why, unless a person has switched it on again or the owner's account no
// longer exists. Its link leads to the last failed delivery. An owner who can
// no longer open that is directed to the people of the workspace.
func webhookEmail(ctx context.Context, tx *store.Tx, l *board.Email, webhookID string) (ready bool, err error) {
	w, err := tx.View.Webhook(ctx, webhookID)
	if board.IsCode(err, board.CodeNotFound) || err == nil && (w.OffReason == nil || *w.OffReason == board.OffPaused) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if l.To, err = tx.AddressOf(ctx, w.OwnerID); err != nil || l.To == "" {
		return false, err
	}
	space, err := tx.View.Workspace(ctx, w.WorkspaceID, board.ViewWorkspace)
	if err != nil {
		return false, err
	}
	l.Link = tx.Link("/webhooks/" + w.ID + "/deliveries")
	switch *w.OffReason {
	case board.OffOwner:
		l.Link = tx.Link("/")
		if _, err := tx.Member(ctx, w.WorkspaceID, w.OwnerID); err == nil {
			l.Link = tx.Link("/workspaces/" + w.WorkspaceID + "/members")
		} else if !board.IsCode(err, board.CodeNotFound) {
			return false, err
		}
	case board.OffFailures, board.OffGone:
		failed, err := tx.LastFailure(ctx, w.ID)
		if err != nil {
			return false, err
		}
		if failed != "" {
			l.Link += "?delivery=" + url.QueryEscape(failed)
		}
	}
	l.Webhook = &board.WebhookEmail{Name: w.Name, Host: w.Host, Workspace: space.Name, Reason: *w.OffReason}
	return true, nil
}
