package dbtool

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// FillEveryTable inserts two rows into every table: one in which all nullable columns are
// NULL, and one in which none is. It reads the tables from the schema, so new tables are
// included.
func FillEveryTable(ctx context.Context, database string) (err error) {
	b, err := openBulk(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	remaining, err := b.tables(ctx)
	if err != nil {
		return err
	}
	relations, err := b.relations(ctx)
	if err != nil {
		return err
	}
	values := map[string]any{} // by row number, table and column
	key := func(n int, table, column string) string { return fmt.Sprint(n, table, ".", column) }
	for len(remaining) > 0 {
		before := len(remaining)
		remaining = slices.DeleteFunc(remaining, func(t table) bool {
			refers := map[string]string{}
			for _, r := range relations {
				if r.table != t.name {
					continue
				}
				refers[r.columns[0]] = key(0, r.parent, r.keys[0])[1:]
				if _, ok := values[key(1, r.parent, r.keys[0])]; !ok {
					return false
				}
			}
			for n := range 2 {
				if err = errors.Join(err, b.fillRow(ctx, t, n, refers, values)); err != nil {
					return false
				}
			}
			return true
		})
		if err != nil || len(remaining) == before {
			return errors.Join(err, fmt.Errorf("the foreign keys of %d tables, including %s, form a cycle", len(remaining),
				remaining[0].name))
		}
	}
	return nil
}

// fillRow inserts row n (0 or 1) into a table and adds the inserted values to values.
// refers maps each column with a foreign key to the parent column that it refers to.
func (b *bulk) fillRow(ctx context.Context, t table, n int, refers map[string]string, values map[string]any) error {
	kinds := map[string]string{}
	if err := b.each(ctx, `SELECT name, type || CASE WHEN "notnull" OR pk THEN '' ELSE ' NULL' END FROM pragma_table_info($1)`,
		[]any{t.name}, func(rows *sql.Rows) error {
			var name, kind string
			err := rows.Scan(&name, &kind)
			kinds[name] = kind
			return err
		}); err != nil {
		return err
	}
	args := make([]any, len(t.columns))
	for i, column := range t.columns {
		kind, null := strings.CutSuffix(kinds[column], " NULL")
		switch {
		case refers[column] != "" && !(null && n == 0):
			args[i] = values[fmt.Sprint(n, refers[column])]
		case null && n == 0:
		case kind == "INTEGER":
			args[i] = int64(n+1) << (40 * n)
		case kind == "BLOB":
			args[i] = []byte(strings.Repeat(t.name+"\x00\xff", n)) // empty in the first row
		default:
			args[i] = fmt.Sprintf("%s.%s %d 'ü\t\\N\"\n€😀", t.name, column, n)
		}
		values[fmt.Sprint(n, t.name, ".", column)] = args[i]
	}
	if _, err := b.exec(ctx, "INSERT INTO "+quoted(t.name)+" ("+quoted(t.columns...)+") "+placeholders(1, len(args)), args...); err != nil {
		return fmt.Errorf("fill %s: %w", t.name, err)
	}
	return nil
}

// SumEveryTable returns the checksums of all tables.
func SumEveryTable(ctx context.Context, database string) (out []TableSum, err error) {
	b, err := openBulk(ctx, database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	tables, err := b.tables(ctx)
	if err != nil {
		return nil, err
	}
	return b.sumTables(ctx, tables, newMeter(nil, "", 0))
}

// ChangeFile runs an SQL statement on a SQLite file.
func ChangeFile(ctx context.Context, file, text string) (err error) {
	b, err := openBulkFile(ctx, file, "mode=rw")
	if err != nil {
		return err
	}
	return errors.Join(b.do(ctx, text), b.close())
}

// Damage runs SQL statements without enforcing foreign keys.
func Damage(ctx context.Context, database string, texts ...string) (err error) {
	b, err := openBulk(ctx, database)
	if err != nil {
		return err
	}
	if b.dialect.RowLocks {
		texts = append([]string{"SET session_replication_role = replica"}, texts...)
	}
	return errors.Join(b.do(ctx, texts...), b.close())
}

// OrphanEveryRelation changes the data so that, for every foreign key, a row refers to
// a parent that does not exist. It returns the problems that Examine must report, and
// whether each is repairable by choice.
func OrphanEveryRelation(ctx context.Context, database string) (want map[string]bool, err error) {
	b, err := openBulk(ctx, database)
	if err != nil {
		return nil, err
	}
	relations, err := b.relations(ctx)
	if err := errors.Join(err, b.close()); err != nil {
		return nil, err
	}
	want = map[string]bool{}
	for i, r := range relations {
		missing := fmt.Sprintf("missing_%d", i)
		column := quoted(r.columns[0])
		if err := Damage(ctx, database, "UPDATE "+quoted(r.table)+" SET "+column+" = '"+missing+"' WHERE "+column+" = (SELECT max("+
			column+") FROM "+quoted(r.table)+")"); err != nil {
			return nil, err
		}
		want[fmt.Sprintf("%s.%s: %s is not in %s", r.table, r.columns[0], missing, r.parent)] = r.cascade || r.optional
	}
	return want, nil
}

// Orphans returns the problems with foreign keys that Examine reports, and whether each is
// repairable by choice.
func Orphans(ctx context.Context, db *store.DB) (found map[string]bool, err error) {
	all, err := Examine(ctx, db)
	found = map[string]bool{}
	for _, f := range all {
		if strings.Contains(f.Problem, " is not in ") {
			found[f.Problem] = strings.Contains(f.Remedy, "--repair "+string(DeleteOrphans)) && !f.Repairable
		}
	}
	return found, err
}

// RepairOrphans runs only the repairs of the checks returned by orphanChecks.
func RepairOrphans(ctx context.Context, db *store.DB) error {
	var orphans []check
	if err := db.Read(ctx, board.System(), func(v *store.View) (err error) {
		orphans, err = orphanChecks(ctx, v.Raw(), db.Engine().Dialect())
		return err
	}); err != nil {
		return err
	}
	for _, c := range orphans {
		if c.repair == nil {
			continue
		}
		if _, err := repairAll(ctx, db, c, nil); err != nil {
			return err
		}
	}
	return nil
}

// HoldFile holds the write lock of a SQLite file until release is called.
func HoldFile(ctx context.Context, file string) (release func() error, err error) {
	b, err := openBulk(ctx, file)
	if err != nil {
		return nil, err
	}
	return func() error { return errors.Join(b.do(ctx, "ROLLBACK"), b.close()) }, b.lockFile(ctx)
}

// SealUnder runs the first step of Reseal.
func SealUnder(ctx context.Context, db *store.DB, id string) error {
	return (&resealer{db: db, keys: db.Keys()}).sealUnder(ctx, id)
}

// ResealAfter reads a page of sealed responses, calls change, and then re-seals the values
// that it read.
func ResealAfter(ctx context.Context, db *store.DB, first string, change func()) (done int, err error) {
	var values []sealedValue
	if err := db.Read(ctx, board.System(), func(v *store.View) (err error) {
		values, _, err = sealedResponses(ctx, v.Raw(), []any{"", ""})
		return err
	}); err != nil {
		return 0, err
	}
	change()
	done, _, err = (&resealer{db: db, keys: db.Keys()}).reseal(ctx, first, values)
	return done, err
}
