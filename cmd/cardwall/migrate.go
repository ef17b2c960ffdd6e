package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cardwall/internal/dbtool"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

type migrateCommand struct {
	From   string `placeholder:"sqlite" help:"Source of the data to move. Must be sqlite, the file in the data folder. Implied by --to."`
	To     string `placeholder:"postgres://…" help:"Move data to this empty PostgreSQL database."`
	DryRun bool   `help:"Print what would be moved and how long it would take, without moving anything."`
}

func (migrateCommand) Help() string {
	return "Without flags, migrates the database schema to the version of this program. Before it changes an existing " +
		"SQLite file, it copies the file. In PostgreSQL, it acquires a lease, so that only one program migrates. " +
		"The server does the same when it starts.\n\n" +
		"With --to, moves all data from SQLite to PostgreSQL. A server on the SQLite file can keep running: " +
		"it serves reads, and rejects writes with status 503 until you restart it on PostgreSQL. " +
		"If the move is interrupted, no data is lost. Run the command again to complete it. " +
		"Attached files stay where they are.\n\n" +
		"Examples:\n" +
		"  cardwall migrate\n" +
		"  cardwall migrate --from sqlite --to postgres://cardwall@db/cardwall --dry-run\n" +
		"  cardwall migrate --from sqlite --to postgres://cardwall@db/cardwall"
}

func (c *migrateCommand) Run(ctx context.Context, g *globals) error {
	if c.To != "" || c.From != "" || c.DryRun {
		return c.relocate(ctx, g)
	}
	return g.withStore(ctx, func(db *store.DB) error {
		g.print("The schema of the %s database is up to date.", db.Dialect())
		return nil
	})
}

func (c *migrateCommand) relocate(ctx context.Context, g *globals) error {
	switch {
	case !sqldb.IsPostgres(c.To):
		return errors.New("--to must be postgres://…; to move from PostgreSQL to SQLite, use cardwall backup and cardwall restore")
	case c.From != "" && c.From != "sqlite":
		return errors.New("--from must be sqlite, which is the file cardwall.db in the data folder")
	}
	done, err := dbtool.Relocate(ctx, dbtool.RelocateOptions{
		From: filepath.Join(g.Data, "cardwall.db"), To: c.To, DryRun: c.DryRun, Clock: time.Now, Progress: g.reportProgress,
		Plan: func(p dbtool.Plan) {
			g.print("To move: %d rows in %d tables, %s in SQLite. Estimated time, from a sample: %s.",
				p.Rows, p.Tables, formatSize(p.Bytes), p.Estimate.Round(100*time.Millisecond))
		},
	})
	switch {
	case err != nil:
		return fmt.Errorf("move to PostgreSQL: %w", err)
	case c.DryRun:
		return nil
	case done.Finished:
		g.print("The data was already moved. PostgreSQL is now ready.")
	default:
		g.print("Moved %d rows in %d tables in %s. The row counts and checksums of each table match.",
			done.Rows, done.Tables, done.Took.Round(100*time.Millisecond))
	}
	g.print("Start the server with this address as --database, and with the same secret key. " +
		"The SQLite file is kept, but programs no longer write to it.")
	g.print("Attached files are not in the database and were not moved. They are in %s. "+
		"Every server must use this storage; set --files to its address.", g.filesAddress())
	return nil
}
