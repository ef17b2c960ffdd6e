package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// ErrOldSchema means that a database, or a backup, is from a version before v0.2.1. The
// migrations of this program begin with the schema of v0.2.1.
var ErrOldSchema = errors.New("it is from a version before v0.2.1: first let Cardwall v0.2.1 migrate the database or " +
	"restore the backup")

// dialectFiles shows goose only the migrations for one database.
type dialectFiles struct {
	fs.FS
	suffix string
}

// Glob omits the files for the other database.
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

// MigrationsFor returns the migrations for the named database, "sqlite" or "postgres".
func MigrationsFor(all fs.FS, name string) fs.FS {
	return dialectFiles{FS: all, suffix: "." + name + ".sql"}
}

// migrateSQLite brings the schema of a file up to date. If the file already has an older
// schema, migrateSQLite first copies the file.
func migrateSQLite(ctx context.Context, pool *sql.DB, opts Options) (err error) {
	p, err := goose.NewProvider(goose.DialectSQLite3, pool, MigrationsFor(opts.Migrations, "sqlite"))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, newest, err := versions(ctx, p, opts)
	if err != nil || have == newest {
		return err
	}
	c, err := lockMigration(opts.Database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if have, err = p.GetDBVersion(ctx); err != nil { // another process may have migrated it
		return fmt.Errorf("read the schema version: %w", err)
	}
	if have > 0 && have < newest {
		if err := c.make(ctx, pool, have, opts); err != nil {
			return err
		}
	}
	if err := migrate(ctx, p, opts); err != nil {
		return err
	}
	return c.note(newest, "")
}

// migratePostgres brings the schema up to date. Each migration runs under a lease,
// which is a row. If several servers start at the same time, one of them runs the
// migration and the others wait.
func migratePostgres(ctx context.Context, db *sql.DB, opts Options) error {
	lease, err := lock.NewPostgresTableLocker(lock.WithTableName("migration_lease"), lock.WithTableLeaseDuration(30*time.Second))
	if err != nil {
		return fmt.Errorf("prepare the migration lease: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, MigrationsFor(opts.Migrations, "postgres"), goose.WithLocker(migrationLease{lease}))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, newest, err := versions(ctx, p, opts)
	if err != nil || have == newest {
		return err
	}
	return migrate(ctx, p, opts)
}

// migrationLease adds errMigrating to the error that Lock returns while another
// server holds the lease.
type migrationLease struct{ lock.Locker }

func (l migrationLease) Lock(ctx context.Context, db *sql.DB) error {
	if err := l.Locker.Lock(ctx, db); err != nil {
		return fmt.Errorf("%w: %w", errMigrating, err)
	}
	return nil
}

// versions returns the schema version of a database and the newest one. It returns
// an error if this program must not or cannot bring the database up to date.
func versions(ctx context.Context, p *goose.Provider, opts Options) (have, newest int64, err error) {
	have, newest, err = p.GetVersions(ctx)
	switch old := CheckAge(opts.Migrations, have); {
	case err != nil:
		err = fmt.Errorf("read the schema version: %w", err)
	case have > newest:
		err = fmt.Errorf("the database has schema version %d, but this program supports versions up to %d: it was written by "+
			"a newer version of cardwall, or by another program", have, newest)
	case have > 0 && old != nil:
		err = fmt.Errorf("the database has %w", old)
	case have < newest && !opts.Migrate:
		err = fmt.Errorf("the database has schema version %d, but this program needs version %d: run cardwall migrate",
			have, newest)
	}
	return have, newest, err
}

// migrate applies one migration after another and reports each one as progress. For a new
// database, it reports only one step.
func migrate(ctx context.Context, p *goose.Provider, opts Options) error {
	if have, err := p.GetDBVersion(ctx); err == nil && have == 0 {
		opts.Progress("creating the tables of a new database")
		if _, err := p.Up(ctx); err != nil {
			return fmt.Errorf("create the tables, in a database that must be empty and used only by Cardwall: %w", err)
		}
		return nil
	}
	for done := 0; ; done++ {
		have, err := p.GetDBVersion(ctx)
		if err != nil {
			return fmt.Errorf("read the schema version: %w", err)
		}
		var pending []*goose.Source
		for _, s := range p.ListSources() {
			if s.Version > have {
				pending = append(pending, s)
			}
		}
		if len(pending) == 0 {
			return nil
		}
		name, _, _ := strings.Cut(filepath.Base(pending[0].Path), ".")
		opts.Progress(fmt.Sprintf("migrating the database: %s, %d of %d", name, done+1, done+len(pending)))
		if _, err := p.UpByOne(ctx); err != nil && !errors.Is(err, goose.ErrNoNextVersion) {
			return fmt.Errorf("migrate: %s: %w", name, err)
		}
	}
}
