package connect

import (
	"context"
	"net/http"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// revoke ends what a program has, by its access token or its refresh token (RFC
// 7009, 2): both at once, for what is given back is the consent. A token that is
// unknown, or that a person made by hand, is answered like one that has ended.
func (d *door) revoke(ctx context.Context, w http.ResponseWriter, r *http.Request, _ string) error {
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
			return refuse(invalidGrant, "The token was given to another client.")
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
	answer(w, http.StatusOK, struct{}{})
	return nil
}

// grantOf finds a grant by either of its tokens, whatever token_type_hint says. A
// refresh token that was used finds it too: it is a holder's wish to end it.
func grantOf(ctx context.Context, tx *store.Tx, text string) (board.Grant, error) {
	if family, ok := board.FamilyOf(text); ok {
		return tx.GrantOfRefresh(ctx, board.SecretHash(family), board.SecretHash(text))
	}
	if hash, ok := board.TokenHash(text); ok {
		return tx.GrantOfToken(ctx, hash)
	}
	return board.Grant{}, board.NotFound()
}
