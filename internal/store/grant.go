package store

import (
	"context"
	"crypto/subtle"
	"database/sql"

	"cardwall/internal/board"
)

// forUpdate extends a query to lock the row that it finds until the transaction ends.
// SQLite has only one writer and needs no lock.
func (tx *Tx) forUpdate(text string) string {
	if tx.db.dialect().RowLocks {
		return text + " FOR UPDATE"
	}
	return text
}

// ownerExists is an SQL condition that is true if the account of a row's user_id was not
// deleted.
const ownerExists = "EXISTS (SELECT 1 FROM users u WHERE u.id = user_id AND u.deleted_at IS NULL)"

// InsertCode stores an authorization code under its hash.
func (tx *Tx) InsertCode(ctx context.Context, hash []byte, c board.AuthorizationCode) error {
	return tx.exec(ctx, `INSERT INTO oauth_codes (hash, client_id, client_name, host, resource, scopes, user_id, workspace_id,
		refreshes, redirect_uri, challenge, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		hash, c.ClientID, c.ClientName, c.Host, c.Resource, joined(c.Scopes), c.UserID, null(c.WorkspaceID), flag(c.Refreshes),
		c.RedirectURI, c.Challenge, int64(tx.now)+board.CodeLifetime.Milliseconds())
}

// Code loads an authorization code by its hash and locks it. If two transactions redeem
// the same code, the second one finds the token that the first one created. A code counts
// as expired if its owner's account was deleted.
func (tx *Tx) Code(ctx context.Context, hash []byte) (board.AuthorizationCode, error) {
	var (
		c                board.AuthorizationCode
		scopes           string
		workspace, token sql.NullString
		exists           bool
		until            board.Instant
	)
	found, err := tx.one(ctx, tx.forUpdate(`SELECT client_id, client_name, host, resource, scopes, user_id, workspace_id,
		refreshes <> 0, redirect_uri, challenge, expires_at, token_id, `+ownerExists+`
		FROM oauth_codes WHERE hash = $1`), []any{hash},
		&c.ClientID, &c.ClientName, &c.Host, &c.Resource, &scopes, &c.UserID, &workspace, &c.Refreshes, &c.RedirectURI, &c.Challenge,
		&until, &token, &exists)
	if err == nil && !found {
		err = board.NotFound()
	}
	c.Scopes, c.WorkspaceID, c.TokenID, c.Expired = scopesOf(scopes), workspace.String, token.String, until <= tx.now || !exists
	return c, err
}

// UseCode records the token that a code was exchanged for.
func (tx *Tx) UseCode(ctx context.Context, hash []byte, tokenID string) error {
	return tx.exec(ctx, "UPDATE oauth_codes SET token_id = $1 WHERE hash = $2", tokenID, hash)
}

// InsertGrant assigns a token to an OAuth client. If family is not nil, the client can
// refresh the token for board.RefreshLifetime. Otherwise the grant ends when the token
// expires.
func (tx *Tx) InsertGrant(ctx context.Context, t board.Token, c board.Consent, family, refresh []byte) error {
	until := int64(tx.now) + board.RefreshLifetime.Milliseconds()
	if family == nil {
		until = int64(*t.ExpiresAt)
	}
	return tx.exec(ctx, "INSERT INTO oauth_grants (token_id, client_id, host, resource, scopes, family, refresh, expires_at) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
		t.ID, c.ClientID, c.Host, c.Resource, joined(c.Scopes), family, refresh, until)
}

// grantColumns selects a grant. $1 is a hash and $2 the current time. If a token is
// restricted to a workspace and its owner has left the workspace, the token is not valid
// (see CallerOfToken) and cannot be refreshed.
const grantColumns = `SELECT g.token_id, g.client_id, t.user_id, g.resource, g.scopes, t.scopes, t.expires_at,
	t.revoked_at IS NOT NULL OR g.expires_at <= $2 OR u.deleted_at IS NOT NULL
		OR t.workspace_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM workspace_members m WHERE m.workspace_id = t.workspace_id
		AND m.user_id = t.user_id)
	FROM oauth_grants g JOIN tokens t ON t.id = g.token_id JOIN users u ON u.id = t.user_id `

func (tx *Tx) grant(ctx context.Context, where string, hash []byte) (g board.Grant, err error) {
	var scopes, tokenScopes string
	found, err := tx.one(ctx, grantColumns+where, []any{hash, int64(tx.now)}, &g.TokenID, &g.ClientID, &g.UserID, &g.Resource,
		&scopes, &tokenScopes, &g.TokenUntil, &g.Ended)
	if err == nil && !found {
		err = board.NotFound()
	}
	g.Scopes, g.TokenScopes = scopesOf(scopes), scopesOf(tokenScopes)
	return g, err
}

// GrantOfRefresh loads the grant of a refresh token and locks it until the transaction
// ends. Family is the hash of the token's family, and refresh the hash of the whole token.
func (tx *Tx) GrantOfRefresh(ctx context.Context, family, refresh []byte) (board.Grant, error) {
	var (
		last  []byte
		until board.Instant
	)
	text := tx.forUpdate("SELECT refresh, expires_at FROM oauth_grants WHERE family = $1")
	if found, err := tx.one(ctx, text, []any{family}, &last, &until); err != nil || !found {
		if err == nil {
			err = board.NotFound()
		}
		return board.Grant{}, err
	}
	g, err := tx.grant(ctx, "WHERE g.family = $1", family)
	g.Current = subtle.ConstantTimeCompare(last, refresh) == 1
	g.Refresh, g.RenewedAt = last, until-board.Instant(board.RefreshLifetime.Milliseconds())
	return g, err
}

// GrantOfToken returns the grant of an access token by its hash. It returns a not_found
// error if the token does not belong to an OAuth client.
func (tx *Tx) GrantOfToken(ctx context.Context, hash []byte) (board.Grant, error) {
	return tx.grant(ctx, "WHERE t.hash = $1", hash)
}

// RenewGrant replaces the access token and the refresh token of a grant. The old tokens
// stop working. It returns false if the access token was revoked in the meantime.
func (tx *Tx) RenewGrant(ctx context.Context, t board.Token, hash, refresh []byte) (renewed bool, err error) {
	n, err := tx.affected(ctx, "UPDATE tokens SET hash = $1, last_four = $2, scopes = $3, expires_at = $4 WHERE id = $5 "+
		"AND revoked_at IS NULL",
		hash, t.LastFour, joined(t.Scopes), null(t.ExpiresAt), t.ID)
	if err != nil || n == 0 {
		return false, err
	}
	return true, tx.exec(ctx, "UPDATE oauth_grants SET refresh = $1, expires_at = $2 WHERE token_id = $3", refresh, int64(tx.now)+
		board.RefreshLifetime.Milliseconds(), t.ID)
}

// EndGrant revokes the token of a grant. It does nothing if the token is already
// revoked.
func (tx *Tx) EndGrant(ctx context.Context, tokenID string) error {
	return tx.exec(ctx, "UPDATE tokens SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL", int64(tx.now), tokenID)
}

// appActive is an SQL condition that is true if the app of the token t and the grant g is
// connected to the account $1 at the time $2.
const appActive = "t.user_id = $1 AND t.revoked_at IS NULL AND g.expires_at > $2"

// ConnectedApps returns a page of the apps that are connected to the caller's account,
// newest first. If before is not "", it returns only apps that were connected before the
// app with that id.
func (v *View) ConnectedApps(ctx context.Context, before string, limit int) ([]board.ConnectedApp, error) {
	out := []board.ConnectedApp{}
	err := v.each(ctx, `SELECT t.id, t.name, g.host, g.scopes, t.workspace_id, t.created_at, t.last_used_at, g.expires_at
		FROM oauth_grants g JOIN tokens t ON t.id = g.token_id WHERE `+appActive+` AND ($3 = '' OR t.id < $3) ORDER BY t.id DESC LIMIT $4`,
		[]any{v.caller.UserID, int64(v.now), before, limit}, func(rows *sql.Rows) error {
			var (
				a      board.ConnectedApp
				scopes string
			)
			err := rows.Scan(&a.ID, &a.Name, &a.Host, &scopes, &a.WorkspaceID, &a.ConnectedAt, &a.LastUsedAt, &a.ExpiresAt)
			a.Scopes = scopesOf(scopes)
			out = append(out, a)
			return err
		})
	return out, err
}

// CountConnectedApps returns the number of apps that are connected to the caller's
// account.
func (v *View) CountConnectedApps(ctx context.Context) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM oauth_grants g JOIN tokens t ON t.id = g.token_id WHERE "+appActive,
		v.caller.UserID, int64(v.now))
}

// IsConnectedApp reports whether a token of the caller belongs to a connected app.
func (v *View) IsConnectedApp(ctx context.Context, tokenID string) (bool, error) {
	n, err := v.count(ctx, "SELECT count(*) FROM oauth_grants g JOIN tokens t ON t.id = g.token_id WHERE "+appActive+
		" AND t.id = $3", v.caller.UserID, int64(v.now), tokenID)
	return n == 1, err
}
