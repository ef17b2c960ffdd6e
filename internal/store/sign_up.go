package store

import (
	"context"
	"time"

	"cardwall/internal/board"
)

// firstLifetime is how long the link to the first account works.
const firstLifetime = 7 * 24 * time.Hour

// WithoutUsers reports whether the server has no account yet.
func (v *View) WithoutUsers(ctx context.Context) (bool, error) {
	n, err := v.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM users LIMIT 1) AS n")
	return n == 0, err
}

// AddFirstSecret lets the first account be made with a secret.
func (tx *Tx) AddFirstSecret(ctx context.Context, secret string) error {
	return tx.exec(ctx, "INSERT INTO account_secrets (hash, kind, created_at, expires_at) VALUES ($1, 'first', $2, $3)",
		board.SecretHash(secret), int64(tx.now), int64(tx.now)+firstLifetime.Milliseconds())
}

// IsFirstSecret reports whether the first account can be made with a secret.
func (v *View) IsFirstSecret(ctx context.Context, secret string) (bool, error) {
	n, err := v.count(ctx, "SELECT count(*) FROM account_secrets WHERE hash = $1 AND kind = 'first' AND expires_at > $2 AND NOT "+
		"EXISTS (SELECT 1 FROM users)",
		board.SecretHash(secret), int64(v.now))
	return n > 0, err
}

// TakeFirstSecret uses up the right to create the first account. It returns
// false if the secret is not valid, or if another transaction has used one. A
// permanent row with a fixed key lets only one transaction succeed.
func (tx *Tx) TakeFirstSecret(ctx context.Context, secret string) (bool, error) {
	works, err := tx.IsFirstSecret(ctx, secret)
	if err != nil || !works {
		return false, err
	}
	const forever = int64(1) << 52
	n, err := tx.affected(ctx, "INSERT INTO account_secrets (hash, kind, created_at, expires_at) VALUES ($1, 'taken', $2, $3) "+
		"ON CONFLICT DO NOTHING",
		board.SecretHash("first account"), int64(tx.now), forever)
	if err != nil || n == 0 {
		return false, err
	}
	return true, tx.exec(ctx, "DELETE FROM account_secrets WHERE kind = 'first'")
}

// MakeOperator makes a person one of the server's operators.
func (tx *Tx) MakeOperator(ctx context.Context, userID string) error {
	return tx.exec(ctx, "UPDATE users SET operator = 1 WHERE id = $1", userID)
}

// invitationWindow is the time over which invitations by email are counted.
const invitationWindow = 24 * time.Hour

// LockInviter makes the caller's other transactions that send invitations wait
// for this one, so that their counts include it.
func (tx *Tx) LockInviter(ctx context.Context) error {
	_, err := tx.affected(ctx, "UPDATE users SET id = id WHERE id = $1", tx.caller.UserID)
	return err
}

// InvitationEmails counts the invitations of a day that the caller sent, and
// those that went to an address, and returns when the oldest of each no longer
// counts.
func (tx *Tx) InvitationEmails(ctx context.Context, email string) (sent, received InvitationCount, err error) {
	since := int64(tx.now) - invitationWindow.Milliseconds()
	count := func(column, value string) (c InvitationCount, err error) {
		var oldest int64
		_, err = tx.one(ctx, "SELECT count(*), COALESCE(min(created_at), 0) FROM invitation_emails WHERE "+column+" = $1 AND created_at > $2",
			[]any{value, since}, &c.Count, &oldest)
		c.Frees = board.Instant(oldest + invitationWindow.Milliseconds())
		return c, err
	}
	if sent, err = count("sent_by", tx.caller.UserID); err != nil {
		return sent, received, err
	}
	received, err = count("email", email)
	return sent, received, err
}

// InvitationCount is how many invitations were sent by email within a day.
type InvitationCount struct {
	Count int
	Frees board.Instant // when the oldest is a day old
}

// InvitationQueued reports whether an email of an invitation has not left yet.
func (tx *Tx) InvitationQueued(ctx context.Context, id string) (bool, error) {
	n, err := tx.count(ctx, "SELECT count(*) FROM emails WHERE kind = $1 AND about = $2", string(board.EmailInvitation), id)
	return n > 0, err
}

// CountInvitationEmail counts an invitation that the caller sends to an address.
func (tx *Tx) CountInvitationEmail(ctx context.Context, email string) error {
	return tx.exec(ctx, "INSERT INTO invitation_emails (id, sent_by, email, created_at) VALUES ($1, $2, $3, $4)",
		tx.NewID("eml_"), tx.caller.UserID, email, int64(tx.now))
}
