package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// newList creates a list on the board with cards of the given titles. It returns the list and
// the cards.
func (w *world) newList(titles ...string) (list string, cards []string) {
	list = w.make("create_list", fields{"boardId": w.board, "name": "Its own"})
	for _, title := range titles {
		cards = append(cards, w.make("create_card", fields{"listId": list, "title": title}))
	}
	return list, cards
}

// titles returns the titles of the open cards in a list, in order.
func (w *world) titles(list string) []string {
	return w.owner.All("list_cards", "title", fields{"boardId": w.board, "list": list, "limit": 200})
}

// All changes of a call are made to each card, in one transaction, with the events of the single
// operations.
func TestUpdateCards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		todo, ids := w.newList("one", "two", "three")
		doing, _ := w.newList("old")
		old := w.make("create_label", fields{"boardId": w.board, "name": "Old", "color": "blue"})
		w.owner.Must("set_card_labels", fields{"cardId": ids[0], "add": []string{old}})
		a := w.owner.Must("update_cards", fields{
			"boardId": w.board, "cardIds": []string{ids[2], ids[0]}, "listId": doing, "position": "top", "done": true,
			"dueDate": "2026-12-24", "addLabels": []string{w.label}, "removeLabels": []string{old},
			"addAssignees": []string{w.other.ID}, "comment": "For the fair.",
		})
		if got := w.titles(doing); !slices.Equal(got, []string{"three", "one", "old"}) {
			t.Errorf("Doing: got %v, want the cards at the top in the order of the request", got)
		}
		cards := a.Get("cards").([]any)
		if len(cards) != 2 {
			t.Fatalf("got %d cards, want 2", len(cards))
		}
		for i, id := range []string{ids[2], ids[0]} {
			after, _ := cards[i].(map[string]any)
			card := w.owner.Must("get_card", fields{"cardId": id})
			labels, assignees := card.Get("labels").([]any), card.Get("assignees").([]any)
			if card.Get("done") != true || card.Get("dueDate") != "2026-12-24" || card.Get("comments") != 1.0 ||
				len(labels) != 1 || labels[0].(map[string]any)["id"] != w.label ||
				len(assignees) != 1 || assignees[0].(map[string]any)["id"] != w.other.ID {
				t.Errorf("card %d: got %s, want it done, due on 2026-12-24, with a label, an assignee and a comment", i, card.Raw)
			}
			if after["id"] != id || after["listId"] != doing || after["done"] != true || after["description"] != nil {
				t.Errorf("response %d: got %v, want the card after the change, without its description", i, after)
			}
			events := w.owner.All("list_board_activity", "type", fields{"boardId": w.board, "cardId": id, "limit": 200})
			for _, want := range []string{"card.moved", "card.completed", "card.due_date_changed", "card.labels_changed",
				"card.assignees_changed", "comment.added"} {
				if !slices.Contains(events, want) {
					t.Errorf("card %d: got the events %v, want %s among them", i, events, want)
				}
			}
		}
		w.owner.Must("update_cards", fields{"boardId": w.board, "cardIds": ids, "archived": true, "done": false})
		if got := w.titles(doing); !slices.Equal(got, []string{"old"}) {
			t.Errorf("Doing after archiving: got %v, want only old", got)
		}
		w.owner.Must("update_cards", fields{"boardId": w.board, "cardIds": ids, "archived": false, "listId": todo,
			"position": fields{"after": w.owner.Must("create_card", fields{"listId": todo, "title": "first"}).ID()}})
		if got := w.titles(todo); !slices.Equal(got, []string{"first", "one", "two", "three"}) {
			t.Errorf("To do after restoring: got %v, want the cards after first", got)
		}
		w.owner.Must("archive_card", fields{"cardId": ids[1]})
		in := fields{"boardId": w.board, "cardIds": ids[1:2], "archived": false, "comment": "Back."}
		if a := w.owner.Must("update_cards", in); a.Get("cards.0.comments") != 1.0 || a.Get("cards.0.archivedAt") != nil {
			t.Errorf("a comment on a restored card: got %s, want one comment", a.Raw)
		}
		s.CheckConsistency()
	})
}

