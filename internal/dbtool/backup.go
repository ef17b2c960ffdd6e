package dbtool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// BackupOptions configures Backup.
type BackupOptions struct {
	Database string // path of a SQLite file, or postgres://…
	File     string // path of the backup; an existing backup is replaced when the new one is complete
	Program  string // version of this program, for the manifest
	Clock    func() time.Time
	Progress func(string) // called with messages about the progress; may be nil
}

// Backup writes a consistent snapshot of all data to a file. Servers can read and write
// in the meantime. The backup contains every write that was acknowledged before Backup
// was called. When Backup returns a nil error, the file is synced to disk, has been
// verified, and is readable only by its owner. Until then, no file exists at this path,
// or the previous backup is still there. A backup does not contain the sealing keys.
func Backup(ctx context.Context, opts BackupOptions) (m Manifest, err error) {
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	if _, err := os.Lstat(opts.File); err == nil && !isBackup(opts.File) {
		return m, fmt.Errorf("%s already exists and is not a backup; choose another file", opts.File)
	}
	from, err := openBulk(ctx, opts.Database)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	if m.Schema, err = from.schema(ctx); err != nil {
		return m, err
	}
	newest, err := newestSchema()
	switch {
	case err != nil:
		return m, err
	case m.Schema == 0:
		return m, errors.New("the database is empty")
	case m.Schema > newest:
		return m, fmt.Errorf("the database has schema version %d, but this program supports versions up to %d: make the "+
			"backup with the newer cardwall binary", m.Schema, newest)
	}
	if err := errors.Join(sqldb.CheckAge(store.Migrations(), m.Schema), sqldb.CheckHere(ctx, from)); err != nil {
		return m, err
	}
	partial, err := createPartial(opts.File)
	if err != nil {
		return m, fmt.Errorf("write the backup: %w", err)
	}
	defer func() {
		if removed := os.Remove(partial); !errors.Is(removed, fs.ErrNotExist) { // already renamed on success
			err = errors.Join(err, removed)
		}
	}()
	m.MadeAt, m.Source, m.Program = opts.Clock().UTC(), from.dialect.Name, opts.Program
	if from.dialect.RowLocks {
		m, err = backupPostgres(ctx, from, partial, m, opts.Progress)
	} else {
		m, err = backupSQLite(ctx, from, partial, m, opts.Progress)
	}
	if err != nil {
		return m, fmt.Errorf("write the backup: %w", err)
	}
	if err := sealBackup(partial); err != nil {
		return m, fmt.Errorf("write the backup: %w", err)
	}
	if m, err = verifyBackup(ctx, partial, newest, opts.Progress); err != nil {
		return m, fmt.Errorf("verify the backup: %w", err)
	}
	if err := os.Rename(partial, opts.File); err != nil {
		return m, err
	}
	return m, sqldb.SyncFolder(opts.File)
}

