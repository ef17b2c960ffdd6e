package app_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// list_recent_activity merges the activity of all boards that a person can see, newest first.
func TestRecentActivityMergesAllBoards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		random := rand.New(rand.NewPCG(3, 7))
		var boards, lists []string
		for i := range 9 {
			visibility := allVisibilities[i%3]
			b := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Board", "visibility": visibility}).ID()
			boards, lists = append(boards, b), append(lists, ada.Must("create_list", fields{"boardId": b, "name": "To do"}).ID())
		}
		for i := range 60 {
			// Some boards get many cards, others get none.
			ada.Must("create_card", fields{"listId": lists[random.IntN(1+random.IntN(9))], "title": fmt.Sprint(i)})
		}
		ada.Must("archive_board", fields{"boardId": boards[0]})
		ada.Must("trash_board", fields{"boardId": boards[3]})
		ada.Must("share_board", fields{"boardId": boards[1], "userId": bob.ID, "role": "viewer"})
		for _, p := range []*apptest.Person{ada, bob, ada.Within(ada.Workspace("Elsewhere", board.PlanTeam))} {
			type entry struct{ at, board, id string }
			var all []entry
			for _, b := range p.All("list_boards", "id", fields{"includeArchived": true}) {
				at, id := p.All("list_board_activity", "at", fields{"boardId": b}), p.All("list_board_activity", "id",
					fields{"boardId": b})
				for i := range id {
					all = append(all, entry{at[i], b, id[i]})
				}
			}
			slices.SortStableFunc(all, func(a, b entry) int { // each board's entries are already in order
				if a.at != b.at {
					return -compareText(a.at, b.at)
				}
				return -compareText(a.board, b.board)
			})
			want := []string(nil)
			for _, e := range all {
				want = append(want, e.id)
			}
			for _, limit := range []int{1, 2, 3, 7, 10, 50, 200} {
				if got := p.All("list_recent_activity", "id", fields{"limit": limit}); !slices.Equal(got, want) {
					t.Errorf("%s, limit %d: got %d entries\n%v, want %d\n%v", p.Name, limit, len(got), got, len(want), want)
				}
			}
		}
		if got := s.Person("Eve").All("list_recent_activity", "id", nil); len(got) > 0 {
			t.Errorf("a person without access sees %v, want nothing", got)
		}
	})
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestWalkingRecentActivityWhileOthersWrite(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		var lists []string
		for range 4 {
			_, l, _ := newBoardWithCards(ada, workspace, 1, 4)
			lists = append(lists, l...)
		}
		for limit := 1; limit <= 7; limit += 2 {
			stable := ada.All("list_recent_activity", "id", fields{"limit": 200})
			stable = stable[:min(60, len(stable))]
			writers := startWriters(func(random *rand.Rand) {
				if a := ada.Call("create_card",
					fields{"listId": lists[random.IntN(len(lists))], "title": "noise"}); a.Status != 201 {
					t.Errorf("writer: got status %d, body %s; want 201", a.Status, a.Raw)
				}
			})
			got := readPages(ada, "list_recent_activity", fields{"limit": limit}, stable, func(int) {})
			writers.stop()
			if !slices.Equal(got, stable) {
				t.Errorf("limit %d: got\n%v, want\n%v", limit, got, stable)
			}
		}
	})
}
