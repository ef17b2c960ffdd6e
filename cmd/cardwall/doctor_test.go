package main

import (
	"path/filepath"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/sqldb"
)

// A damaged title differs from its entry in the search index. The doctor says that either may be
// damaged, and leaves them alone unless --reindex is set. It then says what it replaced.
func TestDoctorLeavesDamagedTextToPeople(t *testing.T) {
	t.Parallel()
	apptest.EmptyDatabases(t, func(t *testing.T, database string) {
		c, flags := cli{t, t.TempDir()}, []string(nil)
		file := filepath.Join(c.data, "cardwall.db")
		if sqldb.IsPostgres(database) {
			file, flags = database, []string{"--database", database}
		}
		doctor := func(want int, args ...string) (out, stderr string) {
			t.Helper()
			status, out, stderr := c.run("", append(append([]string{"doctor"}, args...), flags...)...)
			if status != want {
				t.Errorf("doctor %v: got status %d, want %d; it printed %s%s", args, status, want, out, stderr)
			}
			return out, stderr
		}
		c.must(append([]string{"demo"}, flags...)...)
		db := apptest.OpenStore(t, file)
		card := apptest.Select(t, db, "SELECT max(id) FROM cards")[0]
		apptest.Change(t, db, "UPDATE cards SET title = 'X' || substr(title, 2) WHERE id = $1", card)
		problem := "title of card " + card + ": the text and the search index differ, and either may be damaged"
		for _, args := range [][]string{nil, {"--repair"}} {
			out, stderr := doctor(1, args...)
			if !strings.Contains(out, problem) || !strings.Contains(out, "restore the latest backup") ||
				!strings.Contains(out, "doctor --repair --reindex") || strings.Contains(stderr, "--repair") {
				t.Errorf("doctor %v printed %s%s, want both remedies of %q", args, out, stderr, problem)
			}
		}
		if _, stderr := doctor(1, "--reindex"); !strings.Contains(stderr, "--reindex requires --repair") {
			t.Errorf("doctor --reindex printed %q, want that it requires --repair", stderr)
		}
		out, _ := doctor(0, "--repair", "--reindex")
		if !strings.Contains(out, "Repaired by choice: "+problem) || strings.Contains(out, "No problems found") ||
			!strings.Contains(out, "No problems remain. The doctor cannot check whether the data that it kept is correct.") {
			t.Errorf("doctor --repair --reindex printed %s, want what it replaced", out)
		}
		if out, _ := doctor(0); out != "No problems found." {
			t.Errorf("doctor printed %s after the repair, want no problems", out)
		}
	})
}
