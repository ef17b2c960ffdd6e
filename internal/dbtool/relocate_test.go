package dbtool_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
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

// opens returns nil if a server can use a database, and otherwise the reason.
func opens(t *testing.T, database string) error {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Database: database})
	if err == nil {
		err = db.Close()
	}
	return err
}

// At whatever point a move is interrupted, at most one database is writable, and
// running the same command again completes the move.
func TestInterruptedMoves(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "cardwall.db"), apptest.EmptyPostgresURL(t)
	full(t, from)
	want := sums(t, from)
	relocate(t, from, to)
	compareSums(t, "moved", sums(t, to), want)
	if err := opens(t, from); err == nil || !strings.Contains(err.Error(), "has moved to postgres://") {
		t.Errorf("open the moved file: %v", err)
	}
	if err := opens(t, to); err != nil {
		t.Errorf("open the target: %v", err)
	}
	if err := tryRelocate(t, from, to); err == nil || !strings.Contains(err.Error(), "has moved") {
		t.Errorf("second move: %v", err)
	}
	if _, err := dbtool.Backup(t.Context(), dbtool.BackupOptions{Database: from, File: filepath.Join(t.TempDir(), "x"),
		Clock: time.Now}); err == nil || !strings.Contains(err.Error(), "has moved") {
		t.Errorf("back up the moved file: %v", err)
	}

	// Interrupted after the file is marked and before PostgreSQL is ready.
	from, to = filepath.Join(t.TempDir(), "cardwall.db"), apptest.PostgresURL(t)
	full(t, from)
	want = sums(t, from)
	damage(t, to, `CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'cut'; END $$`,
		"CREATE TRIGGER cut BEFORE DELETE ON settings FOR EACH ROW WHEN (old.key = 'arriving') EXECUTE FUNCTION cut()")
	if err := tryRelocate(t, from, to); err == nil || !strings.Contains(err.Error(), "run the same command again") {
		t.Errorf("interrupted before PostgreSQL is ready: %v", err)
	}
	for _, database := range []string{from, to} {
		if opens(t, database) == nil {
			t.Errorf("%s is writable although the move is not complete", database)
		}
	}
	damage(t, to, "DROP TRIGGER cut ON settings")
	if done := relocate(t, from, to); !done.Finished {
		t.Errorf("the second call did not finish the first move: %+v", done)
	}
	if err := opens(t, to); err != nil {
		t.Error(err)
	}
	compareSums(t, "finished", sums(t, to), want)

	// Interrupted after the commit in PostgreSQL and before the file is marked.
	from, to = filepath.Join(t.TempDir(), "cardwall.db"), apptest.PostgresURL(t)
	full(t, from)
	damage(t, from, "CREATE TRIGGER cut BEFORE INSERT ON settings WHEN new.key = 'moved_to' BEGIN SELECT RAISE(ABORT, 'cut'); END")
	if err := tryRelocate(t, from, to); err == nil || !strings.Contains(err.Error(), "nothing has moved") {
		t.Errorf("interrupted before the mark: %v", err)
	}
	if err := opens(t, from); err != nil {
		t.Errorf("open the unmarked file: %v", err)
	}
	if err := opens(t, to); err == nil || !strings.Contains(err.Error(), "has not finished") {
		t.Errorf("open the incomplete target: %v", err)
	}
	damage(t, from, "DROP TRIGGER cut", "UPDATE organizations SET name = 'Later'")
	want = sums(t, from)
	if done := relocate(t, from, to); done.Finished {
		t.Errorf("the second call did not start again: %+v", done)
	}
	compareSums(t, "moved again", sums(t, to), want)

	// The data of another move is not overwritten.
	other := filepath.Join(t.TempDir(), "other.db")
	full(t, other)
	if err := tryRelocate(t, other, to); !errors.Is(err, dbtool.ErrNotEmpty) {
		t.Errorf("move to a database with other data: %v", err)
	}
}

func damage(t *testing.T, database string, texts ...string) {
	t.Helper()
	if err := dbtool.Damage(t.Context(), database, texts...); err != nil {
		t.Fatal(err)
	}
}

// A server that uses the file during a move can read all the time, and cannot write
// from the start of the move on.
func TestRunningServerStopsWriting(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "cardwall.db"), apptest.EmptyPostgresURL(t)
	db := apptest.OpenStore(t, from)
	write := func(id string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		return db.Write(ctx, board.System(), func(tx *store.Tx) error {
			return affect(ctx, tx, "INSERT INTO organizations (id, name, plan, created_at) VALUES ($1, 'x', 'team', 1)", id)
		})
	}
	if err := write("org_1"); err != nil {
		t.Fatal(err)
	}
	// A write by another program does not stop the server.
	if err := dbtool.ChangeFile(t.Context(), from, "UPDATE organizations SET name = 'y'"); err != nil {
		t.Fatal(err)
	}
	if err := write("org_2"); err != nil {
		t.Fatal(err)
	}
	relocate(t, from, to)
	for range 2 {
		if err := write("org_3"); !board.IsCode(err, board.CodeUnavailable) || !strings.Contains(err.Error(), "has moved") {
			t.Errorf("after the move: %v", err)
		}
	}
	if err := db.Ping(t.Context()); err == nil {
		t.Error("the server reports that it is ready")
	}
	if got := apptest.Select(t, db, "SELECT id FROM organizations ORDER BY id"); !slices.Equal(got, []string{"org_1", "org_2"}) {
		t.Errorf("the file has %q", got)
	}
	if got := apptest.Select(t, apptest.OpenStore(t, to), "SELECT id FROM organizations ORDER BY id"); !slices.Equal(got,
		[]string{"org_1", "org_2"}) {
		t.Errorf("PostgreSQL has %q", got)
	}
}

// While another process holds the lock, waiting writes are refused together after
// one timeout. Later writes are refused after a short wait.
func TestWritesAreRefusedWhileTheFileIsHeld(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cardwall.db")
	db := apptest.OpenStore(t, file)
	release, err := dbtool.HoldFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	write := func() error {
		return db.Write(t.Context(), board.System(), func(tx *store.Tx) error {
			return affect(t.Context(), tx, "UPDATE organizations SET name = 'x'")
		})
	}
	began := time.Now()
	refused := make(chan error)
	for range 20 {
		go func() { refused <- write() }()
	}
	for range 20 {
		if err := <-refused; !board.IsCode(err, board.CodeUnavailable) {
			t.Errorf("%v", err)
		}
	}
	if waited := time.Since(began); waited > 30*time.Second {
		t.Errorf("20 writes waited %s, one after the other", waited)
	}
	began = time.Now()
	if err := write(); !board.IsCode(err, board.CodeUnavailable) {
		t.Errorf("%v", err)
	}
	if waited := time.Since(began); waited > 5*time.Second {
		t.Errorf("the next write waited %s", waited)
	}
	apptest.Select(t, db, "SELECT name FROM organizations")
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Errorf("write after the release: %v", err)
	}
}
