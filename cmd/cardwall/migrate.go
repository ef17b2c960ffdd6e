package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cardwall/internal/store"
)

type migrateCommand struct {
	From   string `placeholder:"sqlite" help:"Move the data: from the SQLite file of the data folder. With --to alone it is understood."`
	To     string `placeholder:"postgres://…" help:"Move the data: to this empty PostgreSQL database."`
	DryRun bool   `help:"Say what a move would do and how long it would take, and end."`
}

func (migrateCommand) Help() string {
	return "Alone, it brings the database's schema up to date: behind a copy of the file (SQLite) or a lease (PostgreSQL). The server does the same when it starts.\n\n" +
		"With --to it moves all data from SQLite to PostgreSQL. A server may run on the file meanwhile: it goes on reading, and answers writes with 503 until it is started again on PostgreSQL. " +
		"Interrupted, nothing has moved; run it again.\n\n" +
		"Examples:\n  cardwall migrate\n  cardwall migrate --from sqlite --to postgres://cardwall@db/cardwall --dry-run\n  cardwall migrate --from sqlite --to postgres://cardwall@db/cardwall"
}

func (c *migrateCommand) Run(ctx context.Context, g *globals) error {
	if c.To != "" || c.From != "" || c.DryRun {
		return c.move(ctx, g)
	}
	return g.with(ctx, func(db *store.DB) error {
		g.print("The schema of the %s database is up to date.", db.Dialect())
		return nil
	})
}

func (c *migrateCommand) move(ctx context.Context, g *globals) error {
	switch {
	case !store.IsPostgres(c.To):
		return errors.New("--to must be postgres://…; from PostgreSQL to SQLite lead cardwall backup and cardwall restore")
	case c.From != "" && c.From != "sqlite":
		return errors.New("--from must be sqlite: the file cardwall.db of the data folder")
	}
	done, err := store.Relocate(ctx, store.RelocateOptions{
		From: filepath.Join(g.Data, "cardwall.db"), To: c.To, DryRun: c.DryRun, Clock: time.Now, Progress: g.say,
		Plan: func(p store.Plan) {
			g.print("To move: %d rows of %d tables, %s of SQLite. It will take about %s, by a sample.", p.Rows, p.Tables, size(p.Bytes), p.Takes.Round(100*time.Millisecond))
		},
	})
	switch {
	case err != nil:
		return fmt.Errorf("move to PostgreSQL: %w", err)
	case c.DryRun:
		return nil
	case done.Finished:
		g.print("The data had moved already; PostgreSQL is ready now.")
	default:
		g.print("Moved %d rows of %d tables in %s; counts and checksums of each table are the same.", done.Rows, done.Tables, done.Took.Round(100*time.Millisecond))
	}
	g.print("Start the server with --database and the address that you gave, and with the same secret key. The SQLite file stays as it is now; nothing writes into it any more.")
	return nil
}
