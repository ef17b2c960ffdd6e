package dbtool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"cardwall/internal/seal"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// ErrKeyMissing is returned if the keyring lacks a key that is needed to open the secrets
// in the backup.
var ErrKeyMissing = errors.New("a key of this backup is missing")

// These statements delete the restored leases, because their holders no longer exist.
const (
	deleteLeases  = "DELETE FROM leases"
	releaseBoards = "UPDATE automation_boards SET holder = '', until = 0"
)

// renewTags returns a statement that invalidates all entity tags that clients received
// earlier. After a restore, boards have earlier versions again, so an old tag could match
// different data.
func renewTags(now time.Time) string {
	return fmt.Sprintf("INSERT INTO settings (key, value) VALUES ('names_version', '%d') ON CONFLICT (key) DO UPDATE "+
		"SET value = excluded.value", now.UnixMilli())
}

// RestoreOptions configures Restore.
type RestoreOptions struct {
	Backup   string // path of a file that Backup wrote
	Database string // path of a SQLite file that is empty or does not exist, or postgres://… of an empty database
	Replace  bool   // SQLite only: replace existing data, and keep the old file next to the new one
	Keys     *seal.Keyring
	Clock    func() time.Time
	Progress func(string) // may be nil
	// Before is called when the backup is verified and the database can receive it, before the
	// database changes. If it returns an error, Restore restores nothing and returns that error.
	Before func(context.Context) error // may be nil
}

// Restore restores a backup into an empty installation and migrates it to the schema of
// this program. It restores either all data or none. It returns the manifest of the
// backup, and the path to which it moved the replaced file, or "" if it moved none. Its
// errors include ErrNotBackup, ErrDamaged, ErrNewerBackup, sqldb.ErrOldSchema,
// ErrKeyMissing, ErrNotEmpty and ErrInUse.
func Restore(ctx context.Context, opts RestoreOptions) (m Manifest, kept string, err error) {
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	if opts.Before == nil {
		opts.Before = func(context.Context) error { return nil }
	}
	newest, err := newestSchema()
	if err != nil {
		return m, "", err
	}
	if m, err = verifyBackup(ctx, opts.Backup, newest, opts.Progress); err != nil {
		return m, "", err
	}
	if err := errors.Join(sqldb.CheckAge(store.Migrations(), m.Schema), m.checkKeys(opts.Keys)); err != nil {
		return m, "", err
	}
	if sqldb.IsPostgres(opts.Database) {
		return m, "", restorePostgres(ctx, opts, m, newest)
	}
	kept, err = restoreSQLite(ctx, opts, newest)
	return m, kept, err
}

// checkKeys returns ErrKeyMissing if the keyring lacks a key of the backup.
func (m Manifest) checkKeys(keys *seal.Keyring) error {
	missing := slices.DeleteFunc(slices.Clone(m.Keys), func(id string) bool { return keys != nil && keys.Has(id) })
	if len(missing) > 0 {
		return fmt.Errorf("%w: its secrets are sealed under the keys %s; first put the secret.key file from that time into "+
			"the data folder, or set CARDWALL_SECRET_KEY to its content", ErrKeyMissing, strings.Join(missing, ", "))
	}
	return nil
}

