package store

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"cardwall/internal/board"
)

// validText removes control characters and invalid UTF-8 from a string sent by a client,
// and truncates the result to at most maxLen bytes.
func validText(s string, maxLen int) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	if len(s) > maxLen {
		s = strings.ToValidUTF8(s[:maxLen], "")
	}
	return s
}

// Profile returns the caller's own account.
func (v *View) Profile(ctx context.Context) (board.Profile, error) {
	return v.ProfileOf(ctx, v.caller.UserID)
}

// ProfileOf returns a person's account. It does not check permissions: the caller must
// have verified that the account belongs to the person who makes the request.
func (v *View) ProfileOf(ctx context.Context, userID string) (board.Profile, error) {
	var (
		p        board.Profile
		operator int
	)
	found, err := v.one(ctx, `SELECT id, name, email, time_zone, theme, language, verified_at IS NOT NULL, COALESCE(password_hash,
		'') <> '', operator, avatar
		FROM users WHERE id = $1 AND deleted_at IS NULL`,
		[]any{userID}, &p.ID, &p.Name, &p.Email, &p.TimeZone, &p.Theme, &p.Language, &p.Verified, &p.HasPassword, &operator, &p.Avatar)
	if err == nil && !found {
		err = board.NotFound()
	}
	p.Operator = operator != 0 || v.isOperator(p)
	return p, err
}

// UpdateProfile writes the caller's name, time zone, theme and language.
func (tx *Tx) UpdateProfile(ctx context.Context, p board.Profile) error {
	return tx.exec(ctx, "UPDATE users SET name = $1, time_zone = $2, theme = $3, language = $4 WHERE id = $5", p.Name, p.TimeZone,
		string(p.Theme), p.Language, tx.caller.UserID)
}

// PasswordOf returns the id and the password hash of the account with the given email
// address. Both are empty if there is no such account. The hash is empty if the account
// has no password.
func (v *View) PasswordOf(ctx context.Context, email string) (userID, hash string, err error) {
	_, err = v.one(ctx, "SELECT id, COALESCE(password_hash, '') FROM users WHERE email = $1 AND deleted_at IS NULL",
		[]any{email}, &userID, &hash)
	return userID, hash, err
}

// LockPassword reports whether a person's password still has the given hash, which the
// caller checked before this transaction. If so, the password cannot change until the
// transaction ends.
func (tx *Tx) LockPassword(ctx context.Context, userID, hash string) (same bool, err error) {
	n, err := tx.affected(ctx, "UPDATE users SET password_hash = password_hash WHERE id = $1 AND password_hash = $2 "+
		"AND deleted_at IS NULL", userID, hash)
	return n == 1, err
}

// InsertSignUp writes a sign-up, which becomes an account when its email address is
// verified.
func (tx *Tx) InsertSignUp(ctx context.Context, s board.SignUp) error {
	return tx.exec(ctx, "INSERT INTO sign_ups (id, email, name, password_hash, time_zone, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
		s.ID, s.Email, s.Name, s.PasswordHash, s.TimeZone, int64(tx.now))
}

// CountSignUps returns the number of sign-ups with the given email address whose link may
// still work.
func (v *View) CountSignUps(ctx context.Context, email string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM sign_ups WHERE email = $1 AND created_at > $2", email,
		int64(v.now)-board.VerifyLifetime.Milliseconds())
}

const signUpColumns = "SELECT s.id, s.email, s.name, s.password_hash, s.time_zone, s.created_at FROM sign_ups s "

func (v *View) signUp(ctx context.Context, where string, args ...any) (board.SignUp, error) {
	var s board.SignUp
	found, err := v.one(ctx, signUpColumns+where, args, &s.ID, &s.Email, &s.Name, &s.PasswordHash, &s.TimeZone, &s.CreatedAt)
	if err == nil && !found {
		err = board.NotFound()
	}
	return s, err
}

// SignUp returns the sign-up with the given id. It does not check permissions.
func (v *View) SignUp(ctx context.Context, id string) (board.SignUp, error) {
	return v.signUp(ctx, "WHERE s.id = $1", id)
}

// SignUpOf returns the sign-up that a secret verifies. It returns a not_found error if
// the secret is unknown or has expired.
func (v *View) SignUpOf(ctx context.Context, secret string) (board.SignUp, error) {
	return v.signUp(ctx, "JOIN account_secrets k ON k.sign_up_id = s.id WHERE k.hash = $1 AND k.kind = 'verify' "+
		"AND k.expires_at > $2", board.SecretHash(secret), int64(v.now))
}

// DeleteSignUp deletes a sign-up. Its secrets stop working.
func (tx *Tx) DeleteSignUp(ctx context.Context, id string) error {
	return tx.exec(ctx, "DELETE FROM sign_ups WHERE id = $1", id)
}

// DeleteSignUps deletes all sign-ups with the given email address.
func (tx *Tx) DeleteSignUps(ctx context.Context, email string) error {
	return tx.exec(ctx, "DELETE FROM sign_ups WHERE email = $1", email)
}