// RecordBackup stores at as the time of the last backup in the database, for monitoring.
func RecordBackup(ctx context.Context, database string, at time.Time) (err error) {
	b, err := openBulk(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	_, err = b.exec(ctx, "INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
		store.BackedUpSetting, strconv.FormatInt(int64(board.InstantOf(at)), 10))
	return err
}

// createPartial creates an empty temporary file in the folder of path. Only its owner can
// read it.
func createPartial(path string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".partial-*") // mode 0600
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// backupSQLite copies the file with VACUUM INTO. Writers do not wait, but the write-ahead
// log grows until the copy is complete.
func backupSQLite(ctx context.Context, from *bulk, file string, m Manifest, progress func(string)) (_ Manifest, err error) {
	progress("copying the database")
	if _, err := from.conn.ExecContext(ctx, "VACUUM INTO $1", file); err != nil {
		return m, sqldb.ContentFault(from.file, err)
	}
	to, err := openBulkFile(ctx, file, "mode=rw&_pragma=synchronous(OFF)")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	if err := to.do(ctx, "PRAGMA journal_mode = DELETE"); err != nil { // so that there is no -wal file
		return m, err
	}
	tables, err := to.tables(ctx)
	if err != nil {
		return m, err
	}
	if m.Tables, err = to.sumTables(ctx, tables, newMeter(progress, "computing checksums", 0)); err != nil {
		return m, err
	}
	return m.finish(ctx, to)
}

// backupPostgres copies every row of one snapshot into a new SQLite file.
func backupPostgres(ctx context.Context, from *bulk, file string, m Manifest, progress func(string)) (_ Manifest, err error) {
	if err := from.do(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", sqldb.NoIdleTimeout); err != nil {
		return m, err
	}
	defer func() { _ = from.do(context.WithoutCancel(ctx), "ROLLBACK") }() // nothing was written
	tables, err := from.tables(ctx)
	if err != nil {
		return m, err
	}
	if err := sqldb.MigrateFile(ctx, file, store.Migrations(), m.Schema); err != nil {
		return m, err
	}
	to, err := openBulkFile(ctx, file,
		"mode=rw&_pragma=synchronous(OFF)&_pragma=journal_mode(OFF)&_pragma=foreign_keys(0)&_pragma=cache_size(-65536)")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	created, err := to.tables(ctx)
	if err != nil {
		return m, err
	}
	if err := sameTables(tables, created); err != nil {
		return m, err
	}
	if m.Tables, err = to.fill(ctx, from, tables, newMeter(progress, "copying", from.estimate(ctx))); err != nil {
		return m, err
	}
	return m.finish(ctx, to)
}

// finish adds the ids of the keys to the manifest and writes it to the backup.
func (m Manifest) finish(ctx context.Context, to *bulk) (Manifest, error) {
	keys, err := to.setting(ctx, store.KeySetting)
	if err != nil {
		return m, err
	}
	if keys != "" {
		m.Keys = strings.Split(keys, ",")
	}
	return m, to.writeManifest(ctx, m)
}

// estimate returns the approximate number of rows of a PostgreSQL database, or 0
// if it is unknown.
func (b *bulk) estimate(ctx context.Context) (n int64) {
	if _, err := b.one(ctx, `SELECT CAST(COALESCE(sum(GREATEST(reltuples, 0)), 0) AS BIGINT) FROM pg_class
		WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`, nil, &n); err != nil {
		return 0 // the estimate is used only for progress
	}
	return n
}

// newestSchema returns the version of the schema that this program creates.
func newestSchema() (int64, error) {
	versions, err := sqldb.Versions(store.Migrations())
	if err != nil {
		return 0, err
	}
	return versions[len(versions)-1], nil
}

// fill replaces the rows of this SQLite file with those of another database. It drops the
// indexes and creates them again after it has inserted the rows, because that is faster.
func (b *bulk) fill(ctx context.Context, from *bulk, tables []table, m *meter) (sums []TableSum, err error) {
	names, err := b.strings(ctx, "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
	if err != nil {
		return nil, err
	}
	definitions, err := b.strings(ctx, "SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
	if err != nil {
		return nil, err
	}
	if err := b.do(ctx, "BEGIN"); err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := b.do(ctx, "DROP INDEX "+quoted(name)); err != nil {
			return nil, err
		}
	}
	for _, t := range tables {
		if err := b.do(ctx, "DELETE FROM "+quoted(t.name)); err != nil {
			return nil, err
		}
	}
	for _, t := range tables {
		sum, err := b.fillTable(ctx, from, t, m)
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", t.name, err)
		}
		sums = append(sums, sum)
	}
	if err := b.do(ctx, definitions...); err != nil {
		return nil, err
	}
	return sums, b.do(ctx, "COMMIT")
}

// fillValues is the maximum number of values in one INSERT.
const fillValues = 600

func (b *bulk) fillTable(ctx context.Context, from *bulk, t table, m *meter) (sum TableSum, err error) {
	into := "INSERT INTO " + quoted(t.name) + " (" + quoted(t.columns...) + ") "
	batch := max(1, fillValues/len(t.columns)) // rows
	insert, err := b.conn.PrepareContext(ctx, into+placeholders(batch, len(t.columns)))
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	c := newChecksum(t)
	args := make([]any, 0, batch*len(t.columns))
	if err := from.rows(ctx, t, func(values []any) error {
		m.row(t.name)
		if err := c.add(values); err != nil {
			return err
		}
		if args = append(args, values...); len(args) < cap(args) {
			return nil
		}
		_, err := insert.ExecContext(ctx, args...)
		args = args[:0]
		return err
	}); err != nil {
		return sum, err
	}
	if len(args) > 0 {
		_, err = b.exec(ctx, into+placeholders(len(args)/len(t.columns), len(t.columns)), args...)
	}
	return c.result(t), err
}

// placeholders returns a VALUES list with a ? parameter for each value.
func placeholders(rows, columns int) string {
	row := "(" + strings.Repeat("?, ", columns-1) + "?)"
	return "VALUES " + strings.Repeat(row+", ", rows-1) + row
}
