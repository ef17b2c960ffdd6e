package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
)

// A job moves a list whose cards use much storage. The result is the same as for a small list, even
// for a client that applies the changes of both boards.
func TestMoveLargeListToBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		const more = 60
		for i := range more {
			p.make("create_card", fields{"listId": p.here, "title": fmt.Sprint("Card ", i), "description": strings.Repeat("A okapi. ", 1800),
				"labels": []string{p.bug}})
		}
		archived := p.newFullCard("Put away")
		p.ada.Must("archive_card", fields{"cardId": archived})
		in := fields{"boardId": p.from, "archived": "true", "limit": 200}
		before := p.ada.Must("list_cards", in).Data.([]any)
		from, to := boardState(p.ada, p.from), boardState(p.ada, p.to)
		a := p.bob.Call("move_list_to_board", fields{"listId": p.here, "boardId": p.to, "position": fields{"before": p.there}})
		waitForJobs(s)
		jobs := p.bob.Must("list_jobs", fields{"workspaceId": p.workspace})
		if (a.Status != 200 && a.Status != 202) || jobs.Text("0.kind") != "move_list_to_board" || jobs.Text("0.state") != "done" ||
			jobs.Text("0.listId") != p.here || jobs.Text("0.name") != "Here" {
			t.Fatalf("the response is %d %s, and the jobs are %s; want a finished move_list_to_board job", a.Status, a.Raw, jobs.Raw)
		}
		for name, got := range map[string]*apptest.Response{"": &a, "0.": &jobs} {
			if name == "" && a.Status == 202 {
				continue
			}
			if got.Text(name+"droppedLabels.0.id") != p.idea || got.Get(name+"droppedLabels.1") != nil ||
				got.Text(name+"droppedAssignees.0.id") != p.cyd.ID || got.Get(name+"droppedAssignees.1") != nil {
				t.Errorf("the response is %s, want the dropped label %s and the dropped assignee %s", got.Raw, p.idea, p.cyd.ID)
			}
		}
		if a.Status == 200 && (a.Text("list.id") != p.here || a.Text("list.boardId") != p.to || a.Get("list.openCards") != float64(more+1)) {
			t.Errorf("the moved list is %s, want %s on board %s with %d open cards", a.Raw, p.here, p.to, more+1)
		}
		in["boardId"] = p.to
		after := p.ada.Must("list_cards", in).Data.([]any)
		if len(after) != len(before)+2 {
			t.Fatalf("the board has %d cards, want %d", len(after), len(before)+2)
		}
		for i := range before {
			card := after[i].(map[string]any)
			if title := card["title"].(string); !strings.HasPrefix(title, "Card ") {
				checkUnchanged(t, before[i], card)
			}
			if card["number"] != float64(3+i) || card["listId"] != p.here || card["boardId"] != p.to {
				t.Errorf("card %d is %v, want number %d in list %s on board %s", i, card, 3+i, p.here, p.to)
			}
		}
		if got := p.ada.All("list_lists", "id", fields{"boardId": p.to}); !slices.Equal(got, []string{p.here, p.there}) {
			t.Errorf("the lists are %v, want %v", got, []string{p.here, p.there})
		}
		if got := p.ada.All("list_lists", "id", fields{"boardId": p.from, "includeArchived": true}); len(got) != 0 {
			t.Errorf("the source board has the lists %v, want none", got)
		}
		checkReplay(t, p.ada, from, boardState(p.ada, p.from), 7)
		checkReplay(t, p.ada, to, boardState(p.ada, p.to), 50)
		if got := s.Column("SELECT operation || ' ' || subject FROM audit WHERE operation = 'move_list_to_board'"); !slices.Equal(got,
			[]string{"move_list_to_board " + p.here}) {
			t.Errorf("the audit log has %q, want one entry for list %s", got, p.here)
		}
		s.CheckConsistency()
	})
}

// After a large list has moved to another workspace, searches find its cards only there.
func TestMoveLargeListToOtherWorkspace(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		p := newPair(s, "private", "private")
		for i := range 220 {
			p.make("create_card", fields{"listId": p.here, "title": fmt.Sprint("Gnu ", i)})
		}
		w := p.ada.Workspace("Wheels", "team")
		to := p.make("create_board", fields{"workspaceId": w, "name": "Wheels"})
		p.ada.Call("move_list_to_board", fields{"listId": p.here, "boardId": to})
		waitForJobs(s)
		for in, want := range map[string]int{p.workspace: 0, w: 220} {
			if got := p.ada.All("search_cards", "id", fields{"workspaceId": in, "q": "gnu", "limit": 100}); len(got) != want {
				t.Errorf("search in workspace %s: got %d cards, want %d", in, len(got), want)
			}
		}
		s.CheckConsistency()
	})
}
