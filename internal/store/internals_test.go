package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"cardwall/internal/board"
)

// VisibleCondition is what the lists of boards and cards select by.
const VisibleCondition = visible

// Select reads rows of one text each.
func (v *View) Select(ctx context.Context, text string, args ...any) (out []string, err error) {
	err = v.each(ctx, text, args, func(rows *sql.Rows) error {
		var s string
		err := rows.Scan(&s)
		out = append(out, s)
		return err
	})
	return out, err
}

// Change runs any SQL.
func (tx *Tx) Change(ctx context.Context, text string, args ...any) error {
	_, err := tx.affected(ctx, text, args...)
	return err
}

// MigratePostgresTo brings a PostgreSQL database to a schema, as the program of
// that time did.
func MigratePostgresTo(ctx context.Context, address string, version int64) error {
	pool, err := connectPostgres(ctx, address)
	if err != nil {
		return err
	}
	defer pool.close()
	files, err := migrationsFor("postgres")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, pool.db, files)
	if err != nil {
		return err
	}
	_, err = p.UpTo(ctx, version)
	return err
}

// Explained are the plans of the queries that fn makes.
func (v *View) Explained(fn func(*View) error) ([]string, error) {
	spy := &explainer{runner: v.run, postgres: v.db.engine.dialect().lock}
	other := *v
	other.run = spy
	err := fn(&other)
	return spy.plans, err
}

// MigrateBeforeLast brings a new SQLite file to the schema before the newest,
// as an older program left it, and returns its version.
func MigrateBeforeLast(ctx context.Context, file string) (version int64, err error) {
	pool, err := sql.Open("sqlite", sqliteAddress(file, false))
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	files, err := migrationsFor("sqlite")
	if err != nil {
		return 0, err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, pool, files)
	if err != nil {
		return 0, err
	}
	sources := p.ListSources()
	if len(sources) < 2 {
		return 0, nil
	}
	version = sources[len(sources)-2].Version
	if _, err := p.UpTo(ctx, version); err != nil {
		return 0, err
	}
	_, err = pool.ExecContext(ctx, "INSERT INTO organizations (id, name, plan, created_at) VALUES ('org_x', 'Engines', 'team', 1)")
	return version, err
}

