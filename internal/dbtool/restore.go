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

// ErrKeyMissing means that the secrets in a backup could not be opened.
var ErrKeyMissing = errors.New("the key of this backup is missing")

// forgetLeases removes the restored leases, whose holders no longer exist.
const forgetLeases = "DELETE FROM leases"

// renewTags returns a statement after which no entity tag is one that a client got before the
// data was restored: the versions of boards start again from earlier ones.
func renewTags(now time.Time) string {
	return fmt.Sprintf("INSERT INTO settings (key, value) VALUES ('names_version', '%d') ON CONFLICT (key) DO UPDATE "+
		"SET value = excluded.value", now.UnixMilli())
}

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	Backup   string // file written by Backup
	Database string // path of a SQLite file, or postgres://…; must be missing or hold no data
	Replace  bool   // SQLite: replace existing data, which is kept next to it
	Keys     *seal.Keyring
	Clock    func() time.Time
	Progress func(string) // may be nil
}

// Restore restores a backup into an empty installation and migrates it to the
// schema of this program. It restores everything or nothing. It returns
// ErrNotBackup, ErrDamaged, ErrNewerBackup, ErrKeyMissing, ErrNotEmpty or
// ErrInUse. Kept is the path of the replaced file, or "" if there was none.
func Restore(ctx context.Context, opts RestoreOptions) (m Manifest, kept string, err error) {
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	newest, err := newestSchema()
	if err != nil {
		return m, "", err
	}
	if m, err = verifyBackup(ctx, opts.Backup, newest, opts.Progress); err != nil {
		return m, "", err
	}
	if err := m.openableBy(opts.Keys); err != nil {
		return m, "", err
	}
	if sqldb.IsPostgres(opts.Database) {
		return m, "", restorePostgres(ctx, opts, m, newest)
	}
	kept, err = restoreSQLite(ctx, opts, newest)
	return m, kept, err
}

