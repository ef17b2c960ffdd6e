package main

import (
	"context"
	"fmt"

	"cardwall/internal/account"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// printFirstAccountLink prints a link for creating the first account, if the server
// has no accounts. The link is a secret, so it goes to standard output and not to
// the log.
func printFirstAccountLink(ctx context.Context, g *globals, db *store.DB) error {
	empty, link := false, ""
	err := db.Read(ctx, board.System(), func(v *store.View) (err error) {
		empty, err = v.HasNoUsers(ctx)
		return err
	})
	if err == nil && empty {
		err = db.Write(ctx, board.System(), func(tx *store.Tx) (err error) {
			link, err = account.FirstLink(ctx, tx)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("create the link for the first account: %w", err)
	}
	if link == "" {
		return nil
	}
	_, err = fmt.Fprintf(g.stdout, "This server has no accounts yet. Open this link to create the first one.\n"+
		"The person who does so becomes an operator of the server. The link expires in a week:\n\n  %s\n\n", link)
	return err
}