// Cards can get different values in one call, besides those that all of them get.
func TestUpdateCardsInDifferentWays(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		_, ids := w.newList("one", "two", "three", "four")
		doing, _ := w.newList("old")
		a := w.owner.Must("update_cards", fields{
			"boardId": w.board, "cardIds": ids[:3], "listId": doing, "dueDate": "2026-12-24",
			"changes": []fields{
				{"cardIds": ids[1:2], "dueDate": nil, "done": true},
				{"cardIds": []string{ids[3], ids[0]}, "addAssignees": []string{w.other.ID}, "comment": "Yours."},
				{"cardIds": []string{ids[3]}, "listId": doing, "position": "top"},
			},
		})
		if got := w.titles(doing); !slices.Equal(got, []string{"four", "old", "one", "two", "three"}) {
			t.Errorf("got the titles %v, want four at the top and the others at the bottom", got)
		}
		var got []string
		for _, item := range a.Get("cards").([]any) {
			c := item.(map[string]any)
			got = append(got, fmt.Sprintf("%v %v %v %d %v", c["title"], c["dueDate"], c["done"], len(c["assignees"].([]any)), c["comments"]))
		}
		want := []string{"one 2026-12-24 false 1 1", "two <nil> true 0 0", "three 2026-12-24 false 0 0", "four <nil> false 1 1"}
		if !slices.Equal(got, want) {
			t.Errorf("got the cards %q, want %q", got, want)
		}
		each := make([]fields, 4)
		for i, id := range ids {
			each[i] = fields{"cardIds": []string{id}, "dueDate": fmt.Sprintf("2027-01-0%d", i+1)}
		}
		a = w.owner.Must("update_cards", fields{"boardId": w.board, "changes": each})
		for i := range ids {
			if path := fmt.Sprintf("cards.%d.dueDate", i); a.Text(path) != each[i]["dueDate"] {
				t.Errorf("%s: got %s, want %s", path, a.Text(path), each[i]["dueDate"])
			}
		}
		s.CheckConsistency()
	})
}

// Several cards can be moved and archived in one call. A restore puts them where they were moved.
func TestUpdateCardsMovesAndArchives(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		_, ids := w.newList("one", "two", "three", "four")
		doing, _ := w.newList("old")
		a := w.owner.Must("update_cards", fields{
			"boardId": w.board, "cardIds": ids[:2], "listId": doing, "position": "top", "done": true, "archived": true,
			"changes": []fields{{"cardIds": ids[2:], "listId": doing}, {"cardIds": ids[2:3], "archived": true}},
		})
		for i := range ids {
			archived, done := a.Get(fmt.Sprintf("cards.%d.archivedAt", i)) != nil, a.Get(fmt.Sprintf("cards.%d.done", i)) == true
			if list := a.Text(fmt.Sprintf("cards.%d.listId", i)); list != doing || archived != (i < 3) || done != (i < 2) {
				t.Errorf("card %d: got %s, want it in %s", i, a.Raw, doing)
			}
		}
		if got := w.titles(doing); !slices.Equal(got, []string{"old", "four"}) {
			t.Errorf("got the titles %v, want old and four", got)
		}
		events := w.owner.All("list_board_activity", "type", fields{"boardId": w.board, "cardId": ids[1], "limit": 200})
		if want := []string{"card.archived", "card.completed", "card.moved"}; len(events) < 3 || !slices.Equal(events[:3], want) {
			t.Errorf("got the events %v, want %v first", events, want)
		}
		w.owner.Must("update_cards", fields{"boardId": w.board, "cardIds": ids, "archived": false})
		if got := w.titles(doing); !slices.Equal(got, []string{"one", "two", "old", "three", "four"}) {
			t.Errorf("after restoring: got the titles %v, want one and two at the top", got)
		}
		s.CheckConsistency()
	})
}

