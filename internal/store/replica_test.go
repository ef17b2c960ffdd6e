package store_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// logBuffer collects the log.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *logBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *logBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *logBuffer) contains(text string) bool { return strings.Contains(s.String(), text) }

// replicated returns a store that reads reports from a replica, and its log.
func replicated(t *testing.T, primary, replica string) (*store.DB, *logBuffer) {
	t.Helper()
	log := &logBuffer{}
	db, err := store.Open(t.Context(), store.Options{Database: primary, Replica: replica, Migrate: true,
		Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, log
}

// report reads the organizations, and reports whether it read them from a replica.
func report(t *testing.T, db *store.DB) (names []string, elsewhere bool) {
	t.Helper()
	if err := db.Report(t.Context(), board.System(), func(v *store.View) (err error) {
		if names, err = v.Raw().Strings(t.Context(), "SELECT name FROM organizations ORDER BY id"); err != nil {
			return err
		}
		where, err := v.Raw().Strings(t.Context(), "SELECT CAST(pg_is_in_recovery() AS TEXT)")
		elsewhere = len(where) == 1 && where[0] == "true"
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names, elsewhere
}

// Reports are read from the replica while it keeps up, and from the primary
// otherwise. No report misses a change.
func TestReportsAreReadFromTheReplica(t *testing.T) {
	t.Parallel()
	both := apptest.NewReplicated(t)
	db, log := replicated(t, both.Primary, both.Replica)
	n := 0
	next := func(want bool) (got bool) {
		t.Helper()
		n++
		apptest.Change(t, db, fmt.Sprintf("INSERT INTO organizations (id, name, plan, created_at) VALUES ('org_%03d', 'O%d', 'team', 1)", n, n))
		names, elsewhere := report(t, db)
		if len(names) != n || names[n-1] != fmt.Sprintf("O%d", n) {
			t.Fatalf("change %d is not in the next report (read from the replica: %v)", n, elsewhere)
		}
		return elsewhere == want
	}
	comes := func(want bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !next(want); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("timed out waiting until reports are read from the replica: %t", want)
			}
		}
	}
	comes(true)
	behind := func() bool { return log.contains("reports read from the primary") && log.contains("behind") }
	for round := 1; round == 1 || round <= 5 && !behind(); round++ { // the replica may also be slow for another reason
		both.Exec(both.Replica, "SELECT pg_wal_replay_pause()")
		comes(false)
		both.Exec(both.Replica, "SELECT pg_wal_replay_resume()")
		comes(true)
	}
	if !behind() {
		t.Errorf("the log does not mention it: %s", log.String())
	}
	both.Exec(both.Replica, "ALTER SYSTEM SET recovery_min_apply_delay = '2s'")
	both.Exec(both.Replica, "SELECT pg_reload_conf()")
	comes(false)
	both.Exec(both.Replica, "ALTER SYSTEM RESET recovery_min_apply_delay")
	both.Exec(both.Replica, "SELECT pg_reload_conf()")
	comes(true)
	// Short reads always use the primary.
	if where := apptest.Select(t, db, "SELECT CAST(pg_is_in_recovery() AS TEXT)"); where[0] != "false" {
		t.Error("a read that is not a report used the replica")
	}
	both.KillReplica()
	for range 20 {
		if next(true) {
			t.Fatal("a report was read from a replica that is gone")
		}
	}
}

// A replica of a different installation is never read.
func TestReplicaOfAnotherInstallationIsNotRead(t *testing.T) {
	t.Parallel()
	both := apptest.NewReplicated(t)
	both.Exec(both.Primary, "CREATE DATABASE another")
	other := func(address string) string { return strings.Replace(address, "/postgres?", "/another?", 1) }
	apptest.OpenStore(t, other(both.Primary))
	for what, c := range map[string]struct{ primary, replica, because string }{
		"another installation": {both.Primary, other(both.Replica), "a different installation"},
		"a primary":            {both.Primary, both.Primary, "primary itself"},
		"nobody":               {both.Primary, "postgres://postgres@127.0.0.1:1/postgres?connect_timeout=1", "the replica cannot be read"},
	} {
		for try := 1; ; try++ { // a busy machine may need longer than a second to notice
			db, log := replicated(t, c.primary, c.replica)
			for range 3 {
				if _, elsewhere := report(t, db); elsewhere {
					t.Errorf("%s: the replica was read", what)
				}
			}
			if log.contains(c.because) {
				break
			}
			if try == 5 {
				t.Errorf("%s: the log is %s", what, log)
				break
			}
		}
	}
	if _, err := store.Open(t.Context(), store.Options{Database: t.TempDir() + "/cardwall.db", Migrate: true,
		Replica: both.Replica}); err == nil {
		t.Error("a file with a replica was opened")
	}
}
