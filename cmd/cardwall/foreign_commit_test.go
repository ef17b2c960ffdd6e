package main

import (
	"path/filepath"
	"testing"

	"cardwall/internal/apptest"
)

// A server on SQLite caches who can see a board. It notices at once when another process has
// changed that.
func TestServerSeesCommitsOfOtherProcesses(t *testing.T) {
	t.Parallel()
	c := newCrashServer(t)
	defer c.start()()
	path := "/boards/" + c.board() + "/lists"
	db := apptest.OpenStore(t, filepath.Join(c.data, "cardwall.db"))
	for round := range 50 {
		for _, change := range []struct {
			trashed any
			visible bool
		}{{1, false}, {nil, true}} {
			apptest.Change(t, db, "UPDATE boards SET trashed_at = $1", change.trashed)
			for range 2 {
				if err := c.do("GET", path, "", nil, nil); (err == nil) != change.visible {
					t.Fatalf("round %d: got %v after trashed_at became %v, want success: %v", round, err, change.trashed, change.visible)
				}
			}
		}
	}
}
