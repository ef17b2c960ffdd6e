package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cardwall/internal/attach"
	"cardwall/internal/board"
	"cardwall/internal/dbtool"
	"cardwall/internal/file"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

type doctorCommand struct {
	Repair        bool `aliases:"mend" help:"Write a backup to the data folder, then repair what can be repaired without data loss."`
	Reindex       bool `help:"With --repair: also replace index entries that differ from their text or row. First check the text or row."`
	DeleteOrphans bool `help:"With --repair: also remove rows whose parent does not exist. First check that the parent was not lost."`
	AllFiles      bool `help:"Also read every attached file and compare it with its hash, not only its size."`
	NoBackup      bool `help:"With --repair: skip the backup, for example because you have already copied the data."`
}

func (doctorCommand) Help() string {
	return "Checks the database file (SQLite), board versions, counters, deliveries, leases, secrets and the search index. " +
		"Also checks the order of lists, cards and checklist items, looks for orphaned rows, and checks that " +
		"the attached files exist. Servers can keep running. " +
		"Files that no attachment uses are listed, but are not a problem. " +
		"Prints up to 20 problems of each kind and how to fix them, one per line. " +
		"Exits with a non-zero status if there is a problem.\n\n" +
		"If two records contradict each other, for example a title and its search index entry, either may be damaged. " +
		"The doctor then repairs nothing without the flag that it names.\n\n" +
		"Examples:\n" +
		"  cardwall doctor\n" +
		"  cardwall doctor --repair\n" +
		"  cardwall doctor --repair --reindex"
}

func (c *doctorCommand) Run(ctx context.Context, g *globals) error {
	if len(c.choices()) > 0 && !c.Repair {
		return fmt.Errorf("%s requires --repair", c.choices()[0])
	}
	if err := g.checkFile(); err != nil {
		return err
	}
	if c.Repair && !c.NoBackup {
		file := filepath.Join(g.Data, "cardwall.before-repair-"+time.Now().UTC().Format("20060102T150405")+".backup")
		var unusable *sqldb.FileError
		if _, err := g.backup(ctx, file); errors.As(err, &unusable) {
			return fmt.Errorf("nothing was repaired, because the backup failed: %w", err)
		} else if err != nil {
			return fmt.Errorf("nothing was repaired, because the backup failed; "+
				"stop the server, copy the data yourself and run the command again with --no-backup: %w", err)
		}
		g.print("Backed up to %s.", file)
	}
	return g.withStore(ctx, func(db *store.DB) error {
		chosen := 0
		if c.Repair {
			n, err := dbtool.Repair(ctx, db, dbtool.RepairOptions{Choices: c.choices(), Chosen: func(problem string) {
				chosen++
				g.print("Repaired by choice: %s.", problem)
			}})
			g.print("Problems repaired: %d.", n)
			if err != nil {
				return err
			}
		}
		findings, err := dbtool.Examine(ctx, db)
		if err != nil {
			return err
		}
		damaged, err := c.examineFiles(ctx, g, db)
		if err != nil {
			return err
		}
		findings = append(findings, damaged...)
		for _, f := range findings {
			g.print("%s.", f)
		}
		switch {
		case len(findings) == 0 && chosen > 0:
			g.print("No problems remain. The doctor cannot check whether the data that it kept is correct.")
			return nil
		case len(findings) == 0:
			g.print("No problems found.")
			return nil
		case slices.ContainsFunc(findings, func(f dbtool.Finding) bool { return f.Repairable }):
			return errors.New("problems found; run cardwall doctor --repair to back up and then repair what can be repaired without data loss")
		}
		return errors.New("problems found; see above for what to do")
	})
}

// checkFile returns an error if the SQLite file does not exist or is empty. Otherwise, the
// doctor would create a new database and find no problems in it.
func (g *globals) checkFile() error {
	database, err := g.address()
	if err != nil || sqldb.IsPostgres(database) {
		return err
	}
	info, err := os.Stat(database)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no database at %s; check --data, or restore the latest backup", database)
	case err == nil && info.Size() == 0:
		return fmt.Errorf("the database file %s is empty; restore the latest backup", database)
	}
	return nil // opening the store reports other errors
}

// choices returns the choices that the flags make.
func (c *doctorCommand) choices() (out []dbtool.Choice) {
	if c.Reindex {
		out = append(out, dbtool.Reindex)
	}
	if c.DeleteOrphans {
		out = append(out, dbtool.DeleteOrphans)
	}
	return out
}

// maxDamaged is the maximum number of damaged files in a report, and that of unused files.
const maxDamaged = 20

// examineFiles checks the attached files. It prints a notice if the storage contains files
// that nothing refers to, which waste space but are not a problem.
func (c *doctorCommand) examineFiles(ctx context.Context, g *globals, db *store.DB) (findings []dbtool.Finding, err error) {
	files, closeFiles, err := g.openFiles(ctx, db)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeFiles()) }()
	if err := files.Examine(ctx, c.AllFiles, func(d attach.Damage) {
		if len(findings) < maxDamaged {
			findings = append(findings, dbtool.Finding{
				Problem: fmt.Sprintf("the file of the attachment %s %s", d.AttachmentID, d.Problem),
				Remedy:  "copy it from a backup of the storage for files",
			})
		}
	}); err != nil {
		return nil, err
	}
	var (
		orphans int
		size    int64
	)
	if err := files.EachOrphan(ctx, func(i file.Info) {
		size += i.Size
		if orphans++; orphans <= maxDamaged {
			g.print("Notice: no attachment uses the stored file %s.", i.Name)
		}
	}); err != nil {
		return nil, err
	}
	if orphans > 0 {
		g.print("Notice: unused files: %d, with %s in total. A running server removes them within two hours.", orphans, board.Bytes(size))
	}
	return findings, nil
}
