package store

import (
	"context"
	"time"

	"cardwall/internal/board"
)

// firstLifetime is how long the link for creating the first account is valid.
const firstLifetime = 7 * 24 * time.Hour

// HasNoUsers reports whether the server has no accounts yet.
func (v *View) HasNoUsers(ctx context.Context) (bool, error) {
	n, err := v.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM users LIMIT 1) AS n")
	return n == 0, err
}

// AddFirstSecret stores a secret with which the first account can be created. The
// secret expires after firstLifetime.
func (tx *Tx) AddFirstSecret(ctx context.Context, secret string) error {
	return tx.exec(ctx, "INSERT INTO account_secrets (hash, kind, created_at, expires_at) VALUES ($1, 'first', $2, $3)",
		board.SecretHash(secret), int64(tx.now), int64(tx.now)+firstLifetime.Milliseconds())
}

// IsFirstSecret reports whether the first account can be created with the given secret.
func (v *View) IsFirstSecret(ctx context.Context, secret string) (bool, error) {
	n, err := v.count(ctx, "SELECT count(*) FROM account_secrets WHERE hash = $1 AND kind = 'first' AND expires_at > $2 AND NOT "+
		"EXISTS (SELECT 1 FROM users)",
		board.SecretHash(secret), int64(v.now))
	return n > 0, err
}

// UseFirstSecret uses up the secret with which the first account can be created. It
// returns false if the secret is not valid, or if another transaction has already created
// that account. A permanent row with a fixed key lets only one transaction succeed.
func (tx *Tx) UseFirstSecret(ctx context.Context, secret string) (bool, error) {
	valid, err := tx.IsFirstSecret(ctx, secret)
	if err != nil || !valid {
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

// invitationWindow is the period over which invitation emails are counted.
const invitationWindow = 24 * time.Hour

// LockInviter makes other transactions that send invitations from the caller wait for this
// one, so that their counts include its invitations.
func (tx *Tx) LockInviter(ctx context.Context) error {
	_, err := tx.affected(ctx, "UPDATE users SET id = id WHERE id = $1", tx.caller.UserID)
	return err
}

// InvitationEmails counts the invitation emails of the last 24 hours: the emails that the
// caller sent, and the emails that an address received from anyone.
func (tx *Tx) InvitationEmails(ctx context.Context, email string) (sent, received InvitationCount, err error) {
	since := int64(tx.now) - invitationWindow.Milliseconds()
	count := func(column, value string) (c InvitationCount, err error) {
		var oldest int64
		_, err = tx.one(ctx, "SELECT count(*), COALESCE(min(created_at), 0) FROM invitation_emails WHERE "+column+" = $1 AND created_at > $2",
			[]any{value, since}, &c.Count, &oldest)
		c.ResetAt = board.Instant(oldest + invitationWindow.Milliseconds())
		return c, err
	}
	if sent, err = count("sent_by", tx.caller.UserID); err != nil {
		return sent, received, err
	}
	received, err = count("email", email)
	return sent, received, err
}

// InvitationCount is the number of invitation emails of the last 24 hours.
type InvitationCount struct {
	Count   int
	ResetAt board.Instant // when the oldest of these emails no longer counts
}

// InvitationQueued reports whether the email for an invitation is still waiting to be
// sent.
func (tx *Tx) InvitationQueued(ctx context.Context, id string) (bool, error) {
	n, err := tx.count(ctx, "SELECT count(*) FROM emails WHERE kind = $1 AND about = $2", string(board.EmailInvitation), id)
	return n > 0, err
}

// CountInvitationEmail records that the caller is sending an invitation to an address.
func (tx *Tx) CountInvitationEmail(ctx context.Context, email string) error {
	return tx.exec(ctx, "INSERT INTO invitation_emails (id, sent_by, email, created_at) VALUES ($1, $2, $3, $4)",
		tx.NewID("eml_"), tx.caller.UserID, email, int64(tx.now))
}
