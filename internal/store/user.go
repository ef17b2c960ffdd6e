package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"cardwall/internal/board"
)

// User returns the caller's own account.
func (v *View) User(ctx context.Context) (board.User, error) {
	var u board.User
	found, err := v.one(ctx, "SELECT id, name, COALESCE(email, ''), time_zone, created_at FROM users WHERE id = $1 AND deleted_at IS NULL",
		[]any{v.caller.UserID}, &u.ID, &u.Name, &u.Email, &u.TimeZone, &u.CreatedAt)
	if err == nil && !found {
		err = board.NotFound()
	}
	return u, err
}

// AddressOf returns the email address of an account, or "" if the account was
// deleted.
func (v *View) AddressOf(ctx context.Context, userID string) (address string, err error) {
	_, err = v.one(ctx, "SELECT COALESCE(email, '') FROM users WHERE id = $1 AND deleted_at IS NULL", []any{userID}, &address)
	return address, err
}

// UserByEmail returns the account with an email address. It is for operators and for
// sign-in.
func (v *View) UserByEmail(ctx context.Context, email string) (board.User, error) {
	var u board.User
	found, err := v.one(ctx, "SELECT id, name, email, time_zone, created_at FROM users WHERE email = $1 AND deleted_at IS NULL",
		[]any{email}, &u.ID, &u.Name, &u.Email, &u.TimeZone, &u.CreatedAt)
	if err == nil && !found {
		err = board.NotFound()
	}
	return u, err
}

// InsertUser writes a new account whose email address is verified, by its owner or by
// an operator. It returns an error if the address is in use.
func (tx *Tx) InsertUser(ctx context.Context, u *board.User, passwordHash string) error {
	u.CreatedAt = tx.now
	n, err := tx.affected(ctx, "INSERT INTO users (id, email, name, password_hash, time_zone, created_at, verified_at) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT DO NOTHING",
		u.ID, u.Email, u.Name, null(passwordHash), u.TimeZone, int64(tx.now))
	if err == nil && n == 0 {
		err = board.Invalid("email is taken: there is an account with the address %s.", u.Email).
			In("email", board.RuleValue)
	}
	return err
}

// DeleteUser deletes an account. Its tokens and credentials stop working. What the
// person wrote stays, without the name.
func (tx *Tx) DeleteUser(ctx context.Context, userID string) error {
	tx.regrant(userID)
	for _, table := range []string{"sessions", "passkeys", "identities", "account_secrets",
		"notification_settings", "card_watches", "calendar_feeds", "known_devices"} {
		if err := tx.exec(ctx, "DELETE FROM "+table+" WHERE user_id = $1", userID); err != nil {
			return err
		}
	}
	// Those that wait to be emailed, and others; housekeeping deletes the rest.
	if err := tx.exec(ctx, "DELETE FROM notifications WHERE user_id = $1 AND (mail_at IS NOT NULL OR id IN (SELECT id "+
		"FROM notifications WHERE user_id = $1 LIMIT $2))", userID, notificationsDeleted); err != nil {
		return err
	}
	n, err := tx.affected(ctx, "UPDATE users SET deleted_at = $1, email = NULL, password_hash = NULL, name = 'Deleted user' "+
		"WHERE id = $2 AND deleted_at IS NULL", int64(tx.now), userID)
	if err == nil && n == 0 {
		err = board.NotFound()
	}
	return err
}

// notificationsDeleted is the most notifications that are deleted with an account.
const notificationsDeleted = 2000

// PurgeNotifications deletes notifications of deleted accounts, at most limit.
func (tx *Tx) PurgeNotifications(ctx context.Context, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM notifications WHERE id IN (SELECT n.id FROM users u JOIN notifications n ON n.user_id = u.id "+
		"WHERE u.deleted_at IS NOT NULL LIMIT $1)", limit)
}

