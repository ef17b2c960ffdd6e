package dbtool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// Finding is one defect of the data.
type Finding struct {
	What       string // the record, and what is wrong with it
	How        string // how to repair it
	Repairable bool   // Repair does it
}

// String returns the finding as one line.
func (f Finding) String() string { return f.What + "; " + f.How }

// check finds defects of one kind, and may repair them.
type check struct {
	what string // with %s for the id of the defective record
	how  string // how to repair it; empty if repair is not nil
	text string // selects the ids of defective records
	// find is used instead of text. It calls report with each id until that returns false.
	find   func(ctx context.Context, v *store.RawView, report func(id string) (more bool)) error
	repair func(ctx context.Context, tx *store.RawTx, id string) error
}

const (
	findingsShown = 20  // findings of one kind in a report
	repairBatch   = 100 // defects of one kind that are repaired before the check runs again
	repairHow     = "cardwall doctor --repair fixes it"
	lostHow       = "restore the latest backup"
)

// checks returns all checks in the order of their repairs. Orphans come first, because
// removing them changes counts.
func checks(ctx context.Context, db *store.DB) ([]check, error) {
	var orphans []check
	if err := db.Read(ctx, board.System(), func(v *store.View) (err error) {
		orphans, err = orphanChecks(ctx, v.Raw(), db.Engine().Dialect())
		return err
	}); err != nil {
		return nil, err
	}
	return slices.Concat(fileChecks(db), orphans, rankChecks(), boardChecks(), deliveryChecks(),
		leaseChecks(db.Now()), sealChecks(), searchChecks(db)), nil
}

// Examine checks all data and returns its defects, at most 20 of each kind. It works
// in bounded memory. It reads one consistent state. If some data cannot be read,
// that is a finding, and the remaining checks continue in another transaction.
func Examine(ctx context.Context, db *store.DB) ([]Finding, error) {
	all, err := checks(ctx, db)
	if err != nil {
		return nil, err
	}
	var findings, unreadable []Finding
	for len(all) > 0 {
		err := db.Stream(ctx, board.System(), func(view *store.View) error {
			for v := view.Raw(); len(all) > 0; all = all[1:] {
				ids, err := all[0].defects(ctx, v, findingsShown)
				if err != nil && !sqldb.IsDamage(err) {
					return err
				}
				findings = append(findings, all[0].findings(ids)...)
				if err != nil {
					unreadable = append(unreadable, Finding{What: "data cannot be read: " + err.Error(), How: lostHow})
					all = all[1:]
					return err // an error ends a transaction of PostgreSQL
				}
			}
			return nil
		})
		if err != nil && !sqldb.IsDamage(err) {
			return nil, err
		}
	}
	return append(findings, unreadable[:min(len(unreadable), findingsShown)]...), nil
}

// findings describes the defective records.
func (c *check) findings(ids []string) (out []Finding) {
	for _, id := range ids {
		f := Finding{What: strings.ReplaceAll(c.what, "%s", id), How: c.how, Repairable: c.repair != nil}
		if f.Repairable {
			f.How = repairHow
		}
		out = append(out, f)
	}
	return out
}

// defects returns the ids of defective records, at most limit. After an error it
// returns those found before the error.
func (c *check) defects(ctx context.Context, v *store.RawView, limit int) (ids []string, err error) {
	if c.find == nil {
		if ids, err = v.Strings(ctx, fmt.Sprintf("%s LIMIT %d", c.text, limit)); err != nil {
			return nil, c.failed(err)
		}
		return ids, nil
	}
	if err := c.find(ctx, v, func(id string) bool {
		if len(ids) < limit && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return len(ids) < limit
	}); err != nil {
		return ids, c.failed(err)
	}
	return ids, nil
}

func (c *check) failed(err error) error {
	return fmt.Errorf("check %q: %w", strings.ReplaceAll(c.what, "%s", "…"), err)
}

