package store

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"
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
	return tx.exec(ctx, text, args...)
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
	pool, err := sql.Open("sqlite", sqliteAddress(file))
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