// InsertToken writes a new token by its hash.
func (tx *Tx) InsertToken(ctx context.Context, userID string, t *board.Token, hash []byte) error {
	t.CreatedAt = tx.now
	return tx.exec(ctx, "INSERT INTO tokens (id, user_id, name, hash, last_four, scopes, workspace_id, created_at, expires_at) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		t.ID, userID, t.Name, hash, t.LastFour, joined(t.Scopes), t.WorkspaceID, int64(tx.now), null(t.ExpiresAt))
}

// RevokeTokens revokes the tokens of a user with a name, and returns how many.
func (tx *Tx) RevokeTokens(ctx context.Context, userID, name string) (int64, error) {
	return tx.affected(ctx, "UPDATE tokens SET revoked_at = $1 WHERE user_id = $2 AND name = $3 AND revoked_at IS NULL",
		int64(tx.now), userID, name)
}

// RevokeToken revokes a token. It returns CodeNotFound if there is no such token or it
// is revoked already.
func (tx *Tx) RevokeToken(ctx context.Context, id string) error {
	n, err := tx.affected(ctx, "UPDATE tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL", int64(tx.now), id)
	if err == nil && n == 0 {
		err = board.NotFound()
	}
	return err
}

// RevokeOwnToken is RevokeToken for a token of the caller.
func (tx *Tx) RevokeOwnToken(ctx context.Context, id string) error {
	n, err := tx.affected(ctx, "UPDATE tokens SET revoked_at = $1 WHERE id = $2 AND user_id = $3 AND revoked_at IS NULL",
		int64(tx.now), id, tx.caller.UserID)
	if err == nil && n == 0 {
		err = board.NotFound()
	}
	return err
}

// Tokens returns the valid tokens of a user, newest first.
func (v *View) Tokens(ctx context.Context, userID string) ([]board.Token, error) {
	used, err := v.tokens(ctx, userID, "ORDER BY id DESC")
	out := make([]board.Token, len(used))
	for i, t := range used {
		out[i] = t.Token
	}
	return out, err
}

// UsedTokens returns a page of the caller's valid tokens, newest first, before the
// given one. It leaves out those of OAuth clients, which ConnectedApps returns.
func (v *View) UsedTokens(ctx context.Context, before string, limit int) ([]board.UsedToken, error) {
	return v.tokens(ctx, v.caller.UserID, "AND ($3 = '' OR id < $3) AND NOT EXISTS (SELECT 1 FROM oauth_grants g "+
		"WHERE g.token_id = tokens.id) ORDER BY id DESC LIMIT $4", before, limit)
}

func (v *View) tokens(ctx context.Context, userID, which string, args ...any) ([]board.UsedToken, error) {
	out := []board.UsedToken{}
	err := v.each(ctx, `SELECT id, name, scopes, workspace_id, expires_at, last_four, created_at, last_used_at FROM tokens
		WHERE user_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) `+which,
		append([]any{userID, int64(v.now)}, args...), func(rows *sql.Rows) error {
			var (
				t      board.UsedToken
				scopes string
			)
			err := rows.Scan(&t.ID, &t.Name, &scopes, &t.WorkspaceID, &t.ExpiresAt, &t.LastFour, &t.CreatedAt, &t.LastUsedAt)
			t.Scopes = scopesOf(scopes)
			out = append(out, t)
			return err
		})
	return out, err
}

// Token returns the token that the caller authenticated with.
func (v *View) Token(ctx context.Context) (board.Token, error) {
	tokens, err := v.Tokens(ctx, v.caller.UserID)
	for _, t := range tokens {
		if t.ID == v.caller.TokenID {
			return t, nil
		}
	}
	if err == nil {
		err = board.NotFound()
	}
	return board.Token{}, err
}

// tokenLives returns the condition that a token is valid, where now is the number of
// the parameter with the time.
func tokenLives(now int) string {
	return "t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > $" + strconv.Itoa(now) + `) AND u.deleted_at IS NULL
		AND (t.workspace_id IS NULL OR EXISTS (SELECT 1 FROM workspace_members m WHERE m.workspace_id = t.workspace_id
		AND m.user_id = t.user_id))`
}

// CallerOfToken returns the caller of a token by its hash, with its scopes, its
// workspace and the best plan of the organizations that it can reach. Found is false
// if the token is revoked or expired, its owner's account was deleted, or its owner
// has left the workspace that it is limited to.
func (v *View) CallerOfToken(ctx context.Context, hash []byte) (board.Caller, bool, error) {
	var (
		c         board.Caller
		scopes    string
		workspace sql.NullString
	)
	found, err := v.one(ctx, `SELECT t.id, t.name, t.user_id, t.scopes, t.workspace_id FROM tokens t JOIN users u ON u.id = t.user_id
		WHERE t.hash = $1 AND `+tokenLives(2),
		[]any{hash, int64(v.now)}, &c.TokenID, &c.TokenName, &c.UserID, &scopes, &workspace)
	if err != nil || !found {
		return board.Caller{}, false, err
	}
	c.WorkspaceID = workspace.String
	c.Scopes = scopesOf(scopes)
	userID := c.UserID
	c.Actor = board.Actor{Type: board.ActorPerson, ID: &userID}
	err = v.each(ctx, `SELECT DISTINCT o.plan FROM workspace_members m JOIN workspaces w ON w.id = m.workspace_id
		JOIN organizations o ON o.id = w.organization_id
		WHERE m.user_id = $1 AND ($2 = '' OR w.id = $2)`, []any{c.UserID, c.WorkspaceID}, func(rows *sql.Rows) error {
		var p board.Plan
		err := rows.Scan(&p)
		c.Plan = p.Best(c.Plan)
		return err
	})
	return c, true, err
}

// TouchToken records that a token was used.
func (tx *Tx) TouchToken(ctx context.Context, id string) error {
	return tx.exec(ctx, "UPDATE tokens SET last_used_at = $1 WHERE id = $2", int64(tx.now), id)
}

func scopesOf(text string) []board.Scope {
	var out []board.Scope
	for _, w := range strings.Fields(text) {
		out = append(out, board.Scope(w))
	}
	return out
}

// SetPassword writes the password hash of an account.
func (tx *Tx) SetPassword(ctx context.Context, userID, hash string) error {
	return tx.exec(ctx, "UPDATE users SET password_hash = $1 WHERE id = $2", hash, userID)
}
