package dbtool_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/dbtool"
	"cardwall/internal/store"
)

func relocate(t *testing.T, from, to string) dbtool.Relocation {
	t.Helper()
	done, err := dbtool.Relocate(t.Context(), dbtool.RelocateOptions{From: from, To: to, Clock: time.Now})
	if err != nil {
		t.Fatalf("move: %v", err)
	}
	return done
}

func tryRelocate(t *testing.T, from, to string) error {
	t.Helper()
	_, err := dbtool.Relocate(t.Context(), dbtool.RelocateOptions{From: from, To: to, Clock: time.Now})
	return err
}

// tryOpen opens a database like a server and closes it again.
func tryOpen(t *testing.T, database string) error {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Database: database})
	if err == nil {
		err = db.Close()
	}
	return err
}

// After an interrupted move, at most one of the databases is writable. Running the same
// command again completes the move. This takes more than ten seconds, because it interrupts the move at
// each of its steps.
func TestInterruptedRelocation(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "cardwall.db"), apptest.EmptyPostgresURL(t)
	createFull(t, from)
	want := sums(t, from)
	relocate(t, from, to)
	compareSums(t, "moved", sums(t, to), want)
	if err := tryOpen(t, from); err == nil || !strings.Contains(err.Error(), "has moved to postgres://") {
		t.Errorf(`open the moved file: got error %v, want "has moved to postgres://"`, err)
	}
	if err := tryOpen(t, to); err != nil {
		t.Errorf("open the target: %v", err)
	}
	if err := tryRelocate(t, from, to); err == nil || !strings.Contains(err.Error(), "has moved") {
		t.Errorf(`second move: got error %v, want "has moved"`, err)
	}
	if _, err := dbtool.Backup(t.Context(), dbtool.BackupOptions{Database: from, File: filepath.Join(t.TempDir(), "x"),
		Clock: time.Now}); err == nil || !strings.Contains(err.Error(), "has moved") {
		t.Errorf(`back up the moved file: got error %v, want "has moved"`, err)
	}

	// Interrupted after the file is marked and before PostgreSQL is ready.
	from, to = filepath.Join(t.TempDir(), "cardwall.db"), apptest.PostgresURL(t)
	createFull(t, from)
	want = sums(t, from)
	damage(t, to, `CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'cut'; END $$`,
		"CREATE TRIGGER cut BEFORE DELETE ON settings FOR EACH ROW WHEN (old.key = 'arriving') EXECUTE FUNCTION cut()")
	if err := tryRelocate(t, from, to); err == nil || !strings.Contains(err.Error(), "run the same command again") {
		t.Errorf(`interrupted before PostgreSQL is ready: got error %v, want "run the same command again"`, err)
	}
	for _, database := range []string{from, to} {
		if tryOpen(t, database) == nil {
			t.Errorf("open %s before the move is complete: got no error, want one", database)
		}
	}
	damage(t, to, "DROP TRIGGER cut ON settings")
	if done := relocate(t, from, to); !done.Finished {
		t.Errorf("second call: got %+v, want Finished", done)
	}
	if err := tryOpen(t, to); err != nil {
		t.Error(err)
	}
	compareSums(t, "finished", sums(t, to), want)

	// Interrupted after the commit in PostgreSQL and before the file is marked.
	from, to = filepath.Join(t.TempDir(), "cardwall.db"), apptest.PostgresURL(t)
	createFull(t, from)
	damage(t, from, "CREATE TRIGGER cut BEFORE INSERT ON settings WHEN new.key = 'moved_to' BEGIN SELECT RAISE(ABORT, 'cut'); END")
	if err := tryRelocate(t, from, to); err == nil || !strings.Contains(err.Error(), "stays in use") {
		t.Errorf(`interrupted before the file is marked: got error %v, want "stays in use"`, err)
	}
	if err := tryOpen(t, from); err != nil {
		t.Errorf("open the file that was not marked as moved: %v", err)
	}
	if err := tryOpen(t, to); err == nil || !strings.Contains(err.Error(), "has not finished") {
		t.Errorf(`open the incomplete target: got error %v, want "has not finished"`, err)
	}
	damage(t, from, "DROP TRIGGER cut", "UPDATE organizations SET name = 'Later'")
	want = sums(t, from)
	if done := relocate(t, from, to); done.Finished {
		t.Errorf("second call: got %+v, want a complete move", done)
	}
	compareSums(t, "moved again", sums(t, to), want)

	// A move does not overwrite data that another move copied.
	other := filepath.Join(t.TempDir(), "other.db")
	createFull(t, other)
	if err := tryRelocate(t, other, to); !errors.Is(err, dbtool.ErrNotEmpty) {
		t.Errorf("move to a database with other data: got error %v, want %v", err, dbtool.ErrNotEmpty)
	}
}

