package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"cardwall/internal/board"
)

// User returns the caller's own account. It returns an unauthenticated error if the
// account has just been deleted.
func (v *View) User(ctx context.Context) (board.User, error) {
	var u board.User
	found, err := v.one(ctx, "SELECT id, name, COALESCE(email, ''), time_zone, created_at FROM users WHERE id = $1 AND deleted_at IS NULL",
		[]any{v.caller.UserID}, &u.ID, &u.Name, &u.Email, &u.TimeZone, &u.CreatedAt)
	if err == nil && !found {
		err = board.Unauthenticated()
	}
	return u, err
}

// AddressOf returns the email address of an account, or "" if the account was
// deleted.
func (v *View) AddressOf(ctx context.Context, userID string) (address string, err error) {
	_, err = v.one(ctx, "SELECT COALESCE(email, '') FROM users WHERE id = $1 AND deleted_at IS NULL", []any{userID}, &address)
	return address, err
}

// UserByEmail returns the account with the given email address. It returns a not_found
// error if there is no such account. It does not check permissions.
func (v *View) UserByEmail(ctx context.Context, email string) (board.User, error) {
	var u board.User
	found, err := v.one(ctx, "SELECT id, name, email, time_zone, created_at FROM users WHERE email = $1 AND deleted_at IS NULL",
		[]any{email}, &u.ID, &u.Name, &u.Email, &u.TimeZone, &u.CreatedAt)
	if err == nil && !found {
		err = board.NotFound()
	}
	return u, err
}

// InsertUser stores a new account. Its owner or an operator must have verified the email
// address. InsertUser returns an invalid_request error if the address is in use.
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

// DeleteUser deletes an account. Its tokens and credentials stop working. Content that the
// person wrote remains, without the person's name.
func (tx *Tx) DeleteUser(ctx context.Context, userID string) error {
	tx.regrant(userID)
	for _, table := range []string{"sessions", "passkeys", "identities", "account_secrets",
		"notification_settings", "card_watches", "calendar_feeds", "known_devices", "avatars"} {
		if err := tx.exec(ctx, "DELETE FROM "+table+" WHERE user_id = $1", userID); err != nil {
			return err
		}
	}
	// PurgeNotifications deletes the rest later. Notifications that are due by email are
	// deleted now, so that they are never sent.
	if err := tx.exec(ctx, "DELETE FROM notifications WHERE user_id = $1 AND (mail_at IS NOT NULL OR id IN (SELECT id "+
		"FROM notifications WHERE user_id = $1 LIMIT $2))", userID, maxDeletedNotifications); err != nil {
		return err
	}
	n, err := tx.affected(ctx, "UPDATE users SET deleted_at = $1, email = NULL, password_hash = NULL, name = 'Deleted user', avatar = NULL "+
		"WHERE id = $2 AND deleted_at IS NULL", int64(tx.now), userID)
	if err == nil && n == 0 {
		err = board.NotFound()
	}
	return err
}

// maxDeletedNotifications is the maximum number of notifications that DeleteUser
// deletes, in addition to notifications that are due by email.
const maxDeletedNotifications = 2000

// PurgeNotifications deletes at most limit notifications of deleted accounts. It returns
// the number of notifications deleted.
func (tx *Tx) PurgeNotifications(ctx context.Context, limit int) (int64, error) {
	return tx.affected(ctx, "DELETE FROM notifications WHERE id IN (SELECT n.id FROM users u JOIN notifications n ON n.user_id = u.id "+
		"WHERE u.deleted_at IS NOT NULL LIMIT $1)", limit)
}

