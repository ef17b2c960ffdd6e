package account

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// FirstLink returns a new link for creating the first account of a server, or "" if
// the server already has an account. The link expires after a week, or as soon as an
// account exists. Earlier links remain valid.
func FirstLink(ctx context.Context, tx *store.Tx) (string, error) {
	empty, err := tx.HasNoUsers(ctx)
	if err != nil || !empty {
		return "", err
	}
	secret := board.NewSecret()
	return tx.Link("/first#" + secret), tx.AddFirstSecret(ctx, secret)
}