// openableBy returns an error if the key ring lacks a key of the backup.
func (m Manifest) openableBy(keys *seal.Keyring) error {
	missing := slices.DeleteFunc(slices.Clone(m.Keys), func(id string) bool { return keys != nil && keys.Has(id) })
	if len(missing) > 0 {
		return fmt.Errorf("%w: its secrets are sealed with the keys %s; put the secret.key of that time into the data "+
			"folder first, or set CARDWALL_SECRET_KEY to its content", ErrKeyMissing, strings.Join(missing, ", "))
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
	if err := to.emptyPostgres(ctx, opts.Database, m.Schema, opts.Clock()); err != nil {
		return err
	}
	tables, err := to.meet(ctx, from)
	if err != nil {
		return err
	}
	if err := to.alone(ctx, tables, opts.Clock()); err != nil {
		return err
	}
	defer func() { _ = to.do(context.WithoutCancel(ctx), "ROLLBACK") }() // no effect after a commit
	if _, err := to.load(ctx, from, tables, 0, newMeter(opts.Progress, "copying", m.Rows()), newMeter(opts.Progress, "comparing",
		m.Rows())); err != nil {
		return err
	}
	if err := to.do(ctx, forgetLeases, renewTags(opts.Clock()), "COMMIT"); err != nil {
		return err
	}
	if err := sqldb.MigratePostgres(ctx, opts.Database, store.Migrations(), newest); err != nil {
		return fmt.Errorf("all data is restored, but its schema is still %d; run cardwall migrate to continue: %w", m.Schema, err)
	}
	return to.do(ctx, "ANALYZE")
}

// meet returns the tables of two databases, which must be the same.
func (b *bulk) meet(ctx context.Context, other *bulk) ([]table, error) {
	tables, err := b.tables(ctx)
	if err != nil {
		return nil, err
	}
	theirs, err := other.tables(ctx)
	if err != nil {
		return nil, err
	}
	return tables, sameTables(tables, theirs)
}

// alone begins a transaction with exclusive locks on all tables. It returns an
// error if they are no longer empty or in use.
func (b *bulk) alone(ctx context.Context, tables []table, now time.Time) error {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	err := b.do(ctx, "BEGIN", sqldb.NoIdleTimeout, "SET LOCAL lock_timeout = '5s'", "LOCK TABLE "+quoted(names...)+" IN ACCESS EXCLUSIVE MODE")
	if err == nil {
		err = b.unused(ctx, now)
	}
	if err != nil {
		return errors.Join(err, b.do(context.WithoutCancel(ctx), "ROLLBACK"))
	}
	return nil
}

func restoreSQLite(ctx context.Context, opts RestoreOptions, newest int64) (kept string, err error) {
	fresh, err := createPartial(opts.Database)
	if err != nil {
		return "", fmt.Errorf("restore: %w", err)
	}
	defer func() {
		if removed := os.Remove(fresh); !errors.Is(removed, fs.ErrNotExist) { // already renamed on success
			err = errors.Join(err, removed)
		}
	}()
	opts.Progress("writing the database")
	if err := copyBackup(opts.Backup, fresh); err != nil {
		return "", err
	}
	if err := prepareDatabase(ctx, fresh, newest, opts.Clock()); err != nil {
		return "", err
	}
	return installFile(ctx, opts, fresh)
}

// copyBackup copies a backup without its last line.
func copyBackup(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = unsealBackup(in, out)
	return err
}

// prepareDatabase turns the copy of a backup into a database of this program and
// syncs it to disk.
func prepareDatabase(ctx context.Context, file string, newest int64, now time.Time) (err error) {
	b, err := openBulkFile(ctx, file, "mode=rw&_pragma=synchronous(FULL)")
	if err != nil {
		return err
	}
	if err := errors.Join(b.do(ctx, "DROP TABLE backup", "DROP TABLE backup_tables", forgetLeases, renewTags(now)), b.close()); err != nil {
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

// installFile moves a file to the path of the database. The existing file is locked
// until then, so that no server starts to use it.
func installFile(ctx context.Context, opts RestoreOptions, fresh string) (kept string, err error) {
	if _, err := os.Stat(opts.Database); errors.Is(err, fs.ErrNotExist) {
		for _, end := range []string{"-wal", "-journal"} {
			if _, err := os.Stat(opts.Database + end); err == nil {
				return "", fmt.Errorf("%s%s exists without its database, and would damage the restored one; move it elsewhere",
					opts.Database, end)
			}
		}
		if err := os.Link(fresh, opts.Database); err != nil { // a rename would overwrite a file created in the meantime
			return "", err
		}
		return "", errors.Join(os.Remove(fresh), sqldb.SyncFolder(opts.Database))
	}
	old, err := openBulkFile(ctx, opts.Database, "mode=rw&_pragma=busy_timeout(0)")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, old.close()) }()
	filled, err := old.hold(ctx)
	switch {
	case err != nil && sqldb.IsBusy(err):
		return "", fmt.Errorf("%w (%s): stop it first", ErrInUse, opts.Database)
	case !opts.Replace && err != nil:
		return "", fmt.Errorf("%w, and its data cannot be read; --replace moves it aside: %w", ErrNotEmpty, err)
	case !opts.Replace && filled != "":
		return "", fmt.Errorf("%w: it has %s; --replace moves the file aside", ErrNotEmpty, filled)
	}
	if filled != "" || err != nil {
		kept = opts.Database + ".before-restore-" + opts.Clock().UTC().Format("20060102T150405")
		for _, end := range []string{"-wal", "-journal"} { // a damaged database may still have one
			if moved := os.Rename(opts.Database+end, kept+end); moved != nil && !errors.Is(moved, fs.ErrNotExist) {
				return "", moved
			}
		}
		if err := os.Link(opts.Database, kept); err != nil {
			return "", fmt.Errorf("move the old file aside: %w", err)
		}
	}
	if err := os.Rename(fresh, opts.Database); err != nil {
		return kept, err
	}
	return kept, sqldb.SyncFolder(opts.Database)
}

// hold merges the log of a SQLite file that no one else has open into the file,
// locks it, and reports what it holds.
func (b *bulk) hold(ctx context.Context) (filled string, err error) {
	if err := b.do(ctx, "PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE"); err != nil {
		return "", err
	}
	tables, err := b.tables(ctx)
	if err != nil {
		return "", err
	}
	return b.filled(ctx, tables)
}