// CopyAsOf makes a new SQLite file of an older schema with what another file
// holds, and brings that to a PostgreSQL database too, if one is named. Tables
// that are newer are left out.
func CopyAsOf(ctx context.Context, from, file, database string, version int64) (err error) {
	if err := migrateFile(ctx, file, version); err != nil {
		return err
	}
	b, err := openBulkFile(ctx, file, "mode=rwc&_pragma=foreign_keys(0)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	tables, err := b.tables(ctx, b.is)
	if err != nil {
		return err
	}
	if _, err := b.exec(ctx, "ATTACH $1 AS newer", from); err != nil {
		return err
	}
	for _, t := range tables {
		columns := quoted(t.columns...)
		if err := b.do(ctx, "DELETE FROM main."+quoted(t.name), "INSERT INTO main."+quoted(t.name)+" ("+columns+") SELECT "+columns+" FROM newer."+quoted(t.name)); err != nil {
			return err
		}
	}
	if err := b.do(ctx, "DETACH newer"); err != nil || !IsPostgres(database) {
		return err
	}
	to, err := openBulk(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	if err := to.emptyPostgres(ctx, database, version, time.Now()); err != nil {
		return err
	}
	if err := to.alone(ctx, tables, time.Now()); err != nil {
		return err
	}
	if _, err := to.load(ctx, b, tables, 0, newMeter(nil, "", 0), newMeter(nil, "", 0)); err != nil {
		return err
	}
	return to.do(ctx, forgetLeases, "COMMIT")
}

// FillEveryTable puts two rows into every table, one with all that may be null
// and one without. It reads the schema, so a new table is filled too.
func FillEveryTable(ctx context.Context, database string) (err error) {
	b, err := openBulk(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	left, err := b.tables(ctx, b.is)
	if err != nil {
		return err
	}
	relations, err := b.relations(ctx, b.is)
	if err != nil {
		return err
	}
	values := map[string]any{} // by number of the row, table and column
	at := func(n int, table, column string) string { return fmt.Sprint(n, table, ".", column) }
	for len(left) > 0 {
		begin := len(left)
		left = slices.DeleteFunc(left, func(t table) bool {
			refers := map[string]string{}
			for _, r := range relations {
				if r.table != t.name {
					continue
				}
				refers[r.columns[0]] = at(0, r.parent, r.keys[0])[1:]
				if _, there := values[at(1, r.parent, r.keys[0])]; !there {
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
		if err != nil || len(left) == begin {
			return errors.Join(err, fmt.Errorf("no order in which %v can be filled", left))
		}
	}
	return nil
}

func (b *bulk) fillRow(ctx context.Context, t table, n int, refers map[string]string, values map[string]any) error {
	kinds := map[string]string{}
	if err := b.each(ctx, `SELECT name, type || CASE WHEN "notnull" OR pk THEN '' ELSE ' NULL' END FROM pragma_table_info($1)`, []any{t.name}, func(rows *sql.Rows) error {
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
			args[i] = []byte(strings.Repeat(t.name+"\x00\xff", n)) // empty once
		default:
			args[i] = fmt.Sprintf("%s.%s %d 'ü\t\\N\"\n€😀", t.name, column, n)
		}
		values[fmt.Sprint(n, t.name, ".", column)] = args[i]
	}
	if _, err := b.exec(ctx, "INSERT INTO "+quoted(t.name)+" ("+quoted(t.columns...)+") "+bareValues(1, len(args)), args...); err != nil {
		return fmt.Errorf("fill %s: %w", t.name, err)
	}
	return nil
}

// SumEveryTable reads a database to its end.
func SumEveryTable(ctx context.Context, database string) (out []TableSum, err error) {
	b, err := openBulk(ctx, database)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	tables, err := b.tables(ctx, b.is)
	if err != nil {
		return nil, err
	}
	return b.sumTables(ctx, tables, newMeter(nil, "", 0))
}

// ChangeFile runs SQL on a SQLite file that is no database of a server.
func ChangeFile(ctx context.Context, file, text string) (err error) {
	b, err := openBulkFile(ctx, file, "mode=rw")
	if err != nil {
		return err
	}
	return errors.Join(b.do(ctx, text), b.close())
}

// Damage runs SQL while nobody looks at foreign keys.
func Damage(ctx context.Context, database string, texts ...string) (err error) {
	b, err := openBulk(ctx, database)
	if err != nil {
		return err
	}
	if b.is.lock {
		texts = append([]string{"SET session_replication_role = replica"}, texts...)
	}
	return errors.Join(b.do(ctx, texts...), b.close())
}

// LoseEveryParent points a row of every foreign key at nothing, and answers what
// the doctor should find, and whether that can be mended.
func LoseEveryParent(ctx context.Context, database string) (found map[string]bool, err error) {
	b, err := openBulk(ctx, database)
	if err != nil {
		return nil, err
	}
	relations, err := b.relations(ctx, b.is)
	if err := errors.Join(err, b.close()); err != nil {
		return nil, err
	}
	found = map[string]bool{}
	for i, r := range relations {
		gone := fmt.Sprintf("gone_%d", i)
		column := quoted(r.columns[0])
		if err := Damage(ctx, database, "UPDATE "+quoted(r.table)+" SET "+column+" = '"+gone+"' WHERE "+column+" = (SELECT max("+column+") FROM "+quoted(r.table)+")"); err != nil {
			return nil, err
		}
		found[fmt.Sprintf("%s.%s: %s is not in %s", r.table, r.columns[0], gone, r.parent)] = r.cascade || r.optional
	}
	return found, nil
}

// Orphans are the doctor's findings about foreign keys; MendOrphans mends them.
func (db *DB) Orphans(ctx context.Context) (found map[string]bool, err error) {
	all, err := db.Examine(ctx)
	found = map[string]bool{}
	for _, f := range all {
		if strings.Contains(f.What, " is not in ") {
			found[f.What] = f.Mendable
		}
	}
	return found, err
}

func (db *DB) MendOrphans(ctx context.Context) error {
	var orphans []check
	if err := db.Read(ctx, board.System(), func(v *View) (err error) {
		orphans, err = orphanChecks(ctx, v, db.engine.dialect())
		return err
	}); err != nil {
		return err
	}
	for _, c := range orphans {
		if c.mend == nil {
			continue
		}
		if _, err := db.mendAll(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// HoldFile takes the lock of a SQLite file's writer until release is called.
func HoldFile(ctx context.Context, file string) (release func() error, err error) {
	b, err := openBulk(ctx, file)
	if err != nil {
		return nil, err
	}
	return func() error { return errors.Join(b.do(ctx, "ROLLBACK"), b.close()) }, b.lockFile(ctx)
}

// Settle empties SQLite's log and proves the disk, as after a commit that failed,
// and tells how many bytes of the log that proof has written.
func (db *DB) Settle() (written int64, settled bool, err error) {
	e := db.engine.(*sqliteEngine)
	settled = e.settle()
	log, err := os.Stat(e.path + "-wal")
	if err != nil {
		return 0, settled, err
	}
	return log.Size(), settled, nil
}

// AtTurn is how many writes of this server have or want the turn at a board.
func (db *DB) AtTurn(boardID string) int {
	turns := db.engine.(*postgresEngine).turns
	turns.mu.Lock()
	defer turns.mu.Unlock()
	if q := turns.queues[boardID]; q != nil {
		return q.in
	}
	return 0
}

// HoldMigration takes the lock of a migration as another process does.
func HoldMigration(file string) (release func() error, err error) {
	c, err := lockMigration(file)
	if err != nil {
		return nil, err
	}
	return c.close, nil
}
