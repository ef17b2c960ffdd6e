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

// createFull creates an installation in which every table has rows.
func createFull(t *testing.T, database string) {
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
			t.Errorf("got no rows in %s, want at least one", s.Name)
		}
	}
	return out
}

// compareSums fails the test unless two databases have the same tables with the same checksums. If
// step begins with "restored", it ignores the tables that Restore changes.
func compareSums(t *testing.T, step string, got, want map[string]string) {
	t.Helper()
	if len(want) < 30 {
		t.Errorf("%s: got %d tables to compare, want at least 30", step, len(want))
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		// Restore also changes rows of the other two tables, which checkChanged checks.
		changed := slices.Contains([]string{"leases", "settings", "automation_boards"}, name) && strings.HasPrefix(step, "restored")
		if got[name] != want[name] && !changed {
			t.Errorf("%s: got %s in %s, want %s", step, got[name], name, want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: got %d tables, want %d", step, len(got), len(want))
	}
}

// checkChanged fails the test unless a restored database has the settings of the original one, with a
// new names_version, which makes the entity tags of the original invalid, and the boards with
// automation, without a server that handles them.
func checkChanged(t *testing.T, restored, backedUp string) {
	t.Helper()
	const others, names = "SELECT key || value FROM settings WHERE key <> 'names_version' ORDER BY key",
		"SELECT value FROM settings WHERE key = 'names_version'"
	from, to := apptest.OpenStore(t, backedUp), apptest.OpenStore(t, restored)
	if got, want := apptest.Select(t, to, others), apptest.Select(t, from, others); !slices.Equal(got, want) {
		t.Errorf("restored: got settings %q, want %q", got, want)
	}
	if got, old := apptest.Select(t, to, names), apptest.Select(t, from, names); len(got) != 1 || slices.Equal(got, old) {
		t.Errorf("restored: got names_version %q, want one other than %q", got, old)
	}
	got := apptest.Select(t, to, "SELECT board_id || handled || holder || until FROM automation_boards ORDER BY 1")
	if want := apptest.Select(t, from, "SELECT board_id || handled || '0' FROM automation_boards ORDER BY 1"); !slices.Equal(got, want) {
		t.Errorf("restored: got boards with automation %q, want %q", got, want)
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

// Every table, including the search index, keeps its content through a move from SQLite
// to PostgreSQL, and through a backup and restore into SQLite and then into PostgreSQL.
// This takes more than ten seconds, because it copies all tables three times.
func TestEveryTableIsMovedAndRestored(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first, last := filepath.Join(folder, "first.db"), filepath.Join(folder, "last.db")
	createFull(t, first)
	want := sums(t, first)

	moved := apptest.EmptyPostgresURL(t)
	var plan dbtool.Plan
	done, err := dbtool.Relocate(t.Context(), dbtool.RelocateOptions{From: first, To: moved, Clock: time.Now,
		Plan: func(p dbtool.Plan) { plan = p }})
	if err != nil {
		t.Fatalf("move: %v", err)
	}
	if plan.Rows != done.Rows || plan.Tables != len(want) || plan.Estimate <= 0 || plan.Bytes <= 0 {
		t.Errorf("got plan %+v and result %+v, want the same %d tables and rows", plan, done, len(want))
	}
	compareSums(t, "moved to PostgreSQL", sums(t, moved), want)

	one := filepath.Join(folder, "one.backup")
	if m := backup(t, moved, one); m.Source != "postgres" || m.Rows() != done.Rows {
		t.Errorf("got a backup of %d rows from %s, want %d rows from postgres", m.Rows(), m.Source, done.Rows)
	}
	restore(t, one, last)
	compareSums(t, "restored into SQLite", sums(t, last), want)
	checkChanged(t, last, moved)

	two := filepath.Join(folder, "two.backup")
	if m := backup(t, last, two); m.Source != "sqlite" || m.Rows() != done.Rows-1 { // Restore has deleted two leases and added one setting
		t.Errorf("got a backup of %d rows from %s, want %d rows from sqlite", m.Rows(), m.Source, done.Rows-1)
	}
	again := apptest.EmptyPostgresURL(t)
	restore(t, two, again)
	compareSums(t, "restored into PostgreSQL", sums(t, again), want)
	checkChanged(t, again, moved)

	// The restored databases have the same indexes, keys and search index as new ones. The names of
	// indexes are not compared, because PostgreSQL chooses those of partitions.
	fresh := apptest.OpenStore(t, apptest.EmptyPostgresURL(t))
	indexes := `SELECT regexp_replace(indexdef, 'INDEX \S+ ON', 'INDEX ON') FROM pg_indexes WHERE schemaname = 'public'
		AND tablename <> 'migration_lease' ORDER BY 1`
	keys := "SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint " +
		"WHERE contype IN ('f', 'p') AND conrelid <> COALESCE(to_regclass('migration_lease'), 0) ORDER BY 1"
	empty := apptest.OpenStore(t, filepath.Join(t.TempDir(), "empty.db"))
	for _, text := range []string{indexes, keys} {
		if got, want := apptest.Select(t, apptest.OpenStore(t, again), text), apptest.Select(t, fresh, text); !slices.Equal(got, want) {
			t.Errorf("%s: got %d rows after a restore to PostgreSQL, want the %d rows of a new database", text, len(got),
				len(want))
		}
	}
	schema := "SELECT COALESCE(sql, name) FROM sqlite_schema ORDER BY name"
	if got, want := apptest.Select(t, apptest.OpenStore(t, last), schema), apptest.Select(t, empty, schema); !slices.Equal(got, want) {
		t.Errorf("got %d schema entries after a restore to SQLite, want the %d entries of a new database", len(got),
			len(want))
	}
}

// A backup has mode 0600. Restore refuses a file if any byte of it has changed, if it is truncated,
// or if it is not a backup.
func TestDamagedBackupsAreRefused(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	database, file := filepath.Join(folder, "cardwall.db"), filepath.Join(folder, "good.backup")
	createFull(t, database)
	backup(t, database, file)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v (%v), want 0600", info.Mode(), err)
	}
	target := filepath.Join(folder, "target.db")
	refused := func(name string, content []byte, want error) {
		t.Helper()
		bad := filepath.Join(folder, "bad.backup")
		if err := os.WriteFile(bad, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := dbtool.Restore(t.Context(), dbtool.RestoreOptions{Backup: bad, Database: target,
			Clock: time.Now}); !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", name, err, want)
		}
		if files, _ := filepath.Glob(filepath.Join(folder, "*target*")); files != nil {
			t.Errorf("%s: got files %v, want none", name, files)
		}
	}
	for at := 100; at < len(good); at += len(good)/40 + 1 {
		flipped := bytes.Clone(good)
		flipped[at] ^= 0x10
		refused(fmt.Sprintf("byte %d flipped", at), flipped, dbtool.ErrDamaged)
	}
	for _, tail := range []int{1, 40, 85} { // positions in the last line
		flipped := bytes.Clone(good)
		flipped[len(good)-tail] ^= 0x01
		refused(fmt.Sprintf("byte %d from the end flipped", tail), flipped, dbtool.ErrDamaged)
	}
	refused("truncated", good[:len(good)/2], dbtool.ErrDamaged)
	refused("appended byte", append(bytes.Clone(good), 'x'), dbtool.ErrDamaged)
	refused("other file", []byte(strings.Repeat("no backup ", 100)), dbtool.ErrNotBackup)
	refused("empty file", nil, dbtool.ErrNotBackup)

	// The rows are changed, and the checksum of the file is recomputed.
	for name, text := range map[string]string{
		"missing row":   "DELETE FROM labels WHERE id IN (SELECT id FROM labels LIMIT 1)",
		"changed row":   "UPDATE cards SET title = title || '!' WHERE id IN (SELECT id FROM cards LIMIT 1)",
		"missing table": "DROP TABLE calendar_feeds",
	} {
		refused(name, changedBackup(t, folder, good, text), dbtool.ErrDamaged)
	}
	refused("newer schema", changedBackup(t, folder, good, "UPDATE backup SET schema = 999"), dbtool.ErrNewerBackup)
	refused("schema of an early version", changedBackup(t, folder, good, "UPDATE backup SET schema = 38"), sqldb.ErrOldSchema)
	refused("newer format", changedBackup(t, folder, good, "UPDATE backup SET format = 2"), dbtool.ErrNewerBackup)
	refused("missing manifest", changedBackup(t, folder, good, "DROP TABLE backup"), dbtool.ErrNotBackup)
	if err := os.WriteFile(file, changedBackup(t, folder, good, "SELECT 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	restore(t, file, target) // a backup with only a recomputed checksum is valid
}

// changedBackup runs an SQL statement on a backup and returns it with a matching checksum in its last
// line.
func changedBackup(t *testing.T, folder string, backup []byte, text string) []byte {
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

// Restore refuses to run if a key of the backup is missing, or if the target contains
// data or is in use.
func TestRestoreRefusals(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		folder := t.TempDir()
		own, err := seal.Parse(seal.NewKey())
		if err != nil {
			t.Fatal(err)
		}
		other, err := seal.Parse(seal.NewKey())
		if err != nil {
			t.Fatal(err)
		}
		source, file := filepath.Join(folder, "source.db"), filepath.Join(folder, "x.backup")
		db, err := store.Open(t.Context(), store.Options{Database: source, Migrate: true, Keys: own})
		if err != nil {
			t.Fatal(err)
		}
		apptest.Change(t, db, "INSERT INTO organizations (id, name, plan, created_at) VALUES ('org_x', 'Engines', 'team', 1)")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if m := backup(t, source, file); !slices.Equal(m.Keys, []string{own.Current()}) {
			t.Errorf("got keys %v in the manifest, want [%s]", m.Keys, own.Current())
		}
		now := time.Now()
		restoreWith := func(keys *seal.Keyring, replace bool) (kept string, err error) {
			_, kept, err = dbtool.Restore(t.Context(), dbtool.RestoreOptions{Backup: file, Database: database, Keys: keys,
				Replace: replace, Clock: func() time.Time { return now }})
			return kept, err
		}
		for _, keys := range []*seal.Keyring{nil, other} {
			if _, err := restoreWith(keys, false); !errors.Is(err, dbtool.ErrKeyMissing) || !strings.Contains(err.Error(), own.Current()) {
				t.Errorf("with the keys %v: got error %v, want %v with the key id %s", keys, err, dbtool.ErrKeyMissing, own.Current())
			}
		}
		// Restore accepts a database that a server has opened before, but not one in use.
		running, err := store.Open(t.Context(), store.Options{Database: database, Migrate: true, Keys: other})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := restoreWith(own, true); !errors.Is(err, dbtool.ErrInUse) {
			t.Errorf("while a server is running: got error %v, want %v", err, dbtool.ErrInUse)
		}
		if err := running.Close(); err != nil {
			t.Fatal(err)
		}
		if kept, err := restoreWith(own, false); err != nil || kept != "" {
			t.Fatalf("into an empty installation: got kept file %q (%v), want none", kept, err)
		}
		restored, err := store.Open(t.Context(), store.Options{Database: database, Keys: own})
		if err != nil {
			t.Fatal(err)
		}
		apptest.Change(t, restored, "UPDATE organizations SET name = 'Later'")
		if err := restored.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := restoreWith(own, false); !errors.Is(err, dbtool.ErrNotEmpty) {
			t.Errorf("over data: got error %v, want %v", err, dbtool.ErrNotEmpty)
		}
		if sqldb.IsPostgres(database) {
			if _, err := restoreWith(own, true); !errors.Is(err, dbtool.ErrNotEmpty) {
				t.Errorf("over data in PostgreSQL, with Replace: got error %v, want %v", err, dbtool.ErrNotEmpty)
			}
			return
		}
		kept, err := restoreWith(own, true)
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{database: "Engines", kept: "Later"} {
			if got := apptest.Select(t, apptest.OpenStore(t, path), "SELECT name FROM organizations"); !slices.Equal(got, []string{want}) {
				t.Errorf("got organizations %q in %s, want [%s]", got, path, want)
			}
		}
		// With Replace, Restore also moves an unreadable file aside.
		damaged := filepath.Join(folder, "damaged.db")
		damage := func(with string) {
			if err := os.WriteFile(damaged, bytes.Repeat([]byte(with), 9000), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		damage("x")
		database = damaged
		if _, err := restoreWith(own, false); !errors.Is(err, dbtool.ErrNotEmpty) {
			t.Errorf("over a damaged file: got error %v, want %v", err, dbtool.ErrNotEmpty)
		}
		first, err := restoreWith(own, true)
		if err != nil || first == "" {
			t.Fatalf("over a damaged file, with Replace: got kept file %q (%v), want one", first, err)
		}
		damage("y")
		second, err := restoreWith(own, true) // in the same second
		if err != nil || second == first {
			t.Fatalf("in the same second: got kept file %q (%v), want another one than %q", second, err, first)
		}
		for path, want := range map[string]string{first: "x", second: "y"} {
			if got, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(got), want) {
				t.Errorf("%s begins with %.1q (%v), want %q", filepath.Base(path), got, err, want)
			}
		}
	})
}

// A backup of an older schema is migrated when it is restored, into SQLite and into PostgreSQL.
func TestOlderBackupIsMigrated(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	old, file := filepath.Join(folder, "old.db"), filepath.Join(folder, "old.backup")
	version := apptest.MigrateBeforeLast(t, old)
	if m := backup(t, old, file); m.Schema != version {
		t.Errorf("got schema %d in the manifest, want %d", m.Schema, version)
	}
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		// A server of this version has opened the database before, so the database's schema is newer
		// than the backup's.
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
			t.Errorf("got organizations %q, want [Engines]", got)
		}
	})
}

// Backup overwrites an earlier backup, but no other file or folder.
func TestBackupKeepsOtherFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	database, file := filepath.Join(folder, "cardwall.db"), filepath.Join(folder, "x.backup")
	createFull(t, database)
	for _, existing := range []string{database, folder} {
		if _, err := dbtool.Backup(t.Context(), dbtool.BackupOptions{Database: database, File: existing, Clock: time.Now}); err == nil {
			t.Errorf("backup to %s: got no error, want one", existing)
		}
	}
	backup(t, database, file)
	apptest.Change(t, apptest.OpenStore(t, database), "UPDATE organizations SET name = 'Later'")
	backup(t, database, file)
	restore(t, file, filepath.Join(folder, "later.db"))
	if got := apptest.Select(t, apptest.OpenStore(t, filepath.Join(folder, "later.db")), "SELECT DISTINCT name "+
		"FROM organizations"); !slices.Equal(got, []string{"Later"}) {
		t.Errorf("got organizations %q from the second backup, want [Later]", got)
	}
	if files, _ := filepath.Glob(filepath.Join(folder, ".*")); files != nil {
		t.Errorf("got temporary files %v, want none", files)
	}
}

// affect runs a statement immediately and returns its error.
func affect(ctx context.Context, tx *store.Tx, text string, args ...any) error {
	_, err := tx.Raw().Affected(ctx, text, args...)
	return err
}
