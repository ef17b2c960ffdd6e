package app_test

import (
	"fmt"
	"slices"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func TestHomeRespectsVisibility(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		secret := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Secret", "visibility": "private"})
		w.other.Must("star_board", fields{"boardId": w.second})
		if err := s.DB.MarkPresent(t.Context(), w.other.ID, []string{w.board, w.second}); err != nil {
			t.Fatal(err)
		}
		home := w.other.Must("get_home", nil)
		var seen []string
		for _, b := range home.Get("workspaces.0.boards").([]any) {
			b := b.(map[string]any)
			seen = append(seen, fmt.Sprint(b["id"], " ", b["starred"], " ", b["lastSeenAt"] != nil))
		}
		if want := []string{w.board + " false true", w.second + " true true"}; !slices.Equal(seen, want) ||
			home.Get("workspaces.1") != nil {
			t.Errorf("Bob's home is %s; want %v, and not %s", home.Raw, want, secret)
		}
		if a := w.other.Must("unstar_board", fields{"boardId": w.second}); a.Get("starred") != false {
			t.Errorf("unstar_board returns %s", a.Raw)
		}
		if a := w.other.Must("open_board", fields{"boardId": w.second}); a.Get("starred") != false {
			t.Errorf("after removing the star: %s", a.Raw)
		}
	})
}

// open_board returns the same as the list operations of the public interface, in one response.
func TestOpenBoardIsTheWholeBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.make("create_card", fields{"listId": w.doing, "title": "Begun", "labels": []string{w.label}})
		gone := w.make("create_list", fields{"boardId": w.board, "name": "Gone"})
		hidden := w.make("create_card", fields{"listId": gone, "title": "Gone with its list"})
		w.owner.Must("archive_list", fields{"listId": gone})
		open := w.owner.Must("open_board", fields{"boardId": w.board})
		var ids []string
		for _, c := range open.Get("cards").([]any) {
			ids = append(ids, c.(map[string]any)["id"].(string))
			if _, has := c.(map[string]any)["description"]; has {
				t.Errorf("an opened board includes the description of a card: %v", c)
			}
		}
		if want := w.owner.All("list_cards", "id", fields{"boardId": w.board}); slices.Contains(ids, hidden) ||
			!slices.Equal(ids, slices.DeleteFunc(want, func(id string) bool { return id == hidden })) {
			t.Errorf("the cards are %v, want %v without %s", ids, want, hidden)
		}
		if open.Get("version") != w.owner.Must("get_board", fields{"boardId": w.board}).Get("version") ||
			len(open.Get("members").([]any)) != 2 || len(open.Get("lists").([]any)) != 2 {
			t.Errorf("the board is %s", open.Raw)
		}
	})
}

// The trash lists a board for everyone who may restore it.
func TestTrashListsRestorableBoards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		private := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Ours", "visibility": "private"})
		w.owner.Must("trash_board", fields{"boardId": private})
		w.owner.Must("trash_board", fields{"boardId": w.second})
		in := fields{"workspaceId": w.workspace}
		if got := w.owner.All("list_trashed_boards", "id", in); !slices.Equal(got, []string{w.second, private}) {
			t.Errorf("the owner's trash is %v, want %v", got, []string{w.second, private})
		}
		if got := w.other.All("list_trashed_boards", "id", in); len(got) != 0 {
			t.Errorf("a member's trash is %v, want it empty", got)
		}
		w.other.Joins(w.workspace, board.WorkspaceAdmin)
		if got := w.other.All("list_trashed_boards", "id", in); !slices.Equal(got, []string{w.second}) {
			t.Errorf("an admin's trash is %v, want only the board that is open to the workspace", got)
		}
		w.owner.Must("restore_board", fields{"boardId": w.second})
		if got := w.owner.All("list_trashed_boards", "id", in); !slices.Equal(got, []string{private}) {
			t.Errorf("after a board was restored, the trash is %v, want %v", got, []string{private})
		}
	})
}

// Collapsed lists are stored per person and do not change the board.
func TestCollapsedListsAreStoredPerPerson(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		collapsed := func(p *apptest.Person) []any {
			return p.Must("open_board", fields{"boardId": w.board}).Get("collapsedLists").([]any)
		}
		version := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version")
		elsewhere := w.away
		a := w.owner.Must("set_collapsed_lists",
			fields{"boardId": w.board, "listIds": []string{w.doing, elsewhere, "lst_nothing"}})
		if ids := a.Get("listIds").([]any); len(ids) != 1 || ids[0] != w.doing {
			t.Errorf("the collapsed lists are %v", ids)
		}
		if mine := collapsed(w.owner); len(mine) != 1 || mine[0] != w.doing {
			t.Errorf("the owner's collapsed lists are %v", mine)
		}
		if others := collapsed(w.other); len(others) != 0 {
			t.Errorf("another person's collapsed lists are %v, want none", others)
		}
		w.owner.Must("star_board", fields{"boardId": w.board})
		if mine := collapsed(w.owner); len(mine) != 1 {
			t.Errorf("after starring the board the collapsed lists are %v", mine)
		}
		if now := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version"); now != version {
			t.Errorf("the version went from %v to %v", version, now)
		}
		w.owner.Must("set_collapsed_lists", fields{"boardId": w.board, "listIds": []string{}})
		if mine := collapsed(w.owner); len(mine) != 0 {
			t.Errorf("after expanding the lists, the collapsed lists are %v, want none", mine)
		}
	})
}
