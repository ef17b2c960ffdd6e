package store_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/store"
)

// A database that a newer program wrote is left alone.
func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		db := open(t, database)
		change(t, db, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, TRUE)")
		for _, migrate := range []bool{true, false} {
			again, err := store.Open(t.Context(), store.Options{Database: database, Migrate: migrate})
			if err == nil || !strings.Contains(err.Error(), "newer") || !strings.Contains(err.Error(), "999") {
				t.Errorf("opened, or not for that reason: %v", err)
			}
			if again != nil {
				t.Error("a store came with the error")
				_ = again.Close()
			}
		}
	})
}

// Without being asked to, nothing is migrated.
func TestOldSchemaIsRefusedWithoutMigration(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		db, err := store.Open(t.Context(), store.Options{Database: database})
		if err == nil || !strings.Contains(err.Error(), "cardwall migrate") {
			t.Errorf("opened, or not for that reason: %v", err)
		}
		if db != nil {
			_ = db.Close()
		}
	})
}

// Before a file that holds something is migrated it is copied beside itself,
// readable for its owner alone; a file that is up to date is not.
func TestBackupBeforeMigration(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "cardwall.db")
	version, err := store.MigrateBeforeLast(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if version == 0 {
		t.Skip("there is one migration only, so no older schema to come from")
	}
	var said []string
	db, err := store.Open(t.Context(), store.Options{Database: file, Migrate: true, Progress: func(s string) { said = append(said, s) }})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(t, db, "SELECT name FROM organizations"); !slices.Equal(got, []string{"Engines"}) {
		t.Errorf("the migrated file holds %q", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	copies, _ := filepath.Glob(file + ".before-migration-*")
	if len(copies) != 1 || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, copies[0]) }) {
		t.Fatalf("the copies are %v; the progress was %q", copies, said)
	}
	if info, err := os.Stat(copies[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v: mode %v", err, info.Mode())
	}
	again := open(t, file)
	rows(t, again, "SELECT name FROM organizations")
	if after, _ := filepath.Glob(file + ".before-migration-*"); len(after) != 1 {
		t.Errorf("a start without a migration left %v", after)
	}
	// The copy is whole, and what it was: it can be migrated itself.
	restored := open(t, copies[0])
	if got := rows(t, restored, "SELECT name FROM organizations"); !slices.Equal(got, []string{"Engines"}) {
		t.Errorf("the copy holds %q", got)
	}
}

// Of four servers that start at once on an empty database one migrates, and
// all have the same key for cursors.
func TestFourServersStartAtOnce(t *testing.T) {
	t.Parallel()
	database := apptest.EmptyPostgresURL(t)
	var (
		wg   sync.WaitGroup
		keys [4]string
	)
	for i := range keys {
		wg.Go(func() {
			db, err := store.Open(t.Context(), store.Options{Database: database, Migrate: true})
			if err != nil {
				t.Errorf("server %d: %v", i, err)
				return
			}
			keys[i] = string(db.CursorKey())
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if keys[0] == "" || keys[1] != keys[0] || keys[2] != keys[0] || keys[3] != keys[0] {
		t.Error("the servers sign cursors with different keys")
	}
}

// Litestream makes the checkpoints of a file that it replicates.
func TestCheckpointsAreLeftToLitestream(t *testing.T) {
	t.Parallel()
	for litestream, want := range map[bool]string{true: "0", false: "4000"} {
		db, err := store.Open(t.Context(), store.Options{Database: filepath.Join(t.TempDir(), "cardwall.db"), Migrate: true, Litestream: litestream})
		if err != nil {
			t.Fatal(err)
		}
		if got := rows(t, db, "PRAGMA wal_autocheckpoint"); !slices.Equal(got, []string{want}) {
			t.Errorf("with Litestream (%v): checkpoints after %v pages, want %s", litestream, got, want)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
