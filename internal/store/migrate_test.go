package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"cardwall/internal/apptest"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// Open rejects a database whose schema is newer than the program.
func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		db := apptest.OpenStore(t, database)
		apptest.Change(t, db, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, TRUE)")
		for _, migrate := range []bool{true, false} {
			again, err := store.Open(t.Context(), store.Options{Database: database, Migrate: migrate})
			if err == nil || !strings.Contains(err.Error(), "newer") || !strings.Contains(err.Error(), "999") {
				t.Errorf(`got error %v, want one that contains "newer" and version 999`, err)
			}
			if again != nil {
				t.Error("Open returned a store as well as an error")
				_ = again.Close()
			}
		}
	})
}

// Open rejects a database from before the baseline, and one that v0.2.1 has not completely
// upgraded. It changes nothing.
func TestSchemaBeforeTheBaselineIsRefused(t *testing.T) {
	t.Parallel()
	const versions = "SELECT CAST(version_id AS TEXT) FROM goose_db_version ORDER BY version_id"
	for _, c := range []struct {
		name, change string
		want         error
	}{
		{"before v0.2.1", "UPDATE goose_db_version SET version_id = version_id - 13 WHERE version_id > 0", sqldb.ErrOldSchema},
		{"interrupted", "INSERT INTO settings (key, value) VALUES ('done_cards', 'missing')", store.ErrInterruptedUpgrade},
	} {
		t.Run(c.name, func(t *testing.T) {
			apptest.EmptyDatabases(t, func(t *testing.T, database string) {
				db := apptest.OpenStore(t, database)
				apptest.Change(t, db, c.change)
				before := apptest.Select(t, db, versions)
				for _, migrate := range []bool{true, false} {
					again, err := store.Open(t.Context(), store.Options{Database: database, Migrate: migrate})
					if !errors.Is(err, c.want) {
						t.Errorf("got error %v, want %v", err, c.want)
					}
					if again != nil {
						t.Error("Open returned a store as well as an error")
						_ = again.Close()
					}
				}
				if after := apptest.Select(t, db, versions); !slices.Equal(after, before) {
					t.Errorf("got versions %v, want still %v", after, before)
				}
			})
		})
	}
}

// Open migrates only if Options.Migrate is set.
func TestOldSchemaIsRefusedWithoutMigration(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		db, err := store.Open(t.Context(), store.Options{Database: database})
		if err == nil || !strings.Contains(err.Error(), "cardwall migrate") {
			t.Errorf(`got error %v, want one that names "cardwall migrate"`, err)
		}
		if db != nil {
			_ = db.Close()
		}
	})
}

