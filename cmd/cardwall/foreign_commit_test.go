package main

import (
	"errors"
	"path/filepath"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/perf/fleet"
)

// A server on SQLite caches who can see a board. If another process changes that, the next request
// is refused or allowed accordingly.
func TestServerSeesCommitsOfOtherProcesses(t *testing.T) {
	t.Parallel()
	c := newCrashServer(t)
	defer c.start()()
	path := "/boards/" + c.board() + "/lists"
	db := apptest.OpenStore(t, filepath.Join(c.data, "cardwall.db"))
	for round := range 50 {
		for _, change := range []struct {
			trashed any
			want    int // status
		}{{0, 404}, {nil, 200}} { // 0 hides the board
			apptest.Change(t, db, "UPDATE boards SET trashed_at = $1", change.trashed)
			for range 2 {
				got, err := 200, c.do("GET", path, "", nil, nil)
				if refused, ok := errors.AsType[fleet.StatusError](err); ok {
					got = refused.Code
				} else if err != nil {
					t.Fatal(err)
				}
				if got != change.want {
					t.Fatalf("round %d: got status %d after trashed_at became %v, want %d", round, got, change.trashed, change.want)
				}
			}
		}
	}
}
