package connect

import (
	"context"
	"net/http"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// revoke is the revocation endpoint (RFC 7009, 2). Given an access token or a
// refresh token, it revokes both. For a token that is unknown or that was not
// issued to an app, it responds as if the token had already been revoked.
func (d *endpoints) revoke(ctx context.Context, w http.ResponseWriter, r *http.Request, _ string) error {
	form, err := formOf(w, r)
	if err != nil {
		return err
	}
	text, client := form.Get("token"), form.Get("client_id")
	switch {
	case text == "":
		return newError(invalidRequest, "token is missing.")
	case client == "":
		return newError(invalidRequest, "client_id is missing.")
	}
	if err := d.db.Write(ctx, board.Nobody(), func(tx *store.Tx) error {
		g, err := grantOf(ctx, tx, text)
		switch {
		case board.IsCode(err, board.CodeNotFound):
			return nil
		case err != nil:
			return err
		case g.ClientID != client: // RFC 7009, 2.1
			return newError(invalidGrant, "The token was issued to another client.")
		case g.Ended:
			return nil
		}
		tx.ActAs(g.UserID)
		if err := tx.EndGrant(ctx, g.TokenID); err != nil {
			return err
		}
		return tx.Audit(ctx, "disconnect_app", g.TokenID)
	}); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, struct{}{})
	return nil
}

// grantOf returns the grant of an access token or a refresh token. It ignores
// token_type_hint. The refresh token may be one that was already used.
func grantOf(ctx context.Context, tx *store.Tx, text string) (board.Grant, error) {
	if family, ok := board.FamilyOf(text); ok {
		return tx.GrantOfRefresh(ctx, board.SecretHash(family), board.SecretHash(text))
	}
	if hash, ok := board.TokenHash(text); ok {
		return tx.GrantOfToken(ctx, hash)
	}
	return board.Grant{}, board.NotFound()
}
