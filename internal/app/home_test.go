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
			t.Errorf("Bob's home: got %s, want boards %v without the private board %s", home.Raw, want, secret)
		}
		if a := w.other.Must("unstar_board", fields{"boardId": w.second}); a.Get("starred") != false {
			t.Errorf("unstar_board: got %s, want starred false", a.Raw)
		}
		if a := w.other.Must("open_board", fields{"boardId": w.second}); a.Get("starred") != false {
			t.Errorf("open_board after unstar_board: got %s, want starred false", a.Raw)
		}
	})
}

// open_board returns in one response what the list operations of the public API return.
func TestOpenBoardReturnsTheWholeBoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.make("create_card", fields{"listId": w.doing, "title": "Begun", "labels": []string{w.label}})
		archived := w.make("create_list", fields{"boardId": w.board, "name": "Archived"})
		hidden := w.make("create_card", fields{"listId": archived, "title": "In the archived list"})
		w.owner.Must("archive_list", fields{"listId": archived})
		open := w.owner.Must("open_board", fields{"boardId": w.board})
		var ids []string
		for _, c := range open.Get("cards").([]any) {
			ids = append(ids, c.(map[string]any)["id"].(string))
			if _, has := c.(map[string]any)["description"]; has {
				t.Errorf("open_board: got card %v, want it without the description", c)
			}
		}
		if want := w.owner.All("list_cards", "id", fields{"boardId": w.board}); slices.Contains(ids, hidden) ||
			!slices.Equal(ids, slices.DeleteFunc(want, func(id string) bool { return id == hidden })) {
			t.Errorf("got cards %v, want %v without %s", ids, want, hidden)
		}
		if open.Get("version") != w.owner.Must("get_board", fields{"boardId": w.board}).Get("version") ||
			len(open.Get("members").([]any)) != 2 || len(open.Get("lists").([]any)) != 2 {
			t.Errorf("got board %s, want the current version, two members and two lists", open.Raw)
		}
	})
}

// The trash shows a board to the people who may restore it, and to nobody else.
func TestTrashListsRestorableBoards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		private := w.make("create_board", fields{"workspaceId": w.workspace, "name": "Private", "visibility": "private"})
		w.owner.Must("trash_board", fields{"boardId": private})
		w.owner.Must("trash_board", fields{"boardId": w.second})
		in := fields{"workspaceId": w.workspace}
		if got := w.owner.All("list_trashed_boards", "id", in); !slices.Equal(got, []string{w.second, private}) {
			t.Errorf("owner's trash: got %v, want %v", got, []string{w.second, private})
		}
		if got := w.other.All("list_trashed_boards", "id", in); len(got) != 0 {
			t.Errorf("member's trash: got %v, want none", got)
		}
		w.other.Joins(w.workspace, board.WorkspaceAdmin)
		if got := w.other.All("list_trashed_boards", "id", in); !slices.Equal(got, []string{w.second}) {
			t.Errorf("admin's trash: got %v, want only the board that the workspace can see", got)
		}
		w.owner.Must("restore_board", fields{"boardId": w.second})
		if got := w.owner.All("list_trashed_boards", "id", in); !slices.Equal(got, []string{private}) {
			t.Errorf("owner's trash after restore_board: got %v, want %v", got, []string{private})
		}
	})
}

// Collapsed lists are stored for each person and do not change the board.
func TestCollapsedListsAreStoredPerPerson(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		collapsed := func(p *apptest.Person) []any {
			return p.Must("open_board", fields{"boardId": w.board}).Get("collapsedLists").([]any)
		}
		version := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version")
		otherBoardsList := w.away
		a := w.owner.Must("set_collapsed_lists",
			fields{"boardId": w.board, "listIds": []string{w.doing, otherBoardsList, "lst_unknown"}})
		if ids := a.Get("listIds").([]any); len(ids) != 1 || ids[0] != w.doing {
			t.Errorf("got collapsed lists %v, want %v", ids, []string{w.doing})
		}
		if mine := collapsed(w.owner); len(mine) != 1 || mine[0] != w.doing {
			t.Errorf("owner's collapsed lists: got %v, want %v", mine, []string{w.doing})
		}
		if others := collapsed(w.other); len(others) != 0 {
			t.Errorf("another person's collapsed lists: got %v, want none", others)
		}
		w.owner.Must("star_board", fields{"boardId": w.board})
		if mine := collapsed(w.owner); len(mine) != 1 {
			t.Errorf("collapsed lists after star_board: got %v, want %v", mine, []string{w.doing})
		}
		if now := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version"); now != version {
			t.Errorf("got version %v, want %v", now, version)
		}
		w.owner.Must("set_collapsed_lists", fields{"boardId": w.board, "listIds": []string{}})
		if mine := collapsed(w.owner); len(mine) != 0 {
			t.Errorf("collapsed lists after expanding: got %v, want none", mine)
		}
	})
}
