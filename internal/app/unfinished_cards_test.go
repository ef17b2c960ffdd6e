package app_test

import (
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// unfinishedCards counts the cards that is:open finds, after every kind of change to them.
func TestUnfinishedCardsAreNeitherDoneNorArchived(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		b, lists, order := newBoardWithCards(ada, workspace, 2, 3)
		other, otherLists, _ := newBoardWithCards(ada, workspace, 1, 1)
		first, second := order[lists[0]][0], order[lists[1]][0]
		check := func(after string) {
			t.Helper()
			for _, id := range []string{b, other} {
				want := float64(len(ada.All("list_cards", "id", fields{"boardId": id, "q": "is:open"})))
				if got := ada.Must("get_board", fields{"boardId": id}).Get("unfinishedCards"); got != want {
					t.Errorf("after %s: got %v unfinishedCards, want %v", after, got, want)
				}
			}
			s.CheckConsistency()
		}
		for _, step := range []struct {
			operation string
			in        fields
		}{
			{"update_card", fields{"cardId": first, "done": true}},
			{"update_card", fields{"cardId": first, "done": true}},
			{"update_card", fields{"cardId": second, "done": true, "title": "Also done"}},
			{"copy_card", fields{"cardId": second, "listId": lists[1]}},
			{"archive_card", fields{"cardId": first}},
			{"restore_card", fields{"cardId": first}},
			{"update_card", fields{"cardId": first, "done": false}},
			{"update_card", fields{"cardId": first, "done": true}},
			{"archive_list", fields{"listId": lists[0]}},
			{"restore_list", fields{"listId": lists[0]}},
			{"copy_list", fields{"listId": lists[0]}},
			{"move_card_to_board", fields{"cardId": first, "listId": otherLists[0]}},
			{"move_list_to_board", fields{"listId": lists[1], "boardId": other}},
		} {
			ada.Must(step.operation, step.in)
			check(step.operation)
		}
		copied := ada.Must("copy_board", fields{"boardId": other, "name": "Again", "includeCards": true})
		if got, want := copied.Get("unfinishedCards"), ada.Must("get_board", fields{"boardId": other}).Get("unfinishedCards"); got != want {
			t.Errorf("copied board: got %v unfinishedCards, want %v", got, want)
		}
		states := ada.Must("get_my_overview", nil).Get("boards.boards").([]any)
		if len(states) != 3 {
			t.Errorf("overview: got %d boards, want 3", len(states))
		}
		for _, a := range states {
			state := a.(map[string]any)
			if want := ada.Must("get_board", fields{"boardId": state["id"]}).Get("unfinishedCards"); state["unfinishedCards"] != want {
				t.Errorf("overview: got %v unfinishedCards of %v, want %v", state["unfinishedCards"], state["id"], want)
			}
		}
	})
}
