package dbtool_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/dbtool"
	"cardwall/internal/seal"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// full creates an installation in which every table has rows.
func full(t *testing.T, database string) {
	t.Helper()
	db := apptest.OpenStore(t, database)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := dbtool.FillEveryTable(t.Context(), database); err != nil {
		t.Fatal(err)
	}
}

// sums returns the checksum of every table of a database.
func sums(t *testing.T, database string) map[string]string {
	t.Helper()
	all, err := dbtool.SumEveryTable(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range all {
		out[s.Name] = fmt.Sprintf("%d rows, %s", s.Rows, s.Checksum)
		if s.Rows == 0 && s.Name != "leases" {
			t.Errorf("%s has no rows, so the test shows nothing about it", s.Name)
		}
	}
	return out
}

func compareSums(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if len(want) < 30 {
		t.Errorf("%s: only %d tables were compared", what, len(want))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		// Leases are not restored, and a restored database has a new version of names; see checkSettings.
		changed := (name == "leases" || name == "settings") && strings.HasPrefix(what, "restored")
		if got[name] != want[name] && !changed {
			t.Errorf("%s: %s has %s, want %s", what, name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d tables, want %d", what, len(got), len(want))
	}
}

// checkSettings fails the test if a restored database has other settings than the one that was backed up, or
// if entity tags of that one are still valid there.
func checkSettings(t *testing.T, restored, backedUp string) {
	t.Helper()
	const others, names = "SELECT key || value FROM settings WHERE key <> 'names_version' ORDER BY key",
		"SELECT value FROM settings WHERE key = 'names_version'"
	from, to := apptest.OpenStore(t, backedUp), apptest.OpenStore(t, restored)
	if got, want := apptest.Select(t, to, others), apptest.Select(t, from, others); !slices.Equal(got, want) {
		t.Errorf("restored: the settings are %q, want %q", got, want)
	}
	if got, old := apptest.Select(t, to, names), apptest.Select(t, from, names); len(got) != 1 || slices.Equal(got, old) {
		t.Errorf("restored: the version of names is %q, and was %q", got, old)
	}
}

func backup(t *testing.T, database, file string) dbtool.Manifest {
	t.Helper()
	m, err := dbtool.Backup(t.Context(), dbtool.BackupOptions{Database: database, File: file, Program: "test", Clock: time.Now})
	if err != nil {
		t.Fatalf("back up %s: %v", database, err)
	}
	return m
}

func restore(t *testing.T, file, database string) {
	t.Helper()
	if _, _, err := dbtool.Restore(t.Context(), dbtool.RestoreOptions{Backup: file, Database: database, Clock: time.Now}); err != nil {
		t.Fatalf("restore into %s: %v", database, err)
	}
}

// Every table of the schema has the same content at each step: from SQLite to PostgreSQL, to a
// backup, to SQLite, to a backup, to PostgreSQL. This includes the search index.
func TestEveryTableMoves(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first, last := filepath.Join(folder, "first.db"), filepath.Join(folder, "last.db")
	full(t, first)
	want := sums(t, first)

	moved := apptest.EmptyPostgresURL(t)
	var plan dbtool.Plan
	done, err := dbtool.Relocate(t.Context(), dbtool.RelocateOptions{From: first, To: moved, Clock: time.Now,
		Plan: func(p dbtool.Plan) { plan = p }})
	if err != nil {
		t.Fatalf("move: %v", err)
	}
	if plan.Rows != done.Rows || plan.Tables != len(want) || plan.Takes <= 0 || plan.Bytes <= 0 {
		t.Errorf("the plan was %+v, but the result is %+v", plan, done)
	}
	compareSums(t, "moved to PostgreSQL", sums(t, moved), want)

	one := filepath.Join(folder, "one.backup")
	if m := backup(t, moved, one); m.Source != "postgres" || m.Rows() != done.Rows {
		t.Errorf("the backup of %s has %d rows, want %d", m.Source, m.Rows(), done.Rows)
	}
	restore(t, one, last)
	compareSums(t, "restored into SQLite", sums(t, last), want)
	checkSettings(t, last, moved)

	two := filepath.Join(folder, "two.backup")
	if m := backup(t, last, two); m.Source != "sqlite" || m.Rows() != done.Rows-1 { // two leases less, one setting more
		t.Errorf("the backup of %s has %d rows, want %d", m.Source, m.Rows(), done.Rows-1)
	}
	again := apptest.EmptyPostgresURL(t)
	restore(t, two, again)
	compareSums(t, "restored into PostgreSQL", sums(t, again), want)
	checkSettings(t, again, moved)

	// The schemas are complete too: indexes, keys and the search index.
	fresh := apptest.OpenStore(t, apptest.EmptyPostgresURL(t))
	// PostgreSQL names the indexes of partitions itself.
	indexes := `SELECT regexp_replace(indexdef, 'INDEX \S+ ON', 'INDEX ON') FROM pg_indexes WHERE schemaname = 'public'
		AND tablename <> 'migration_lease' ORDER BY 1`
	keys := "SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint " +
		"WHERE contype IN ('f', 'p') AND conrelid <> COALESCE(to_regclass('migration_lease'), 0) ORDER BY 1"
	empty := apptest.OpenStore(t, filepath.Join(t.TempDir(), "empty.db"))
	for _, text := range []string{indexes, keys} {
		if got, want := apptest.Select(t, apptest.OpenStore(t, again), text), apptest.Select(t, fresh, text); !slices.Equal(got, want) {
			t.Errorf("%s: PostgreSQL has %d after a restore, a new database has %d", text, len(got), len(want))
		}
	}
	schema := "SELECT COALESCE(sql, name) FROM sqlite_schema ORDER BY name"
	if got, want := apptest.Select(t, apptest.OpenStore(t, last), schema), apptest.Select(t, empty, schema); !slices.Equal(got, want) {
		t.Errorf("the schema of SQLite has %d entries after a restore, that of a new database has %d", len(got), len(want))
	}
}

// Only its owner can read a backup. A file is refused if any byte of it has changed, if it is
// truncated, or if it is not a backup.
func TestDamagedBackupsAreRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	database, file := filepath.Join(folder, "cardwall.db"), filepath.Join(folder, "good.backup")
	full(t, database)
	backup(t, database, file)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v: mode %v", err, info.Mode())
	}
	target := filepath.Join(folder, "target.db")
	refused := func(what string, content []byte, want error) {
		t.Helper()
		bad := filepath.Join(folder, "bad.backup")
		if err := os.WriteFile(bad, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := dbtool.Restore(t.Context(), dbtool.RestoreOptions{Backup: bad, Database: target,
			Clock: time.Now}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
		if left, _ := filepath.Glob(filepath.Join(folder, "*target*")); left != nil {
			t.Errorf("%s: %v was left behind", what, left)
		}
	}
	for at := 100; at < len(good); at += len(good)/40 + 1 {
		flipped := bytes.Clone(good)
		flipped[at] ^= 0x10
		refused(fmt.Sprintf("byte %d flipped", at), flipped, dbtool.ErrDamaged)
	}
	for _, tail := range []int{1, 40, 85} { // in the last line
		flipped := bytes.Clone(good)
		flipped[len(good)-tail] ^= 0x01
		refused(fmt.Sprintf("byte %d from the end flipped", tail), flipped, dbtool.ErrDamaged)
	}
	refused("truncated", good[:len(good)/2], dbtool.ErrDamaged)
	refused("with an appended byte", append(bytes.Clone(good), 'x'), dbtool.ErrDamaged)
	refused("another file", []byte(strings.Repeat("no backup ", 100)), dbtool.ErrNotBackup)
	refused("an empty file", nil, dbtool.ErrNotBackup)

	// Change rows and recompute the checksum of the file.
	for what, text := range map[string]string{
		"a row is missing":   "DELETE FROM labels WHERE id IN (SELECT id FROM labels LIMIT 1)",
		"a row was changed":  "UPDATE cards SET title = title || '!' WHERE id IN (SELECT id FROM cards LIMIT 1)",
		"a table is missing": "DROP TABLE calendar_feeds",
	} {
		refused(what, resealed(t, folder, good, text), dbtool.ErrDamaged)
	}
	refused("a newer schema", resealed(t, folder, good, "UPDATE backup SET schema = 999"), dbtool.ErrNewerBackup)
	refused("a newer format", resealed(t, folder, good, "UPDATE backup SET format = 2"), dbtool.ErrNewerBackup)
	refused("no manifest", resealed(t, folder, good, "DROP TABLE backup"), dbtool.ErrNotBackup)
	if err := os.WriteFile(file, resealed(t, folder, good, "SELECT 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	restore(t, file, target) // recomputing the checksum alone is not a reason to refuse it
}

// resealed returns a backup after a change, with the matching checksum in its last line.
func resealed(t *testing.T, folder string, backup []byte, text string) []byte {
	t.Helper()
	file := filepath.Join(folder, "changing.db")
	const tail = len("\ncardwall-backup sha256:") + 65
	if err := os.WriteFile(file, backup[:len(backup)-tail], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dbtool.ChangeFile(t.Context(), file, text); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return append(content, "\ncardwall-backup sha256:"+hex.EncodeToString(sum[:])+"\n"...)
}

// Restore refuses to start without the backup's key, and refuses a database that has data or is in
// use.
func TestRestoreRefusesToDoHarm(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		folder := t.TempDir()
		mine, err := seal.Parse(seal.NewKey())
		if err != nil {
			t.Fatal(err)
		}
		other, err := seal.Parse(seal.NewKey())
		if err != nil {
			t.Fatal(err)
		}
		source, file := filepath.Join(folder, "source.db"), filepath.Join(folder, "x.backup")
		db, err := store.Open(t.Context(), store.Options{Database: source, Migrate: true, Keys: mine})
		if err != nil {
			t.Fatal(err)
		}
		apptest.Change(t, db, "INSERT INTO organizations (id, name, plan, created_at) VALUES ('org_x', 'Engines', 'team', 1)")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if m := backup(t, source, file); !slices.Equal(m.Keys, []string{mine.Current()}) {
			t.Errorf("the backup names the keys %v, want %s", m.Keys, mine.Current())
		}
		restoreWith := func(keys *seal.Keyring, replace bool) (kept string, err error) {
			_, kept, err = dbtool.Restore(t.Context(), dbtool.RestoreOptions{Backup: file, Database: database, Keys: keys,
				Replace: replace, Clock: time.Now})
			return kept, err
		}
		for _, keys := range []*seal.Keyring{nil, other} {
			if _, err := restoreWith(keys, false); !errors.Is(err, dbtool.ErrKeyMissing) || !strings.Contains(err.Error(), mine.Current()) {
				t.Errorf("with the keys %v: %v", keys, err)
			}
		}
		// Restore accepts a database that a server has opened before, but not one in use.
		running, err := store.Open(t.Context(), store.Options{Database: database, Migrate: true, Keys: other})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := restoreWith(mine, true); !errors.Is(err, dbtool.ErrInUse) {
			t.Errorf("while a server runs: %v", err)
		}
		if err := running.Close(); err != nil {
			t.Fatal(err)
		}
		if kept, err := restoreWith(mine, false); err != nil || kept != "" {
			t.Fatalf("into an empty installation: %q %v", kept, err)
		}
		restored, err := store.Open(t.Context(), store.Options{Database: database, Keys: mine})
		if err != nil {
			t.Fatal(err)
		}
		apptest.Change(t, restored, "UPDATE organizations SET name = 'Later'")
		if err := restored.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := restoreWith(mine, false); !errors.Is(err, dbtool.ErrNotEmpty) {
			t.Errorf("over data: %v", err)
		}
		if sqldb.IsPostgres(database) {
			if _, err := restoreWith(mine, true); !errors.Is(err, dbtool.ErrNotEmpty) {
				t.Errorf("over data in PostgreSQL: %v", err)
			}
			return
		}
		kept, err := restoreWith(mine, true)
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range map[string]string{database: "Engines", kept: "Later"} {
			if got := apptest.Select(t, apptest.OpenStore(t, at), "SELECT name FROM organizations"); !slices.Equal(got, []string{want}) {
				t.Errorf("%s contains %q, want %s", at, got, want)
			}
		}
		// A file that cannot be read is moved aside too, but only with Replace.
		damaged := filepath.Join(folder, "damaged.db")
		if err := os.WriteFile(damaged, bytes.Repeat([]byte("x"), 9000), 0o600); err != nil {
			t.Fatal(err)
		}
		database = damaged
		if _, err := restoreWith(mine, false); !errors.Is(err, dbtool.ErrNotEmpty) {
			t.Errorf("over a damaged file: %v", err)
		}
		if kept, err := restoreWith(mine, true); err != nil || kept == "" {
			t.Errorf("over a damaged file, with Replace: %q %v", kept, err)
		}
	})
}

// A backup of an older schema is migrated when it is restored, into either database.
func TestOlderBackupIsMigrated(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	old, file := filepath.Join(folder, "old.db"), filepath.Join(folder, "old.backup")
	version := apptest.MigrateBeforeLast(t, old)
	if m := backup(t, old, file); m.Schema != version {
		t.Errorf("the backup has schema %d, want %d", m.Schema, version)
	}
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		// A server of this version has opened the database before, so its schema is newer than the
		// backup's.
		if err := apptest.OpenStore(t, database).Close(); err != nil {
			t.Fatal(err)
		}
		restore(t, file, database)
		db, err := store.Open(t.Context(), store.Options{Database: database}) // without migrating
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		if got := apptest.Select(t, db, "SELECT name FROM organizations"); !slices.Equal(got, []string{"Engines"}) {
			t.Errorf("the restored database contains %q", got)
		}
	})
}

// Backup overwrites only backups.
func TestBackupLeavesOtherFilesAlone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	database, file := filepath.Join(folder, "cardwall.db"), filepath.Join(folder, "x.backup")
	full(t, database)
	for _, there := range []string{database, folder} {
		if _, err := dbtool.Backup(t.Context(), dbtool.BackupOptions{Database: database, File: there, Clock: time.Now}); err == nil {
			t.Errorf("%s was overwritten", there)
		}
	}
	backup(t, database, file)
	apptest.Change(t, apptest.OpenStore(t, database), "UPDATE organizations SET name = 'Later'")
	backup(t, database, file)
	restore(t, file, filepath.Join(folder, "later.db"))
	if got := apptest.Select(t, apptest.OpenStore(t, filepath.Join(folder, "later.db")), "SELECT DISTINCT name "+
		"FROM organizations"); !slices.Equal(got, []string{"Later"}) {
		t.Errorf("the second backup contains %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(folder, ".*")); left != nil {
		t.Errorf("%v was left behind", left)
	}
}

// affect runs a statement and returns its error immediately.
func affect(ctx context.Context, tx *store.Tx, text string, args ...any) error {
	_, err := tx.Raw().Affected(ctx, text, args...)
	return err
}