func damage(t *testing.T, database string, texts ...string) {
	t.Helper()
	if err := dbtool.Damage(t.Context(), database, texts...); err != nil {
		t.Fatal(err)
	}
}

// A server that uses the file can still read after a move, but it can no longer write.
func TestRunningServerStopsWriting(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "cardwall.db"), apptest.EmptyPostgresURL(t)
	db := apptest.OpenStore(t, from)
	write := func(id string) error {
		ctx := t.Context()
		return db.Write(ctx, board.System(), func(tx *store.Tx) error {
			return affect(ctx, tx, "INSERT INTO organizations (id, name, plan, created_at) VALUES ($1, 'x', 'team', 1)", id)
		})
	}
	if err := write("org_1"); err != nil {
		t.Fatal(err)
	}
	// A write by another process does not prevent the server from writing.
	if err := dbtool.ChangeFile(t.Context(), from, "UPDATE organizations SET name = 'y'"); err != nil {
		t.Fatal(err)
	}
	if err := write("org_2"); err != nil {
		t.Fatal(err)
	}
	relocate(t, from, to)
	for range 2 {
		if err := write("org_3"); !board.IsCode(err, board.CodeUnavailable) || !strings.Contains(err.Error(), "has moved") {
			t.Errorf(`write after the move: got error %v, want unavailable and "has moved"`, err)
		}
	}
	if err := db.Ping(t.Context()); err == nil {
		t.Error("Ping after the move: got no error, want one")
	}
	if got := apptest.Select(t, db, "SELECT id FROM organizations ORDER BY id"); !slices.Equal(got, []string{"org_1", "org_2"}) {
		t.Errorf("got organizations %q in the file, want [org_1 org_2]", got)
	}
	if got := apptest.Select(t, apptest.OpenStore(t, to), "SELECT id FROM organizations ORDER BY id"); !slices.Equal(got,
		[]string{"org_1", "org_2"}) {
		t.Errorf("got organizations %q in PostgreSQL, want [org_1 org_2]", got)
	}
}

// While another process holds the write lock, all waiting writes fail together after one
// timeout. Later writes fail after a short wait.
func TestWritesFailWhileTheFileIsLocked(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cardwall.db")
	db, other := apptest.OpenStore(t, file), apptest.OpenStore(t, file)
	release, err := dbtool.HoldFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	writeTo := func(db *store.DB) error {
		return db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
			return affect(t.Context(), tx, "UPDATE organizations SET name = 'x'")
		})
	}
	write := func() error { return writeTo(db) }
	start := time.Now()
	var one, all time.Duration // how long one write waits, and how long 20 wait
	var waiting, single sync.WaitGroup
	single.Go(func() {
		if err := writeTo(other); !board.IsCode(err, board.CodeUnavailable) {
			t.Errorf("single write: got error %v, want unavailable", err)
		}
		one = time.Since(start)
	})
	for range 20 {
		waiting.Go(func() {
			if err := write(); !board.IsCode(err, board.CodeUnavailable) {
				t.Errorf("waiting write: got error %v, want unavailable", err)
			}
		})
	}
	waiting.Wait()
	all = time.Since(start)
	single.Wait()
	if all > 3*one {
		t.Errorf("20 concurrent writes waited %s, want about as long as one, which waited %s", all, one)
	}
	start = time.Now()
	if err := write(); !board.IsCode(err, board.CodeUnavailable) {
		t.Errorf("later write: got error %v, want unavailable", err)
	}
	if waited := time.Since(start); waited > one/2 {
		t.Errorf("later write waited %s, want much less than the first one, which waited %s", waited, one)
	}
	apptest.Select(t, db, "SELECT name FROM organizations")
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Errorf("write after the release: %v", err)
	}
}
