package app_test

import (
	"fmt"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A person's own change appears in the person's next report, even if different servers handle the
// two requests and however far the replica lags.
func TestReportsIncludeTheCallersOwnChange(t *testing.T) {
	t.Parallel()
	cluster := apptest.NewReplicated(t)
	s := apptest.New(t, cluster.Primary, apptest.Options{Replica: cluster.Replica})
	other := s.Node()
	ada := s.Person("Ada")
	onOther := ada.At(other)
	id := ada.Must("create_board",
		apptest.Fields{"workspaceId": ada.Workspace("Engines", board.PlanTeam), "name": "One"}).ID()
	list := ada.Must("create_list", apptest.Fields{"boardId": id, "name": "List"}).ID()
	checkSearch := func(i int) {
		t.Helper()
		word := fmt.Sprintf("turbine%d", i)
		card := ada.Must("create_card", apptest.Fields{"listId": list, "title": word}).ID()
		for where, p := range map[string]*apptest.Person{"on the same server": ada, "on the other server": onOther} {
			if found := p.All("search_cards", "id", apptest.Fields{"q": word}); len(found) != 1 || found[0] != card {
				t.Fatalf("%s, the search for card %d found %v, want %s", where, i, found, card)
			}
		}
	}
	for i := range 30 {
		checkSearch(i)
	}
	cluster.Exec(cluster.Replica, "SELECT pg_wal_replay_pause()")
	for i := 30; i < 40; i++ {
		checkSearch(i)
	}
	cluster.Exec(cluster.Replica, "SELECT pg_wal_replay_resume()")
	cluster.Exec(cluster.Replica, "ALTER SYSTEM SET recovery_min_apply_delay = '300ms'")
	cluster.Exec(cluster.Replica, "SELECT pg_reload_conf()")
	for i := 40; i < 50; i++ {
		checkSearch(i)
	}
	cluster.KillReplica()
	for i := 50; i < 60; i++ {
		checkSearch(i)
	}
}
