package app

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// NextLetter returns the email that has been due for longest and leases it. It
// completes the email: a secret in it is created now, and only its hash is
// stored. It returns nil if no email is due. Emails that have become pointless
// are deleted.
func NextLetter(ctx context.Context, tx *store.Tx, lease time.Duration) (*board.Letter, error) {
	for {
		l, about, found, err := tx.ClaimLetter(ctx, lease)
		if err != nil || !found {
			return nil, err
		}
		ready := false
		switch l.Kind {
		case board.LetterInvitation:
			ready, err = invitationLetter(ctx, tx, &l, about)
		case board.LetterWebhookOff:
			ready, err = webhookLetter(ctx, tx, &l, about)
		case board.LetterVerify:
			ready, err = signUpLetter(ctx, tx, &l, about)
		case board.LetterReset:
			ready, err = resetLetter(ctx, tx, &l, about)
		case board.LetterPasswordChanged, board.LetterPasskeyAdded, board.LetterTokenCreated, board.LetterAppConnected, board.LetterNewDevice:
			ready, err = noticeLetter(ctx, tx, &l, about)
		case board.LetterNotify, board.LetterDigest:
			ready, err = notificationLetter(ctx, tx, &l, about)
		}
		if err != nil {
			return nil, err
		}
		if ready {
			return &l, nil
		}
		if err := tx.DeleteLetter(ctx, l.ID); err != nil {
			return nil, err
		}
	}
}

// signUpLetter asks the owner of a new address to confirm a sign-up, or tells
// the owner of an existing account that someone tried to sign up. This is
// decided here and not at sign-up, so that the response of a sign-up and its
// duration do not reveal whether an account exists.
func signUpLetter(ctx context.Context, tx *store.Tx, l *board.Letter, signUpID string) (ready bool, err error) {
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
		l.Kind, l.Link = board.LetterExists, tx.Link("/sign-in")
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

// resetLetter sends a link for a password reset to an address if it has an
// account. This is decided here for the same reason.
func resetLetter(ctx context.Context, tx *store.Tx, l *board.Letter, email string) (ready bool, err error) {
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

// noticeLetter tells the owner of an account about a change to it, unless the
// account no longer exists.
func noticeLetter(ctx context.Context, tx *store.Tx, l *board.Letter, about string) (ready bool, err error) {
	to, notice, err := tx.AccountNotice(ctx, l.Kind, about)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	pages := map[board.LetterKind]string{board.LetterTokenCreated: "/profile/tokens", board.LetterAppConnected: "/profile/apps"}
	l.To, l.Notice, l.Link = to, &notice, tx.Link(cmp.Or(pages[l.Kind], "/profile/security"))
	return err == nil, err
}

// webhookLetter tells the owner of a webhook that the service switched it off,
// and why, unless a person has switched it on again or the owner's account no
// longer exists. Its link leads to the last failed delivery. An owner who can
// no longer open that is directed to the people of the workspace.
func webhookLetter(ctx context.Context, tx *store.Tx, l *board.Letter, webhookID string) (ready bool, err error) {
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
	l.Webhook = &board.WebhookLetter{Name: w.Name, Host: w.Host, Workspace: space.Name, Reason: *w.OffReason}
	return true, nil
}
