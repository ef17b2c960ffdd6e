package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// dialectFiles shows goose the migrations of one database alone.
type dialectFiles struct {
	fs.FS
	suffix string
}

// Glob leaves out the other database's files.
func (d dialectFiles) Glob(pattern string) ([]string, error) {
	all, err := fs.Glob(d.FS, pattern)
	var own []string
	for _, name := range all {
		if strings.HasSuffix(name, d.suffix) {
			own = append(own, name)
		}
	}
	return own, err
}

func migrationsFor(name string) (fs.FS, error) {
	sub, err := fs.Sub(migrationFiles, "migrations")
	return dialectFiles{FS: sub, suffix: "." + name + ".sql"}, err
}

// migrateSQLite brings the file up to date. A file that holds something is
// copied beside itself first.
func migrateSQLite(ctx context.Context, pool *sql.DB, opts Options) error {
	files, err := migrationsFor("sqlite")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, pool, files)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	return migrate(ctx, p, opts, func(version int64) error {
		if version == 0 {
			return nil
		}
		copyTo := fmt.Sprintf("%s.before-migration-%d-%s", opts.Database, version, opts.Clock().UTC().Format("20060102T150405"))
		opts.Progress("copying the database to " + copyTo)
		if _, err := pool.ExecContext(ctx, "VACUUM INTO ?", copyTo); err != nil {
			return errors.Join(fmt.Errorf("back up before migrating: %w", err), os.Remove(copyTo))
		}
		return os.Chmod(copyTo, 0o600)
	})
}

// migratePostgres brings the database up to date behind a lease row, so that
// of many servers that start at once one migrates and the others wait.
func migratePostgres(ctx context.Context, db *sql.DB, opts Options) error {
	files, err := migrationsFor("postgres")
	if err != nil {
		return err
	}
	lease, err := lock.NewPostgresTableLocker(lock.WithTableName("migration_lease"), lock.WithTableLeaseDuration(30*time.Second))
	if err != nil {
		return fmt.Errorf("lease of the migration: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithLocker(lease))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	return migrate(ctx, p, opts, func(int64) error { return nil })
}

func migrate(ctx context.Context, p *goose.Provider, opts Options, backup func(version int64) error) error {
	have, newest, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	switch {
	case have > newest:
		return fmt.Errorf("the database has schema %d, this program knows %d at most: it was written by a newer cardwall", have, newest)
	case have == newest:
		return nil
	case !opts.Migrate:
		return fmt.Errorf("the database has schema %d, this program needs %d: run cardwall migrate", have, newest)
	}
	if err := backup(have); err != nil {
		return err
	}
	opts.Progress(fmt.Sprintf("migrating the schema from %d to %d", have, newest))
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}