// If one card cannot change, none does, and the error names the card.
func TestUpdateCardsChangesAllOrNothing(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		_, ids := w.newList("one", "two", "three")
		foreign := w.make("create_card", fields{"listId": w.away, "title": "foreign"})
		viewer := s.Person("Vera")
		w.setRoles(viewer, board.WorkspaceGuest, w.board, board.RoleViewer)
		version := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version")
		many := make([]string, 101)
		for i := range many {
			many[i] = fmt.Sprint("crd_", i)
		}
		for _, c := range []struct {
			code board.Code
			p    *apptest.Person
			in   fields
			says string
		}{
			{board.CodeArchived, w.owner, fields{"cardIds": []string{ids[0], w.archivedCard}, "done": true}, "Card " + w.archivedCard + ": "},
			{board.CodeInvalidRequest, w.owner, fields{"cardIds": []string{ids[0], foreign}, "done": true}, foreign},
			{board.CodeInvalidRequest, w.owner, fields{"cardIds": ids, "listId": w.away}, "Card " + ids[0] + ": listId"},
			{board.CodeInvalidRequest, w.owner, fields{"cardIds": []string{ids[0], ids[0]}, "done": true}, "twice"},
			{board.CodeInvalidRequest, w.owner, fields{"cardIds": []string{}, "done": true}, "cardIds"},
			{board.CodeInvalidRequest, w.owner, fields{"cardIds": many, "done": true}, "100"},
			{board.CodeInvalidRequest, w.owner, fields{"cardIds": ids, "position": "top"}, "requires listId"},
			{board.CodeInvalidRequest, w.owner, fields{"cardIds": ids, "addLabels": []string{"lbl_x"}}, "addLabels"},
			{board.CodeInvalidRequest, w.owner, fields{}, "cardIds must not be empty"},
			{board.CodeInvalidRequest, w.owner, fields{"done": true, "changes": []fields{{"cardIds": ids}}}, "cardIds must not be empty"},
			{board.CodeInvalidRequest, w.owner, fields{"changes": []fields{{"cardIds": ids, "done": true}, {"done": true}}},
				"changes[1]: cardIds must not be empty"},
			{board.CodeInvalidRequest, w.owner, fields{"changes": []fields{{"cardIds": []string{foreign}, "done": true}}}, foreign},
			{board.CodeInvalidRequest, w.owner, fields{"changes": []fields{{"cardIds": ids, "changes": []fields{}}}}, "changes[0].changes"},
			{board.CodeInvalidRequest, w.owner, fields{"cardIds": many[:98], "changes": []fields{{"cardIds": ids}}}, "at most 100 ids"},
			{board.CodeArchived, w.owner, fields{"cardIds": ids, "done": true,
				"changes": []fields{{"cardIds": []string{w.archivedCard}, "done": true}}}, "Card " + w.archivedCard + ": "},
			{board.CodeForbidden, viewer, fields{"changes": []fields{{"cardIds": ids, "done": true}}}, ""},
			{board.CodeForbidden, viewer, fields{"cardIds": ids, "done": true}, ""},
			{board.CodeForbidden, viewer, fields{"cardIds": ids, "comment": "Hm."}, ""},
			{board.CodeNotFound, s.Person("Eve"), fields{"cardIds": ids, "done": true}, ""},
		} {
			c.in["boardId"] = w.board
			if a := c.p.Refused(c.code, "update_cards", c.in); !strings.Contains(a.Message, c.says) {
				t.Errorf("%v: got the message %q, want it to contain %q", c.in, a.Message, c.says)
			}
		}
		if after := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version"); after != version {
			t.Errorf("got the version %v after refused calls, want %v", after, version)
		}
		s.CheckConsistency()
	})
}
