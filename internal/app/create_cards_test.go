package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// Cards are created in the order of the request, each with its own fields, in one transaction.
func TestCreateCards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		list, _ := w.newList("old")
		in := fields{"boardId": w.board, "cards": []fields{
			{"listId": list, "title": "one", "description": "First.", "labels": []string{w.label}, "assignees": []string{w.other.ID}},
			{"listId": w.doing, "title": " two ", "due": fields{"dueDate": "2026-12-24"}},
			{"listId": list, "title": "three"},
			{"listId": list, "title": "four", "position": "top"},
		}}
		a := w.owner.Must("create_cards", in)
		if got := w.titles(list); !slices.Equal(got, []string{"four", "old", "one", "three"}) {
			t.Errorf("got the titles %v, want the cards at the bottom in order, and four at the top", got)
		}
		one := w.owner.Must("get_card", fields{"cardId": a.Text("cards.0.id")})
		if one.Text("description") != "First." || one.Text("labels.0.id") != w.label || one.Text("assignees.0.id") != w.other.ID ||
			one.Get("number").(float64)+3 != a.Get("cards.3.number") {
			t.Errorf("got the card %s, want its text, label, assignee and the first of four numbers", one.Raw)
		}
		if a.Status != 201 || a.Text("cards.1.title") != "two" || a.Text("cards.1.dueDate") != "2026-12-24" ||
			a.Get("cards.0.description") != nil || len(a.Get("cards").([]any)) != 4 {
			t.Errorf("got status %d and %s, want four cards without their descriptions", a.Status, a.Raw)
		}
		events := w.owner.All("list_board_activity", "type", fields{"boardId": w.board, "limit": 200})
		if got := slices.Sorted(slices.Values(events[:4])); !slices.Equal(got, slices.Repeat([]string{"card.created"}, 4)) {
			t.Errorf("got the newest events %v, want four of card.created", got)
		}
		s.CheckConsistency()
	})
}

// If one card cannot be created, none is, and the error says which.
func TestCreateCardsCreatesAllOrNothing(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		full := w.make("create_list", fields{"boardId": w.board, "name": "Full", "wipLimit": 1, "wipMode": "hard"})
		viewer := s.Person("Vera")
		w.setRoles(viewer, board.WorkspaceGuest, w.board, board.RoleViewer)
		good := fields{"listId": w.list, "title": "good"}
		version := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version")
		for _, c := range []struct {
			code  board.Code
			p     *apptest.Person
			cards []fields
			says  string
		}{
			{board.CodeInvalidRequest, w.owner, []fields{good, {"listId": w.away, "title": "foreign"}}, "cards[1].listId must be an open list"},
			{board.CodeInvalidRequest, w.owner, []fields{good, {"listId": w.archived, "title": "old"}}, "cards[1].listId must be an open list"},
			{board.CodeInvalidRequest, w.owner, []fields{good, {"listId": w.list, "title": " \t"}}, "cards[1]: title"},
			{board.CodeInvalidRequest, w.owner, []fields{good, {"listId": w.list}}, "cards[1].title is required"},
			{board.CodeInvalidRequest, w.owner, []fields{good, {"listId": w.list, "title": "x", "labels": []string{"lbl_x"}}}, "cards[1]: labels"},
			{board.CodeInvalidRequest, w.owner, []fields{good, {"listId": w.list, "title": "x", "due": fields{"dueTime": "09:00"}}}, "cards[1]: "},
			{board.CodeCapacityFull, w.owner, []fields{good, {"listId": full, "title": "1"}, {"listId": full, "title": "2"}}, "cards[2]: "},
			{board.CodeInvalidRequest, w.owner, []fields{}, "cards must not be empty"},
			{board.CodeInvalidRequest, w.owner, slices.Repeat([]fields{good}, 101), "100"},
			{board.CodeForbidden, viewer, []fields{good}, ""},
			{board.CodeNotFound, s.Person("Eve"), []fields{good}, ""},
		} {
			a := c.p.Refused(c.code, "create_cards", fields{"boardId": w.board, "cards": c.cards})
			if !strings.Contains(a.Message, c.says) {
				t.Errorf("%.200s: got the message %q, want it to contain %q", fmt.Sprint(c.cards), a.Message, c.says)
			}
		}
		if after := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version"); after != version {
			t.Errorf("got the version %v after refused calls, want %v", after, version)
		}
		s.CheckConsistency()
	})
}

// A board can be created with its lists and labels.
func TestCreateBoardWithListsAndLabels(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		in := fields{"workspaceId": w.workspace, "name": "Fair",
			"lists":  []fields{{"name": "To do"}, {"name": "Doing", "wipLimit": 3, "wipMode": "hard"}, {"name": "Done"}},
			"labels": []fields{{"name": "Print", "color": "teal"}, {"color": "red"}, {"name": "Hall", "color": "blue"}},
		}
		a := w.owner.Must("create_board", in)
		b := w.owner.Must("get_board", fields{"boardId": a.ID()})
		for _, got := range []apptest.Response{a, b} {
			for path, want := range map[string]any{
				"lists.0.name": "To do", "lists.1.name": "Doing", "lists.1.wipLimit": 3.0, "lists.1.wipMode": "hard",
				"lists.2.name": "Done", "lists.3": nil,
				"labels.0.name": "", "labels.0.color": "red", "labels.1.name": "Hall", "labels.2.name": "Print", "labels.3": nil,
			} {
				if got.Get(path) != want {
					t.Errorf("%s: got %v, want %v", path, got.Get(path), want)
				}
			}
		}
		if a.Get("version") != b.Get("version") || a.Get("limits.openLists.count") != 3.0 {
			t.Errorf("got version %v and limits %v, want version %v and three open lists",
				a.Get("version"), a.Get("limits"), b.Get("version"))
		}
		boards := len(w.owner.All("list_boards", "id", fields{"workspaceId": w.workspace}))
		for field, c := range map[string]struct {
			items any
			says  string
		}{
			"lists":  {[]fields{{"name": "A"}, {"name": " "}}, "lists[1]: name"},
			"labels": {[]fields{{"name": "A", "color": "teal"}, {"name": "B", "color": "mud"}}, "labels[1].color must be"},
		} {
			bad := fields{"workspaceId": w.workspace, "name": "Bad", field: c.items}
			if got := w.owner.Refused(board.CodeInvalidRequest, "create_board", bad); !strings.Contains(got.Message, c.says) {
				t.Errorf("%v: got the message %q, want it to contain %q", bad, got.Message, c.says)
			}
		}
		if got := len(w.owner.All("list_boards", "id", fields{"workspaceId": w.workspace})); got != boards {
			t.Errorf("got %d boards after refused calls, want %d", got, boards)
		}
		s.CheckConsistency()
	})
}