// AddVerifySecret adds a secret that verifies a sign-up. The secret expires after
// board.VerifyLifetime.
func (tx *Tx) AddVerifySecret(ctx context.Context, s board.SignUp, secret string) error {
	return tx.exec(ctx, "INSERT INTO account_secrets (hash, kind, sign_up_id, created_at, expires_at) VALUES ($1, 'verify', $2, $3, $4)",
		board.SecretHash(secret), s.ID, int64(tx.now), int64(tx.now)+board.VerifyLifetime.Milliseconds())
}

// AddResetSecret adds a secret that resets a person's password. The secret expires after
// board.ResetLifetime.
func (tx *Tx) AddResetSecret(ctx context.Context, userID, secret string) error {
	return tx.exec(ctx, "INSERT INTO account_secrets (hash, kind, user_id, created_at, expires_at) VALUES ($1, 'reset', $2, $3, $4)",
		board.SecretHash(secret), userID, int64(tx.now), int64(tx.now)+board.ResetLifetime.Milliseconds())
}

// CountResets returns the number of reset secrets of a person that still work.
func (v *View) CountResets(ctx context.Context, userID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM account_secrets WHERE user_id = $1 AND kind = 'reset' AND expires_at > $2", userID, int64(v.now))
}

// UserOfReset returns the id of the person whose password a secret can reset, or "" if
// the secret is unknown or has expired.
func (v *View) UserOfReset(ctx context.Context, secret string) (userID string, err error) {
	_, err = v.one(ctx, "SELECT k.user_id FROM account_secrets k JOIN users u ON u.id = k.user_id WHERE k.hash = $1 "+
		"AND k.kind = 'reset' AND k.expires_at > $2 AND u.deleted_at IS NULL",
		[]any{board.SecretHash(secret), int64(v.now)}, &userID)
	return userID, err
}

// DeleteResetSecrets deletes all reset secrets of a person. It returns false if there
// were none, for example because another transaction has just deleted them.
func (tx *Tx) DeleteResetSecrets(ctx context.Context, userID string) (bool, error) {
	n, err := tx.affected(ctx, "DELETE FROM account_secrets WHERE user_id = $1 AND kind = 'reset'", userID)
	return n > 0, err
}

// UserOfIdentity returns the id of the account that is linked to the given subject of an
// identity provider, or "" if there is none.
func (v *View) UserOfIdentity(ctx context.Context, issuer, subject string) (userID string, err error) {
	_, err = v.one(ctx, "SELECT i.user_id FROM identities i JOIN users u ON u.id = i.user_id WHERE i.issuer = $1 AND i.subject = $2 "+
		"AND u.deleted_at IS NULL", []any{issuer, subject}, &userID)
	return userID, err
}

// InsertIdentity links the caller's account to a subject of an identity provider. It does
// nothing if the subject is already linked to an account.
func (tx *Tx) InsertIdentity(ctx context.Context, issuer, subject string) error {
	return tx.exec(ctx, "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4) "+
		"ON CONFLICT DO NOTHING", issuer, subject, tx.caller.UserID, int64(tx.now))
}

// CountOwnedWorkspaces returns the number of workspaces that the caller owns.
func (v *View) CountOwnedWorkspaces(ctx context.Context) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM workspace_members WHERE user_id = $1 AND role = 'owner'", v.caller.UserID)
}

// WorkspaceName returns the name of a workspace. It does not check permissions: the caller
// must hold the secret of an invitation to the workspace.
func (v *View) WorkspaceName(ctx context.Context, id string) (name string, err error) {
	_, err = v.one(ctx, "SELECT name FROM workspaces WHERE id = $1", []any{id}, &name)
	return name, err
}

// UpdateWorkspace writes the name of a workspace.
func (tx *Tx) UpdateWorkspace(ctx context.Context, w board.Workspace) error {
	return tx.exec(ctx, "UPDATE workspaces SET name = $1 WHERE id = $2", w.Name, w.ID)
}

// PurgeAccounts deletes expired sessions, sign-ups, account secrets, challenges and known
// devices, and the records of invitation emails that no longer count. It deletes at most
// limit rows of each kind. It returns the number of rows deleted.
func (tx *Tx) PurgeAccounts(ctx context.Context, limit int) (n int64, err error) {
	lastUsed, created := tx.sessionLimits()
	for _, old := range []struct {
		table, key, where string
		args              []any
	}{
		{"challenges", "id", "expires_at < $2", []any{int64(tx.now)}},
		{"account_secrets", "hash", "expires_at < $2", []any{int64(tx.now)}},
		{"invitation_emails", "id", "created_at < $2", []any{int64(tx.now) - invitationWindow.Milliseconds()}},
		{"sign_ups", "id", "created_at < $2", []any{int64(tx.now) - (2 * board.VerifyLifetime).Milliseconds()}},
		{"known_devices", "id", "last_used_at < $2", []any{int64(tx.now) - deviceLifetime.Milliseconds()}},
		{"sessions", "id", "last_used_at < $2 OR created_at < $3", []any{lastUsed, created}},
	} {
		deleted, err := tx.purge(ctx, old.table, old.key, old.where, limit, old.args...)
		if err != nil {
			return n, err
		}
		n += deleted
	}
	return n, nil
}
