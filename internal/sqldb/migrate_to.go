package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// Versions returns the schema versions that the migrations create, oldest first.
func Versions(migrations fs.FS) ([]int64, error) {
	names, err := fs.Glob(MigrationsFor(migrations, "sqlite"), "*")
	if err != nil {
		return nil, err
	}
	versions := make([]int64, len(names))
	for i, name := range names {
		if versions[i], err = goose.NumericComponent(name); err != nil {
			return nil, err
		}
	}
	slices.Sort(versions)
	return versions, nil
}

// CheckAge returns ErrOldSchema if no migration leads on from a schema version.
func CheckAge(migrations fs.FS, version int64) error {
	versions, err := Versions(migrations)
	if err == nil && version < versions[0] {
		err = fmt.Errorf("schema version %d: %w", version, ErrOldSchema)
	}
	return err
}

// MigrateFile migrates a SQLite file that no server uses to the given schema version. It
// creates the file if it does not exist. Afterwards, the file has no write-ahead log.
func MigrateFile(ctx context.Context, file string, migrations fs.FS, version int64) (err error) {
	pool, err := sql.Open("sqlite", SQLiteAddress(file, false))
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, pool.Close()) }()
	if err := migrateUpTo(ctx, goose.DialectSQLite3, pool, MigrationsFor(migrations, "sqlite"), version); err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, "PRAGMA journal_mode = DELETE")
	return err
}

// MigratePostgres migrates a PostgreSQL database that no server uses to the given schema
// version.
func MigratePostgres(ctx context.Context, address string, migrations fs.FS, version int64) (err error) {
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		return ErrAddress
	}
	pool := stdlib.OpenDB(*cfg)
	defer func() { err = errors.Join(err, pool.Close()) }()
	return migrateUpTo(ctx, goose.DialectPostgres, pool, MigrationsFor(migrations, "postgres"), version)
}

func migrateUpTo(ctx context.Context, d goose.Dialect, pool *sql.DB, migrations fs.FS, version int64) error {
	p, err := goose.NewProvider(d, pool, migrations)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := p.UpTo(ctx, version); err != nil {
		return fmt.Errorf("migrate to schema version %d: %w", version, err)
	}
	return nil
}