func restorePostgres(ctx context.Context, opts RestoreOptions, m Manifest, newest int64) (err error) {
	from, err := openBackup(ctx, opts.Backup)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	to, err := openBulk(ctx, opts.Database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	if err := to.prepareEmptyPostgres(ctx, opts.Database, m.Schema, opts.Clock()); err != nil {
		return err
	}
	if err := opts.Before(ctx); err != nil {
		return err
	}
	tables, err := to.commonTables(ctx, from)
	if err != nil {
		return err
	}
	if err := to.beginExclusive(ctx, tables, opts.Clock()); err != nil {
		return err
	}
	defer func() { _ = to.do(context.WithoutCancel(ctx), "ROLLBACK") }() // no effect after a commit
	if _, err := to.load(ctx, from, tables, 0, newMeter(opts.Progress, "copying", m.Rows()), newMeter(opts.Progress, "comparing",
		m.Rows())); err != nil {
		return err
	}
	if err := to.do(ctx, deleteLeases, releaseBoards, renewTags(opts.Clock()), "COMMIT"); err != nil {
		return err
	}
	if err := sqldb.MigratePostgres(ctx, opts.Database, store.Migrations(), newest); err != nil {
		return fmt.Errorf("all data is restored, but its schema version is still %d; run cardwall migrate to continue: %w",
			m.Schema, err)
	}
	return to.do(ctx, "ANALYZE")
}

// commonTables returns the tables of b. It returns an error if other does not have the
// same tables and columns.
func (b *bulk) commonTables(ctx context.Context, other *bulk) ([]table, error) {
	tables, err := b.tables(ctx)
	if err != nil {
		return nil, err
	}
	otherTables, err := other.tables(ctx)
	if err != nil {
		return nil, err
	}
	return tables, sameTables(tables, otherTables)
}

// beginExclusive begins a transaction with exclusive locks on all tables. It returns
// ErrNotEmpty or ErrInUse if the database is no longer empty and unused.
func (b *bulk) beginExclusive(ctx context.Context, tables []table, now time.Time) error {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	err := b.do(ctx, "BEGIN", sqldb.NoIdleTimeout, "SET LOCAL lock_timeout = '5s'", "LOCK TABLE "+quoted(names...)+" IN ACCESS EXCLUSIVE MODE")
	if err == nil {
		err = b.checkUnused(ctx, now)
	}
	if err != nil {
		return errors.Join(err, b.do(context.WithoutCancel(ctx), "ROLLBACK"))
	}
	return nil
}

func restoreSQLite(ctx context.Context, opts RestoreOptions, newest int64) (kept string, err error) {
	old, aside, err := lockOld(ctx, opts)
	if err != nil {
		return "", err
	}
	if old != nil {
		defer func() { err = errors.Join(err, old.close()) }()
	}
	if err := opts.Before(ctx); err != nil {
		return "", err
	}
	restored, err := createPartial(opts.Database)
	if err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	defer func() {
		if removed := os.Remove(restored); !errors.Is(removed, fs.ErrNotExist) { // already renamed on success
			err = errors.Join(err, removed)
		}
	}()
	opts.Progress("writing the database")
	if err := copyBackup(opts.Backup, restored); err != nil {
		return "", err
	}
	if err := prepareDatabase(ctx, restored, newest, opts.Clock()); err != nil {
		return "", err
	}
	if old == nil {
		if err := os.Link(restored, opts.Database); err != nil { // a rename would overwrite a file created in the meantime
			return "", err
		}
		return "", errors.Join(os.Remove(restored), sqldb.SyncFolder(opts.Database))
	}
	return replaceFile(opts, restored, aside)
}

// copyBackup copies a backup without its last line.
func copyBackup(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // the file is only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = unsealBackup(in, out)
	return err
}

// prepareDatabase turns a copy of a backup into a database with the newest schema and
// syncs it to disk.
func prepareDatabase(ctx context.Context, file string, newest int64, now time.Time) (err error) {
	b, err := openBulkFile(ctx, file, "mode=rw&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	if err := errors.Join(b.do(ctx, "DROP TABLE backup", "DROP TABLE backup_tables", deleteLeases, releaseBoards, renewTags(now)),
		b.close()); err != nil {
		return err
	}
	if err := sqldb.MigrateFile(ctx, file, store.Migrations(), newest); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// lockOld locks an existing file at the path of the database, so that no server can start to use
// it. It returns nil if there is none. aside reports whether the file must be kept, because it
// contains data or cannot be read. lockOld returns ErrNotEmpty or ErrInUse if a restore must not
// replace the file. The caller must close old.
func lockOld(ctx context.Context, opts RestoreOptions) (old *bulk, aside bool, err error) {
	if _, err := os.Stat(opts.Database); errors.Is(err, fs.ErrNotExist) {
		for _, suffix := range []string{"-wal", "-journal"} {
			if _, err := os.Stat(opts.Database + suffix); err == nil {
				return nil, false, fmt.Errorf("%s%s exists without its database, and would damage the restored one; move it elsewhere",
					opts.Database, suffix)
			}
		}
		return nil, false, nil
	}
	old, err = openBulkFile(ctx, opts.Database, "mode=rw&_pragma=busy_timeout(0)")
	if err != nil {
		return nil, false, sqldb.FileFault(opts.Database, err)
	}
	nonEmpty, unreadable := old.lockExclusive(ctx)
	switch {
	case unreadable != nil && sqldb.IsBusy(unreadable):
		err = fmt.Errorf("%w (%s): stop it first", ErrInUse, opts.Database)
	case !opts.Replace && unreadable != nil:
		err = fmt.Errorf("%w, and its data cannot be read; --replace moves it aside: %w", ErrNotEmpty, unreadable)
	case !opts.Replace && nonEmpty != "":
		err = fmt.Errorf("%w: the table %s has rows; --replace moves the file aside", ErrNotEmpty, nonEmpty)
	}
	if err != nil {
		return nil, false, errors.Join(err, old.close())
	}
	return old, nonEmpty != "" || unreadable != nil, nil
}

// replaceFile moves a restored file to the path of the database. If aside is true, it keeps the
// existing file and returns the path to which it moved it.
func replaceFile(opts RestoreOptions, restored string, aside bool) (kept string, err error) {
	if aside {
		kept = opts.Database + ".before-restore-" + opts.Clock().UTC().Format("20060102T150405")
		first := kept
		err := os.Link(opts.Database, kept)
		for n := 2; errors.Is(err, fs.ErrExist); n++ { // restored twice within a second
			kept = fmt.Sprintf("%s-%d", first, n)
			err = os.Link(opts.Database, kept)
		}
		if err != nil {
			return "", fmt.Errorf("move the old file aside: %w", err)
		}
		for _, suffix := range []string{"-wal", "-journal"} { // a damaged database may still have one
			if err := os.Rename(opts.Database+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", err
			}
		}
	}
	if err := os.Rename(restored, opts.Database); err != nil {
		return kept, err
	}
	return kept, sqldb.SyncFolder(opts.Database)
}

// lockExclusive moves the write-ahead log of a SQLite file into the file and then locks
// it. It returns the name of a table that contains data, or "" if the file has none. It
// returns an error if another process has the file open.
func (b *bulk) lockExclusive(ctx context.Context) (nonEmpty string, err error) {
	if err := b.do(ctx, "PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE"); err != nil {
		return "", err
	}
	tables, err := b.tables(ctx)
	if err != nil {
		return "", err
	}
	return b.nonEmptyTable(ctx, tables)
}
