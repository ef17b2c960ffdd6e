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

// Finding describes one defect in the data.
type Finding struct {
	Problem    string // names the record and the defect
	Remedy     string // tells the operator how to fix it
	Repairable bool   // whether Repair can fix it without a choice
}

// String returns the finding as one line.
func (f Finding) String() string { return f.Problem + "; " + f.Remedy }

// check finds defects of one kind, and may repair them.
type check struct {
	problem string // with %s for the id of the defective record
	remedy  string // empty if repair is not nil and needs no choice
	query   string // selects the ids of defective records
	// find, if not nil, is used instead of query. It calls report with each id, until
	// report returns false.
	find   func(ctx context.Context, v *store.RawView, report func(id string) (more bool)) error
	repair func(ctx context.Context, tx *store.RawTx, id string) error // nil if the defect cannot be repaired
	choice Choice                                                      // required for repair; "" for none
}

// Choice is a flag of the doctor that allows repairs which take one of two contradicting
// records as correct. Only a person can know which of them is damaged.
type Choice string

const (
	Reindex       Choice = "--reindex"        // the text or row is correct, and the index entry is replaced
	DeleteOrphans Choice = "--delete-orphans" // the parent was deleted, and the rows that refer to it are removed
)

const (
	maxFindings   = 20  // maximum number of findings of one kind in a report
	repairBatch   = 100 // number of defects of one kind that are repaired before the check runs again
	repairRemedy  = "cardwall doctor --repair fixes it"
	restoreRemedy = "restore the latest backup"
	reindexRemedy = "if the data is not what people wrote, " + restoreRemedy + "; if it is, run cardwall doctor --repair " +
		string(Reindex) + ", which replaces the index entry"
)

// checks returns all checks, in the order in which their repairs must run. Orphans come
// before counters, because deleting orphans changes the counts.
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

// Examine checks all data and returns its defects, at most maxFindings of each kind. It
// reads one consistent state, in bounded memory. If some data cannot be read, it reports
// that as a finding and runs the remaining checks in another transaction.
func Examine(ctx context.Context, db *store.DB) ([]Finding, error) {
	all, err := checks(ctx, db)
	if err != nil {
		return nil, err
	}
	var findings, unreadable []Finding
	for len(all) > 0 {
		err := db.Stream(ctx, board.System(), func(view *store.View) error {
			for v := view.Raw(); len(all) > 0; all = all[1:] {
				ids, err := all[0].defects(ctx, v, maxFindings)
				if err != nil && !sqldb.IsDamage(err) {
					return err
				}
				findings = append(findings, all[0].findings(ids)...)
				if err != nil {
					unreadable = append(unreadable, Finding{Problem: "data cannot be read: " + err.Error(), Remedy: restoreRemedy})
					all = all[1:]
					return err // after an error, a PostgreSQL transaction cannot continue
				}
			}
			return nil
		})
		if err != nil && !sqldb.IsDamage(err) {
			return nil, err
		}
	}
	return append(findings, unreadable[:min(len(unreadable), maxFindings)]...), nil
}

// findings returns the findings for defective records.
func (c *check) findings(ids []string) (out []Finding) {
	for _, id := range ids {
		f := Finding{Problem: strings.ReplaceAll(c.problem, "%s", id), Remedy: c.remedy,
			Repairable: c.repair != nil && c.choice == ""}
		if f.Repairable {
			f.Remedy = repairRemedy
		}
		out = append(out, f)
	}
	return out
}

// defects returns the ids of at most limit defective records. If it returns an error, it
// also returns the ids that it found before the error.
func (c *check) defects(ctx context.Context, v *store.RawView, limit int) (ids []string, err error) {
	if c.find == nil {
		if ids, err = v.Strings(ctx, fmt.Sprintf("%s LIMIT %d", c.query, limit)); err != nil {
			return nil, c.wrap(err)
		}
		return ids, nil
	}
	if err := c.find(ctx, v, func(id string) bool {
		if len(ids) < limit && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return len(ids) < limit
	}); err != nil {
		return ids, c.wrap(err)
	}
	return ids, nil
}