// Repair repairs the defects that Examine calls repairable, and returns how many it
// repaired. It works in short transactions while servers use the database. It
// removes only rows whose parent does not exist.
func Repair(ctx context.Context, db *store.DB) (repaired int, err error) {
	all, err := checks(ctx, db)
	if err != nil {
		return 0, err
	}
	for _, c := range all {
		if c.repair == nil {
			continue
		}
		n, err := repairAll(ctx, db, c)
		repaired += n
		if err != nil {
			return repaired, fmt.Errorf("repair (%s): %w", strings.ReplaceAll(c.what, "%s", "…"), err)
		}
	}
	if repaired == 0 {
		return 0, nil
	}
	return repaired, db.Write(ctx, board.System(), func(tx *store.Tx) error { // servers may keep what was wrong
		return tx.Raw().Exec(ctx, renewTags(tx.Time()))
	})
}

func repairAll(ctx context.Context, db *store.DB, c check) (repaired int, err error) {
	var before []string
	for {
		var ids []string
		if err := db.Stream(ctx, board.System(), func(v *store.View) (err error) {
			ids, err = c.defects(ctx, v.Raw(), repairBatch)
			return err
		}); err != nil || len(ids) == 0 {
			return repaired, err
		}
		if i := slices.IndexFunc(ids, func(id string) bool { return slices.Contains(before, id) }); i >= 0 {
			return repaired, errors.New(ids[i] + " is still defective after its repair")
		}
		for _, id := range ids { // each in its own transaction, because most repairs lock a board
			if err := db.Write(ctx, board.System(), func(tx *store.Tx) error { return c.repair(ctx, tx.Raw(), id) }); err != nil {
				return repaired, err
			}
			repaired++
		}
		before = ids
	}
}

// fileChecks report the results of SQLite's integrity check. PostgreSQL has no such
// check.
func fileChecks(db *store.DB) []check {
	if db.Engine().Dialect().RowLocks {
		return nil
	}
	// The checks share one pass over the file, because that takes most of the time with
	// a large database.
	var (
		checked  *store.RawView // the view that messages are of
		messages []string
	)
	integrity := func(ctx context.Context, v *store.RawView) (err error) {
		if checked == v {
			return nil
		}
		if messages, err = v.Strings(ctx, "PRAGMA integrity_check(100)"); sqldb.IsDamage(err) {
			messages, err = integrityOfTables(ctx, v)
		}
		if err == nil {
			checked = v
		}
		return err
	}
	matching := func(match func(line string) bool) func(context.Context, *store.RawView, func(string) bool) error {
		return func(ctx context.Context, v *store.RawView, report func(string) bool) error {
			if err := integrity(ctx, v); err != nil {
				return err
			}
			for _, line := range messages {
				if line != "ok" && match(line) {
					report(line)
				}
			}
			return nil
		}
	}
	ofSearch := func(line string) bool { return strings.Contains(line, "texts_words") }
	ofIndex := func(line string) bool { return !ofSearch(line) && strings.Contains(line, " index ") }
	return []check{
		{what: "database file: %s", how: lostHow + "; stop the server first, and keep the file",
			find: matching(func(line string) bool { return !ofIndex(line) && !ofSearch(line) })},
		{what: "database file: %s", find: matching(ofIndex), repair: func(ctx context.Context, tx *store.RawTx,
			_ string) error {
			return tx.Exec(ctx, "REINDEX")
		}},
		{what: "database file: %s", find: matching(ofSearch), repair: rebuildSearchIndex},
	}
}

// integrityOfTables checks each table separately, because some kinds of damage abort
// SQLite's check of the whole file.
func integrityOfTables(ctx context.Context, v *store.RawView) (messages []string, err error) {
	tables, err := v.Strings(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		lines, err := v.Strings(ctx, fmt.Sprintf("PRAGMA integrity_check(%q)", table))
		if sqldb.IsDamage(err) {
			lines, err = []string{fmt.Sprintf("table %s: %v", table, err)}, nil
		}
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			if line != "ok" && !slices.Contains(messages, line) {
				messages = append(messages, line)
			}
		}
	}
	return messages, nil
}
