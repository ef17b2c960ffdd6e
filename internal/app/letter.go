package app

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// NextLetter takes the letter that is due longest, for as long as the lease,
// and makes it ready: a secret in it is made now, and only its fingerprint is
// kept. It returns nil when none is due. What has become pointless is dropped.
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

// signUpLetter asks a new address whether it is its owner who signed up, or tells
// the owner of an account that somebody did. That this is found out here, and
// not where somebody signed up, keeps the answer there and its time alike.
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
		// The sign-up stays, without a secret, to count against the next.
		l.Kind, l.Link = board.LetterExists, tx.Link("/sign-in")
		return true, nil
	} else if !board.IsCode(err, board.CodeNotFound) {
		return false, err
	}
	secret := board.NewSecret()
	l.Link = tx.Link("/verify#" + secret)
	return true, tx.AddVerifySecret(ctx, s, secret)
}

// resetsPerHour is how many letters with a way back in an account gets.
const resetsPerHour = 5

// resetLetter sends a way back in to an address, if there is an account: that is
// found out here for the same reason.
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

// noticeLetter tells the owner of an account what was done with it, unless that
// is gone by now.
func noticeLetter(ctx context.Context, tx *store.Tx, l *board.Letter, about string) (ready bool, err error) {
	to, notice, err := tx.AccountNotice(ctx, l.Kind, about)
	if board.IsCode(err, board.CodeNotFound) {
		return false, nil
	}
	pages := map[board.LetterKind]string{board.LetterTokenCreated: "/profile/tokens", board.LetterAppConnected: "/profile/apps"}
	l.To, l.Notice, l.Link = to, &notice, tx.Link(cmp.Or(pages[l.Kind], "/profile/security"))
	return err == nil, err
}

// webhookLetter tells the owner of a webhook that the service switched it off, and
// why, unless a person has switched it on again or the owner's account is gone.
// Its link leads to the last delivery that failed; an owner who can no longer
// open that is led to the people of the workspace, of whom some can.
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
