package main

import (
	"context"
	"errors"

	"cardwall/internal/store"
)

type doctorCommand struct{}

func (doctorCommand) Help() string {
	return "Compares versions, counts and ranks with the records that they stand for. Exits non-zero when something is wrong."
}

func (doctorCommand) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(db *store.DB) error {
		findings, err := db.Examine(ctx)
		if err != nil {
			return err
		}
		for _, f := range findings {
			g.print("%s", f)
		}
		if len(findings) > 0 {
			return errors.New("the data is not sound; restore the latest backup, or mend what the lines above name")
		}
		g.print("The data is sound.")
		return nil
	})
}
