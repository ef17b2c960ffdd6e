package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Before a migration changes a SQLite file that is not new, the file is copied within
// its folder. The copy has a temporary name until it is complete and synced to disk. A
// file with the final name is therefore always a complete copy.

const (
	copiesKept   = 2        // number of newest copies to keep
	copyMargin   = 64 << 20 // bytes that must stay free in addition to the copy
	copyInfix    = ".before-migration-"
	partialInfix = ".partial-before-migration-"
	lockSuffix   = ".migrating"
)

// migrationCopy guards the migration of one SQLite file. It holds a lock that prevents
// other processes from migrating the same file. While a migration has not finished, the
// lock file contains the version and name of the copy.
type migrationCopy struct {
	database string
	lock     *os.File
}

// lockMigration acquires the migration lock. It removes the partial copy of an
// interrupted migration, if any.
func lockMigration(database string) (*migrationCopy, error) {
	f, err := os.OpenFile(database+lockSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the migration lock: %w", err)
	}
	c := &migrationCopy{database: database, lock: f}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", errMigrating, err), f.Close())
	}
	left, err := c.files(partialInfix)
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("remove an interrupted copy: %w", err), c.close())
	}
	return c, nil
}

func (c *migrationCopy) close() error { return errors.Join(unlockFile(c.lock), c.lock.Close()) }

// files returns the copies of the database whose names contain infix, oldest first. Their
// names end in the time of the copy.
func (c *migrationCopy) files(infix string) ([]string, error) {
	folder, base := filepath.Split(c.database)
	entries, err := os.ReadDir(filepath.Clean(filepath.Join(folder, ".")))
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		name := e.Name()
		if (strings.HasPrefix(name, base+infix) || strings.HasPrefix(name, "."+base+infix)) && e.Type().IsRegular() {
			found = append(found, filepath.Join(folder, name))
		}
	}
	slices.SortFunc(found, func(a, b string) int { return strings.Compare(copyTime(a), copyTime(b)) })
	return found, nil
}

// copyTime returns the time in the name of a copy.
func copyTime(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

// make copies the database, whose schema has the given version. If it continues an
// interrupted migration that has already changed the schema, it keeps the existing copy.
func (c *migrationCopy) make(ctx context.Context, pool *sql.DB, version int64, opts Options) error {
	if c.begun(version) {
		return nil
	}
	suffix := fmt.Sprintf("%d-%s", version, opts.Clock().UTC().Format("20060102T150405"))
	folder, base := filepath.Split(c.database)
	partial, final := filepath.Join(folder, "."+base+partialInfix+suffix), c.database+copyInfix+suffix
	if err := c.checkRoom(); err != nil {
		return err
	}
	opts.Progress("copying the database before the migration")
	f, err := os.OpenFile(partial, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy the database before the migration: %w", err)
	}
	defer func() { _ = f.Close() }()
	if _, err := pool.ExecContext(ctx, "VACUUM INTO ?", partial); err != nil {
		return errors.Join(fmt.Errorf("copy the database before the migration: %w", err), os.Remove(partial))
	}
	if err := f.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync the copy to disk: %w", err), os.Remove(partial))
	}
	if err := os.Rename(partial, final); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	if err := errors.Join(SyncFolder(final), c.note(version, filepath.Base(final)), c.prune(opts)); err != nil {
		return fmt.Errorf("finish the copy made before the migration: %w", err)
	}
	opts.Log.Info("copied the database before the migration", "file", final)
	return nil
}

// checkRoom returns an error that wraps errNoRoom if the disk has no room for a copy.
func (c *migrationCopy) checkRoom() error {
	free, _, err := DiskRoom(filepath.Dir(c.database))
	if err != nil {
		return nil // unknown on this system; if the disk is full, copying fails and the partial copy is removed
	}
	need := uint64(copyMargin)
	for _, file := range []string{c.database, c.database + "-wal"} {
		if info, err := os.Stat(file); err == nil {
			need += uint64(max(0, info.Size()))
		}
	}
	if free < need {
		return fmt.Errorf("%w: the copy before the migration needs %d MB, but only %d MB are free next to %s; free some space there",
			errNoRoom, need>>20, free>>20, c.database)
	}
	return nil
}

// note records the version and name of the copy when a migration begins. An empty name
// records that the migration has ended.
func (c *migrationCopy) note(version int64, name string) error {
	text := ""
	if name != "" {
		text = fmt.Sprintf("%d %s\n", version, name)
	}
	if err := c.lock.Truncate(0); err != nil {
		return err
	}
	if _, err := c.lock.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return c.lock.Sync()
}

// begun reports whether an interrupted migration has made its copy and has then migrated
// the file to a newer version. No server has written to the file since then, because no
// server accepts an intermediate schema version.
func (c *migrationCopy) begun(version int64) bool {
	text, err := io.ReadAll(io.NewSectionReader(c.lock, 0, 1<<10))
	if err != nil {
		return false
	}
	from, name, ok := strings.Cut(strings.TrimSpace(string(text)), " ")
	if at, err := strconv.ParseInt(from, 10, 64); !ok || err != nil || at >= version {
		return false
	}
	_, err = os.Stat(filepath.Join(filepath.Dir(c.database), filepath.Base(name)))
	return err == nil
}

// prune removes all but the newest copies.
func (c *migrationCopy) prune(opts Options) error {
	all, err := c.files(copyInfix)
	if err != nil {
		return err
	}
	for _, name := range all[:max(0, len(all)-copiesKept)] {
		if err := os.Remove(name); err != nil {
			return err
		}
		opts.Log.Info("removed an old copy of the database", "file", name)
	}
	return nil
}
