package main

import (
	"context"

	"cardwall/internal/store"
)

type migrateCommand struct{}

func (migrateCommand) Help() string {
	return "Behind a copy of the file (SQLite) or a lease (PostgreSQL). The server does the same when it starts."
}

func (migrateCommand) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(db *store.DB) error {
		g.print("The schema of the %s database is up to date.", db.Dialect())
		return nil
	})
}