// Before a file with data is migrated, it is copied to the same folder with mode 0600.
// A file that is up to date is not copied.
func TestBackupBeforeMigration(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "cardwall.db")
	if apptest.MigrateBeforeLast(t, file) == 0 {
		t.Skip("there is only one migration, so there is no older schema")
	}
	var (
		progress []string
		log      bytes.Buffer
	)
	db, err := store.Open(t.Context(), store.Options{
		Database: file, Migrate: true, Log: slog.New(slog.NewTextHandler(&log, nil)), Progress: func(s string) { progress = append(progress, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := apptest.Select(t, db, "SELECT name FROM organizations"); !slices.Equal(got, []string{"Engines"}) {
		t.Errorf("got organizations %q after the migration, want [Engines]", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	copies, _ := filepath.Glob(file + ".before-migration-*")
	if len(copies) != 1 || !strings.Contains(log.String(), copies[0]) {
		t.Fatalf("got copies %v, want one that is named in the log:\n%s", copies, &log)
	}
	if len(progress) != 2 || !strings.Contains(progress[0], "copying") || !strings.HasSuffix(progress[1], ", 1 of 1") {
		t.Errorf("got progress %q, want the copy and one migration", progress)
	}
	if info, err := os.Stat(copies[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v (%v), want 0600", info.Mode(), err)
	}
	again := apptest.OpenStore(t, file)
	apptest.Select(t, again, "SELECT name FROM organizations")
	if after, _ := filepath.Glob(file + ".before-migration-*"); len(after) != 1 {
		t.Errorf("got copies %v after a start without a migration, want 1", after)
	}
	// The copy is complete and has the old schema, so it can be migrated too.
	restored := apptest.OpenStore(t, copies[0])
	if got := apptest.Select(t, restored, "SELECT name FROM organizations"); !slices.Equal(got, []string{"Engines"}) {
		t.Errorf("got organizations %q in the copy, want [Engines]", got)
	}
}

// If four servers start at the same time on an empty database, one of them migrates it,
// and all of them sign cursors with the same key.
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
		t.Error("got no cursor key or different keys, want the same key on all servers")
	}
}

// With Litestream, SQLite must not checkpoint on its own.
func TestLitestreamDisablesAutomaticCheckpoints(t *testing.T) {
	t.Parallel()
	for litestream, want := range map[bool]string{true: "0", false: "4000"} {
		db, err := store.Open(t.Context(), store.Options{Database: filepath.Join(t.TempDir(), "cardwall.db"), Migrate: true,
			Litestream: litestream})
		if err != nil {
			t.Fatal(err)
		}
		if got := apptest.Select(t, db, "PRAGMA wal_autocheckpoint"); !slices.Equal(got, []string{want}) {
			t.Errorf("Litestream %v: got wal_autocheckpoint %v, want %s", litestream, got, want)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A newer server migrates the schema while older servers still use it, and an operator may
// have to roll back. So a migration only adds to the schema. Everything that the previous
// version reads and writes remains, and new columns are optional. Tables and columns that
// are no longer needed are removed one version later.
func TestMigrationsOnlyAdd(t *testing.T) {
	t.Parallel()
	const leftover = "only databases that a version before v0.2.1 created have it, and v0.2.1 does not use it"
	allowed := map[string]string{ // exceptions, with the reason why each is safe
		"DROP VIEW IF EXISTS letters":                   leftover,
		"DELETE FROM settings WHERE key = 'open_cards'": leftover,
	}
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		number, err := strconv.Atoi(strings.SplitN(filepath.Base(file), "_", 2)[0])
		if err != nil {
			t.Fatal(err)
		}
		if number <= baseline {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checked++
		for _, statement := range statementsOf(string(text)) {
			if problem := breaks(statement); problem != "" && allowed[statement] == "" {
				t.Errorf("%s %s: %s", file, problem, statement)
			}
		}
	}
	if checked == 0 {
		t.Error("no migration was checked")
	}
	for statement, bad := range map[string]bool{
		"DROP TABLE cards": true, "ALTER TABLE cards DROP COLUMN title": true, "ALTER TABLE cards RENAME TO tasks": true,
		"ALTER TABLE cards RENAME COLUMN title TO name":     true,
		"ALTER TABLE cards ADD COLUMN size BIGINT NOT NULL": true, "ALTER TABLE cards ALTER COLUMN size SET NOT NULL": true,
		"ALTER TABLE cards ALTER COLUMN size TYPE TEXT":       true,
		"ALTER TABLE cards ADD CONSTRAINT one UNIQUE (title)": true, "CREATE UNIQUE INDEX one ON cards (title)": true,
		"DROP INDEX cards_long": false,
		"ALTER TABLE cards ADD COLUMN size BIGINT NOT NULL DEFAULT 0": false, "ALTER TABLE cards ADD COLUMN size BIGINT": false,
		"CREATE TABLE sizes (id TEXT NOT NULL)":   false,
		"CREATE INDEX cards_size ON cards (size)": false, "DELETE FROM cards": true, "ALTER TABLE cards ALTER COLUMN size SET DEFAULT 1": false,
	} {
		if (breaks(statement) != "") != bad {
			t.Errorf("breaks(%q) returned %q, want a problem: %v", statement, breaks(statement), bad)
		}
	}
}

// statementsOf returns the statements of a migration without comments and with
// single spaces.
func statementsOf(text string) (out []string) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code, _, _ := strings.Cut(line, "--")
		b.WriteString(code + " ")
	}
	for statement := range strings.SplitSeq(b.String(), ";") {
		if words := strings.Fields(statement); len(words) > 0 {
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

// breaks returns how a statement would break servers of the previous version, or "" if it
// would not.
func breaks(statement string) string {
	s := strings.ToUpper(statement)
	has := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(s) }
	switch {
	case has(`\bDROP (TABLE|COLUMN|VIEW|CONSTRAINT)\b`), has(`^(DELETE|TRUNCATE)\b`):
		return "removes something"
	case has(`\bRENAME\b`):
		return "renames something"
	case has(`^ALTER TABLE .*\bADD (COLUMN )?.*\bNOT NULL\b`) && !has(`\bDEFAULT\b`), has(`\bSET NOT NULL\b`):
		return "requires a value that older servers do not write"
	case has(`\bALTER COLUMN \w+ (SET DATA )?TYPE\b`):
		return "changes the type of a column"
	case has(`^ALTER TABLE .*\bADD (CONSTRAINT|UNIQUE|CHECK|FOREIGN)\b`), has(`^CREATE UNIQUE INDEX`):
		return "forbids rows that older servers may write"
	}
	return ""
}

// If a migration was killed while it was copying the file, the next migration removes the
// partial copy. It keeps the two newest complete copies.
func TestPartialCopyBeforeMigrationIsRemoved(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "cardwall.db")
	apptest.MigrateBeforeLast(t, file)
	partial := filepath.Join(folder, ".cardwall.db.partial-before-migration-9-20260101T000000")
	old := []string{file + ".before-migration-7-20240101T000000", file + ".before-migration-8-20250101T000000",
		file + ".before-migration-10-20240601T000000"}
	for _, name := range append(old, partial) {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	apptest.OpenStore(t, file)
	copies, _ := filepath.Glob(file + ".before-migration-*")
	if len(copies) != 2 || !slices.Contains(copies, old[1]) {
		t.Errorf("got copies %v, want two, one of them %s", copies, old[1])
	}
	if _, err := os.Stat(partial); !os.IsNotExist(err) {
		t.Errorf("got error %v for the partial copy, want %v", err, os.ErrNotExist)
	}
}

// A migration that continues an interrupted one keeps the copy from before the first step.
// It does not replace this copy with one of an intermediate state.
func TestInterruptedMigrationKeepsItsCopy(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "cardwall.db")
	version := apptest.MigrateBeforeLast(t, file)
	first := fmt.Sprintf("cardwall.db.before-migration-%d-20260101T000000", version-3)
	for name, text := range map[string]string{first: "x", "cardwall.db.migrating": fmt.Sprintf("%d %s\n", version-3, first)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	apptest.OpenStore(t, file)
	copies, _ := filepath.Glob(file + ".before-migration-*")
	if len(copies) != 1 || filepath.Base(copies[0]) != first {
		t.Errorf("got copies %v, want [%s]", copies, first)
	}
	if text, err := os.ReadFile(file + ".migrating"); err != nil || len(text) > 0 {
		t.Errorf("got %q (%v) in the .migrating file after the migration, want an empty file", text, err)
	}
}

// Two processes never migrate the same file at the same time. The second one gets an
// error that tells it to wait and try again.
func TestSecondMigrationWaits(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cardwall.db")
	release := holdMigration(t, file)
	_, err := store.Open(t.Context(), store.Options{Database: file, Migrate: true})
	if reason, wait := sqldb.WaitReason(err); !wait || !strings.Contains(reason, "migrating") {
		t.Errorf("got wait %v, reason %q (%v), want to wait for the other migration", wait, reason, err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	apptest.OpenStore(t, file)
}

// holdMigration holds the migration lock of a file, as another process would, until
// release is called.
func holdMigration(t *testing.T, file string) (release func() error) {
	t.Helper()
	f, err := os.OpenFile(file+".migrating", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	// A child process that another test is starting shares the file until it executes its program.
	return func() error { return errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_UN), f.Close()) }
}
