package connect

import (
	"context"
	"net/http"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// revoke is the revocation endpoint (RFC 7009, 2). Given an access token or a
// refresh token it revokes both. A token that is unknown, or that was not issued
// to an app, gets the same response as one that is already revoked.
func (d *endpoints) revoke(ctx context.Context, w http.ResponseWriter, r *http.Request, _ string) error {
	form, err := formOf(w, r)
	if err != nil {
		return err
	}
	text, client := form.Get("token"), form.Get("client_id")
	switch {
	case text == "":
		return refuse(invalidRequest, "token is missing.")
	case client == "":
		return refuse(invalidRequest, "client_id is missing.")
	}
	if err := d.db.Write(ctx, board.Nobody(), func(tx *store.Tx) error {
		g, err := grantOf(ctx, tx, text)
		switch {
		case board.IsCode(err, board.CodeNotFound):
			return nil
		case err != nil:
			return err
		case g.ClientID != client: // RFC 7009, 2.1
			return refuse(invalidGrant, "The token was issued to another client.")
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

// grantOf finds a grant by its access token or refresh token, regardless of
// token_type_hint. A refresh token that was already used also finds it.
func grantOf(ctx context.Context, tx *store.Tx, text string) (board.Grant, error) {
	if family, ok := board.FamilyOf(text); ok {
		return tx.GrantOfRefresh(ctx, board.SecretHash(family), board.SecretHash(text))
	}
	if hash, ok := board.TokenHash(text); ok {
		return tx.GrantOfToken(ctx, hash)
	}
	return board.Grant{}, board.NotFound()
}
