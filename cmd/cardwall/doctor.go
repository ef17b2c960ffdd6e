package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"cardwall/internal/store"
)

type doctorCommand struct {
	Mend     bool `help:"Mend what can be mended without loss, after a backup into the data folder."`
	NoBackup bool `help:"With --mend: without that backup, when you have made a copy yourself."`
}

func (doctorCommand) Help() string {
	return "Looks at the database file, the ranks of lists, cards and items, the versions and counts of boards, what belongs to nothing, deliveries, leases, secrets and what search knows, " +
		"also while servers run. Each line says what is wrong and how to mend it. Exits non-zero when something is wrong.\n\n" +
		"Examples:\n  cardwall doctor\n  cardwall doctor --mend"
}

func (c *doctorCommand) Run(ctx context.Context, g *globals) error {
	if c.Mend && !c.NoBackup {
		file := filepath.Join(g.Data, "cardwall.before-mend-"+time.Now().UTC().Format("20060102T150405")+".backup")
		if _, err := g.backup(ctx, file); err != nil {
			return fmt.Errorf("the backup before mending failed, so nothing was mended; stop the server, copy the data yourself, and run this with --no-backup: %w", err)
		}
		g.print("Backed up to %s.", file)
	}
	return g.with(ctx, func(db *store.DB) error {
		if c.Mend {
			n, err := db.Mend(ctx)
			g.print("Mended %d things.", n)
			if err != nil {
				return err
			}
		}
		findings, err := db.Examine(ctx)
		if err != nil {
			return err
		}
		for _, f := range findings {
			g.print("%s.", f)
		}
		switch {
		case len(findings) == 0:
			g.print("The data is sound.")
			return nil
		case slices.ContainsFunc(findings, func(f store.Finding) bool { return f.Mendable }):
			return errors.New("the data is not sound; cardwall doctor --mend mends what can be mended without loss, after a backup")
		}
		return errors.New("the data is not sound; the lines above say what to do")
	})
}
