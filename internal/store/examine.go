package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cardwall/internal/board"
)

// Finding is one thing that is not as it must be.
type Finding struct {
	What     string // whose, and what is wrong
	How      string // it is mended
	Mendable bool   // Mend does it
}

func (f Finding) String() string { return f.What + "; " + f.How }

// check looks for findings of one kind, and may know how to mend one.
type check struct {
	what string // with %s for the id of what is wrong
	how  string // to mend it; empty where mend is not nil
	text string // selects the ids of what is wrong
	// find calls wrong with the id of each thing that is wrong, where no text
	// says which they are, until that answers false.
	find func(ctx context.Context, v *View, wrong func(id string) (more bool)) error
	mend func(ctx context.Context, tx *Tx, id string) error
}

const (
	findingsShown = 20  // of one kind
	mendBatch     = 100 // of one kind in one transaction
	mendingHow    = "cardwall doctor --mend mends it"
	lostHow       = "restore the latest backup"
)

// checks are all kinds, in the order in which they are mended: what is taken
// away changes what is counted.
func (db *DB) checks(ctx context.Context) ([]check, error) {
	var orphans []check
	if err := db.Read(ctx, board.System(), func(v *View) (err error) {
		orphans, err = orphanChecks(ctx, v, db.engine.dialect())
		return err
	}); err != nil {
		return nil, err
	}
	return slices.Concat(db.fileChecks(), orphans, rankChecks(), boardChecks(), deliveryChecks(), leaseChecks(db.Now()), db.sealChecks(), db.searchChecks()), nil
}

// Examine looks whether all data is as it must be, and returns what is not, at
// most 20 of a kind. It reads one consistent state, in bounded memory.
func (db *DB) Examine(ctx context.Context) ([]Finding, error) {
	all, err := db.checks(ctx)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	err = db.Stream(ctx, board.System(), func(v *View) error {
		findings = nil
		for _, c := range all {
			ids, err := c.wrong(ctx, v, findingsShown)
			if err != nil {
				return err
			}
			for _, id := range ids {
				f := Finding{What: strings.ReplaceAll(c.what, "%s", id), How: c.how, Mendable: c.mend != nil}
				if f.Mendable {
					f.How = mendingHow
				}
				findings = append(findings, f)
			}
		}
		return nil
	})
	return findings, err
}

// wrong are the ids of what is wrong, at most limit.
func (c *check) wrong(ctx context.Context, v *View, limit int) (ids []string, err error) {
	if c.find == nil {
		if ids, err = v.texts(ctx, fmt.Sprintf("%s LIMIT %d", c.text, limit)); err != nil {
			return nil, fmt.Errorf("look for %q: %w", c.what, err)
		}
		return ids, nil
	}
	if err := c.find(ctx, v, func(id string) bool {
		if len(ids) < limit && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return len(ids) < limit
	}); err != nil {
		return nil, fmt.Errorf("look for %q: %w", c.what, err)
	}
	return ids, nil
}

// Mend mends what Examine finds and calls mendable, in short transactions beside
// whatever else works on the database, and tells how much that was. It takes
// nothing away but what belongs to nothing that is there.
func (db *DB) Mend(ctx context.Context) (mended int, err error) {
	all, err := db.checks(ctx)
	if err != nil {
		return 0, err
	}
	for _, c := range all {
		if c.mend == nil {
			continue
		}
		n, err := db.mendAll(ctx, c)
		mended += n
		if err != nil {
			return mended, fmt.Errorf("mend (%s): %w", strings.ReplaceAll(c.what, "%s", "…"), err)
		}
	}
	return mended, nil
}

func (db *DB) mendAll(ctx context.Context, c check) (mended int, err error) {
	var before []string
	for {
		var ids []string
		if err := db.Stream(ctx, board.System(), func(v *View) (err error) {
			ids, err = c.wrong(ctx, v, mendBatch)
			return err
		}); err != nil || len(ids) == 0 {
			return mended, err
		}
		if i := slices.IndexFunc(ids, func(id string) bool { return slices.Contains(before, id) }); i >= 0 {
			return mended, errors.New(ids[i] + " is still wrong")
		}
		for _, id := range ids { // each in a transaction of its own, for each locks a board
			if err := db.Write(ctx, board.System(), func(tx *Tx) error { return c.mend(ctx, tx, id) }); err != nil {
				return mended, err
			}
			mended++
		}
		before = ids
	}
}

// fileChecks are what SQLite says of its file; PostgreSQL sees to its own.
func (db *DB) fileChecks() []check {
	if db.engine.dialect().lock {
		return nil
	}
	// The file is read once for all that look at the same state of it: that is
	// most of the time that a look at a large installation takes.
	var (
		of   *View
		said []string
	)
	integrity := func(ctx context.Context, v *View) (err error) {
		if of == v {
			return nil
		}
		if said, err = v.texts(ctx, "PRAGMA integrity_check(100)"); err == nil {
			of = v
		}
		return err
	}
	lines := func(mendable func(line string) bool) func(context.Context, *View, func(string) bool) error {
		return func(ctx context.Context, v *View, wrong func(string) bool) error {
			if err := integrity(ctx, v); err != nil {
				return err
			}
			for _, line := range said {
				if line != "ok" && mendable(line) {
					wrong(line)
				}
			}
			return nil
		}
	}
	ofSearch := func(line string) bool { return strings.Contains(line, "texts_words") }
	ofIndex := func(line string) bool { return !ofSearch(line) && strings.Contains(line, " index ") }
	return []check{
		{what: "database file: %s", how: lostHow + "; stop the server first, and keep the file",
			find: lines(func(line string) bool { return !ofIndex(line) && !ofSearch(line) })},
		{what: "database file: %s", find: lines(ofIndex), mend: func(ctx context.Context, tx *Tx, _ string) error { return tx.exec(ctx, "REINDEX") }},
		{what: "database file: %s", find: lines(ofSearch), mend: rebuildWords},
	}
}
