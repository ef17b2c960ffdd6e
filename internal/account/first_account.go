package account

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// FirstLink returns a link with which the first account of a server can be made,
// or "" if the server has an account already. The link works for a week, and
// until there is an account.
func FirstLink(ctx context.Context, tx *store.Tx) (string, error) {
	empty, err := tx.WithoutUsers(ctx)
	if err != nil || !empty {
		return "", err
	}
	secret := board.NewSecret()
	return tx.Link("/first#" + secret), tx.AddFirstSecret(ctx, secret)
}
