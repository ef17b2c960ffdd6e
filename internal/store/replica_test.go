package store_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// openReplicated opens a store that reads reports from a replica, and returns it with
// its log.
func openReplicated(t *testing.T, primary, replica string) (*store.DB, *apptest.Buffer) {
	t.Helper()
	log := &apptest.Buffer{}
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

// report returns the names of the organizations, and reports whether it read them from a
// replica.
func report(t *testing.T, db *store.DB) (names []string, fromReplica bool) {
	t.Helper()
	if err := db.Report(t.Context(), board.System(), func(v *store.View) (err error) {
		if names, err = v.Raw().Strings(t.Context(), "SELECT name FROM organizations ORDER BY id"); err != nil {
			return err
		}
		inRecovery, err := v.Raw().Strings(t.Context(), "SELECT CAST(pg_is_in_recovery() AS TEXT)")
		fromReplica = len(inRecovery) == 1 && inRecovery[0] == "true"
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names, fromReplica
}

// Reports are read from the replica, or from the primary if the replica lags. No report
// misses a change.
func TestReportsAreReadFromTheReplica(t *testing.T) {
	t.Parallel()
	cluster := apptest.NewReplicated(t)
	db, log := openReplicated(t, cluster.Primary, cluster.Replica)
	n := 0
	changeAndReport := func() (fromReplica bool) {
		t.Helper()
		n++
		apptest.Change(t, db, fmt.Sprintf("INSERT INTO organizations (id, name, plan, created_at) VALUES ('org_%03d', 'O%d', 'team', 1)", n, n))
		names, fromReplica := report(t, db)
		if len(names) != n || names[n-1] != fmt.Sprintf("O%d", n) {
			t.Fatalf("change %d is missing in the next report (read from the replica: %v)", n, fromReplica)
		}
		return fromReplica
	}
	waitUntil := func(fromReplica bool) {
		t.Helper()
		apptest.Eventually(t, fmt.Sprintf("a report comes from the replica: %t", fromReplica), func() bool {
			return changeAndReport() == fromReplica
		})
	}
	waitUntil(true)
	loggedLag := func() bool {
		text := log.String()
		return strings.Contains(text, "reports read from the primary") && strings.Contains(text, "behind")
	}
	// On a slow machine, the log may give another reason, so several attempts are made.
	for attempt := 1; attempt == 1 || attempt <= 5 && !loggedLag(); attempt++ {
		cluster.Exec(cluster.Replica, "SELECT pg_wal_replay_pause()")
		waitUntil(false)
		cluster.Exec(cluster.Replica, "SELECT pg_wal_replay_resume()")
		waitUntil(true)
	}
	if !loggedLag() {
		t.Errorf("the log does not report that the replica is behind:\n%s", log)
	}
	cluster.Exec(cluster.Replica, "ALTER SYSTEM SET recovery_min_apply_delay = '2s'")
	cluster.Exec(cluster.Replica, "SELECT pg_reload_conf()")
	waitUntil(false)
	cluster.Exec(cluster.Replica, "ALTER SYSTEM RESET recovery_min_apply_delay")
	cluster.Exec(cluster.Replica, "SELECT pg_reload_conf()")
	waitUntil(true)
	// Short reads always use the primary.
	if inRecovery := apptest.Select(t, db, "SELECT CAST(pg_is_in_recovery() AS TEXT)"); inRecovery[0] != "false" {
		t.Error("a short read used the replica")
	}
	cluster.KillReplica()
	for range 20 {
		if changeAndReport() {
			t.Fatal("a report was read from a replica that was killed")
		}
	}
}

// A replica of a different installation is never read.
func TestReplicaOfAnotherInstallationIsNotRead(t *testing.T) {
	t.Parallel()
	cluster := apptest.NewReplicated(t)
	cluster.Exec(cluster.Primary, "CREATE DATABASE another")
	other := func(address string) string { return strings.Replace(address, "/postgres?", "/another?", 1) }
	apptest.OpenStore(t, other(cluster.Primary))
	for name, c := range map[string]struct{ primary, replica, reason string }{
		"another installation": {cluster.Primary, other(cluster.Replica), "a different installation"},
		"a primary":            {cluster.Primary, cluster.Primary, "a primary, not a replica"},
		"no server":            {cluster.Primary, "postgres://postgres@127.0.0.1:1/postgres?connect_timeout=1", "the replica cannot be read"},
	} {
		for attempt := 1; ; attempt++ { // on a busy machine, the first check of the replica may time out
			db, log := openReplicated(t, c.primary, c.replica)
			for range 3 {
				if _, fromReplica := report(t, db); fromReplica {
					t.Errorf("%s: a report was read from the replica", name)
				}
			}
			if strings.Contains(log.String(), c.reason) {
				break
			}
			if attempt == 5 {
				t.Errorf("%s: the log does not contain %q:\n%s", name, c.reason, log)
				break
			}
		}
	}
	if _, err := store.Open(t.Context(), store.Options{Database: t.TempDir() + "/cardwall.db", Migrate: true,
		Replica: cluster.Replica}); err == nil {
		t.Error("Open accepted a replica of a SQLite file")
	}
}