// InsertToken stores a new token with the hash of its secret.
func (tx *Tx) InsertToken(ctx context.Context, userID string, t *board.Token, hash []byte) error {
	t.CreatedAt = tx.now
	return tx.exec(ctx, "INSERT INTO tokens (id, user_id, name, hash, last_four, scopes, workspace_id, created_at, expires_at) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		t.ID, userID, t.Name, hash, t.LastFour, joined(t.Scopes), t.WorkspaceID, int64(tx.now), null(t.ExpiresAt))
}

// RevokeTokens revokes all tokens of a user with the given name. It returns the number of
// tokens revoked.
func (tx *Tx) RevokeTokens(ctx context.Context, userID, name string) (int64, error) {
	return tx.affected(ctx, "UPDATE tokens SET revoked_at = $1 WHERE user_id = $2 AND name = $3 AND revoked_at IS NULL",
		int64(tx.now), userID, name)
}

// RevokeToken revokes a token. It returns a not_found error if there is no such token or
// it was already revoked.
func (tx *Tx) RevokeToken(ctx context.Context, id string) error {
	n, err := tx.affected(ctx, "UPDATE tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL", int64(tx.now), id)
	if err == nil && n == 0 {
		err = board.NotFound()
	}
	return err
}

// RevokeOwnToken is RevokeToken for one of the caller's own tokens.
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

// UsedTokens returns a page of the caller's valid tokens with their last use, newest
// first. If before is not "", it returns only tokens older than the token with that id.
// It omits the tokens of OAuth clients, which ConnectedApps returns.
func (v *View) UsedTokens(ctx context.Context, before string, limit int) ([]board.UsedToken, error) {
	return v.tokens(ctx, v.caller.UserID, "AND ($3 = '' OR id < $3) AND NOT EXISTS (SELECT 1 FROM oauth_grants g "+
		"WHERE g.token_id = tokens.id) ORDER BY id DESC LIMIT $4", before, limit)
}

func (v *View) tokens(ctx context.Context, userID, condition string, args ...any) ([]board.UsedToken, error) {
	out := []board.UsedToken{}
	err := v.each(ctx, `SELECT id, name, scopes, workspace_id, expires_at, last_four, created_at, last_used_at FROM tokens
		WHERE user_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) `+condition,
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

// Token returns the token that the caller authenticated with. It returns an
// unauthenticated error if the token has just been revoked.
func (v *View) Token(ctx context.Context) (board.Token, error) {
	tokens, err := v.Tokens(ctx, v.caller.UserID)
	for _, t := range tokens {
		if t.ID == v.caller.TokenID {
			return t, nil
		}
	}
	if err == nil {
		err = board.Unauthenticated()
	}
	return board.Token{}, err
}

// tokenValid returns an SQL condition that is true if the token t of the user u is valid.
// Now is the number of the parameter that holds the current time.
func tokenValid(now int) string {
	return "t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > $" + strconv.Itoa(now) + `) AND u.deleted_at IS NULL
		AND (t.workspace_id IS NULL OR EXISTS (SELECT 1 FROM workspace_members m WHERE m.workspace_id = t.workspace_id
		AND m.user_id = t.user_id))`
}

// CallerOfToken returns the caller that is authenticated by the token whose secret has the
// given hash. The caller has the token's scopes and workspace, and the best plan of the
// organizations that the token can access. It returns found = false if the token was
// revoked or has expired, its owner's account was deleted, or its owner has left the
// workspace that the token is restricted to.
func (v *View) CallerOfToken(ctx context.Context, hash []byte) (c board.Caller, found bool, err error) {
	var (
		scopes    string
		workspace sql.NullString
	)
	found, err = v.one(ctx, `SELECT t.id, t.name, t.user_id, t.scopes, t.workspace_id,
		EXISTS (SELECT 1 FROM oauth_grants g WHERE g.token_id = t.id) FROM tokens t JOIN users u ON u.id = t.user_id
		WHERE t.hash = $1 AND `+tokenValid(2),
		[]any{hash, int64(v.now)}, &c.TokenID, &c.TokenName, &c.UserID, &scopes, &workspace, &c.Connected)
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

// SetPassword stores the password hash of an account.
func (tx *Tx) SetPassword(ctx context.Context, userID, hash string) error {
	return tx.exec(ctx, "UPDATE users SET password_hash = $1 WHERE id = $2", hash, userID)
}