// wrap adds the name of the check to an error.
func (c *check) wrap(err error) error {
	return fmt.Errorf("check %q: %w", strings.ReplaceAll(c.problem, "%s", "…"), err)
}

// RepairOptions configures Repair.
type RepairOptions struct {
	Choices []Choice
	Chosen  func(problem string) // called after each repair that one of the choices has allowed; may be nil
}

// Repair repairs all repairable defects, including those that Examine omits, and returns
// the number of repairs. It uses short transactions, so servers can use the database in
// the meantime. It deletes only leases and derived data, unless opts.Choices allows more.
func Repair(ctx context.Context, db *store.DB, opts RepairOptions) (repaired int, err error) {
	all, err := checks(ctx, db)
	if err != nil {
		return 0, err
	}
	for _, c := range all {
		if c.repair == nil || c.choice != "" && !slices.Contains(opts.Choices, c.choice) {
			continue
		}
		n, err := repairAll(ctx, db, c, opts.Chosen)
		repaired += n
		if err != nil {
			return repaired, fmt.Errorf("repair %q: %w", strings.ReplaceAll(c.problem, "%s", "…"), err)
		}
	}
	if repaired == 0 {
		return 0, nil
	}
	return repaired, db.Write(ctx, board.System(), func(tx *store.Tx) error { // servers may have cached defective data
		return tx.Raw().Exec(ctx, renewTags(tx.Time()))
	})
}

// repairAll repairs all defects of one kind. It calls chosen, if it is not nil, after each
// repair that requires a choice.
func repairAll(ctx context.Context, db *store.DB, c check, chosen func(problem string)) (repaired int, err error) {
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
			return repaired, errors.New(ids[i] + " is still defective after the repair")
		}
		for _, id := range ids { // one transaction each, because most repairs lock a board
			if err := db.Write(ctx, board.System(), func(tx *store.Tx) error { return c.repair(ctx, tx.Raw(), id) }); err != nil {
				return repaired, err
			}
			repaired++
			if c.choice != "" && chosen != nil {
				chosen(strings.ReplaceAll(c.problem, "%s", id))
			}
		}
		before = ids
	}
}

// fileChecks returns the checks that report the results of SQLite's integrity check.
// PostgreSQL has no such check.
func fileChecks(db *store.DB) []check {
	if db.Engine().Dialect().RowLocks {
		return nil
	}
	// The checks share one run of the integrity check, because it takes most of the time
	// if the database is large.
	var (
		checked  *store.RawView // the view that was checked last
		messages []string
	)
	integrity := func(ctx context.Context, v *store.RawView) (err error) {
		if checked == v {
			return nil
		}
		// SQLite checks the search index with the structure that the connection has cached. A
		// search updates this cache. Otherwise, segments that another connection has merged
		// since would be reported as damage. If the search fails, the check below finds the cause.
		_, _ = v.Strings(ctx, "SELECT 'found' FROM texts_words WHERE texts_words MATCH 'a' LIMIT 1")
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
	inSearchIndex := func(line string) bool { return strings.Contains(line, "texts_words") }
	inIndex := func(line string) bool { return !inSearchIndex(line) && strings.Contains(line, " index ") }
	return []check{
		{problem: "database file: %s", remedy: restoreRemedy + "; stop the server first, and keep the file",
			find: matching(func(line string) bool { return !inIndex(line) && !inSearchIndex(line) })},
		{problem: "database file: %s, and either the row or the index may be damaged", remedy: reindexRemedy, choice: Reindex,
			find: matching(inIndex), repair: func(ctx context.Context, tx *store.RawTx, _ string) error {
				return tx.Exec(ctx, "REINDEX")
			}},
		{problem: "database file: %s", find: matching(inSearchIndex), repair: rebuildSearchIndex},
	}
}

// integrityOfTables runs the integrity check on each table separately, because some kinds
// of damage abort a check of the whole file.
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
