package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"cardwall/internal/dbtool"
	"cardwall/internal/store"
)

type doctorCommand struct {
	Repair   bool `aliases:"mend" help:"Back up to the data folder, then repair what can be repaired without data loss."`
	NoBackup bool `help:"With --repair: skip the backup, for example because you made a copy yourself."`
}

func (doctorCommand) Help() string {
	return "Checks the database file, the order of lists, cards and checklist items, board versions and counters, " +
		"orphaned rows, deliveries, leases, secrets and the search index. Servers can keep running. " +
		"Each line describes a problem and how to fix it. Exits with a non-zero status if there is a problem.\n\n" +
		"Examples:\n" +
		"  cardwall doctor\n" +
		"  cardwall doctor --repair"
}

func (c *doctorCommand) Run(ctx context.Context, g *globals) error {
	if c.Repair && !c.NoBackup {
		file := filepath.Join(g.Data, "cardwall.before-repair-"+time.Now().UTC().Format("20060102T150405")+".backup")
		if _, err := g.backup(ctx, file); err != nil {
			return fmt.Errorf("nothing was repaired, because the backup failed; "+
				"stop the server, copy the data yourself and run the command again with --no-backup: %w", err)
		}
		g.print("Backed up to %s.", file)
	}
	return g.with(ctx, func(db *store.DB) error {
		if c.Repair {
			n, err := dbtool.Repair(ctx, db)
			g.print("Repaired %d problems.", n)
			if err != nil {
				return err
			}
		}
		findings, err := dbtool.Examine(ctx, db)
		if err != nil {
			return err
		}
		for _, f := range findings {
			g.print("%s.", f)
		}
		switch {
		case len(findings) == 0:
			g.print("No problems found.")
			return nil
		case slices.ContainsFunc(findings, func(f dbtool.Finding) bool { return f.Repairable }):
			return errors.New("problems found; cardwall doctor --repair makes a backup, then repairs what it can without data loss")
		}
		return errors.New("problems found; the lines above say what to do")
	})
}
