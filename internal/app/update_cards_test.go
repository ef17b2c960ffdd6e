package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// batch is a board with three cards in To do and one in Doing.
type batch struct {
	*apptest.Service
	ada, bob           *apptest.Person
	board, todo, doing string
	label, other       string
	cards              []string
}

func newBatch(s *apptest.Service) *batch {
	b := &batch{Service: s, ada: s.Person("Ada")}
	workspace := b.ada.Workspace("Engines", board.PlanTeam)
	b.bob = s.Person("Bob").Joins(workspace, board.WorkspaceMember)
	b.board = b.ada.Must("create_board", fields{"workspaceId": workspace, "name": "Launch"}).ID()
	b.todo = b.ada.Must("create_list", fields{"boardId": b.board, "name": "To do"}).ID()
	b.doing = b.ada.Must("create_list", fields{"boardId": b.board, "name": "Doing"}).ID()
	b.label = b.ada.Must("create_label", fields{"boardId": b.board, "name": "Bug", "color": "red"}).ID()
	b.other = b.ada.Must("create_label", fields{"boardId": b.board, "name": "Idea", "color": "blue"}).ID()
	for _, title := range []string{"one", "two", "three"} {
		b.cards = append(b.cards, b.ada.Must("create_card", fields{"listId": b.todo, "title": title}).ID())
	}
	b.ada.Must("create_card", fields{"listId": b.doing, "title": "old"})
	return b
}

// titles returns the titles of the cards in a list, in order.
func (b *batch) titles(list string) []string {
	return b.ada.All("list_cards", "title", fields{"boardId": b.board, "list": list, "limit": 200})
}

// All changes of a call are made to each card, in one transaction, with the events of the single
// operations.
func TestUpdateCards(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := newBatch(s)
		b.ada.Must("set_card_labels", fields{"cardId": b.cards[0], "add": []string{b.other}})
		a := b.ada.Must("update_cards", fields{
			"boardId": b.board, "cardIds": []string{b.cards[2], b.cards[0]}, "listId": b.doing, "position": "top", "done": true,
			"dueDate": "2026-12-24", "addLabels": []string{b.label}, "removeLabels": []string{b.other},
			"addAssignees": []string{b.bob.ID}, "comment": "For the fair.",
		})
		if got := b.titles(b.doing); !slices.Equal(got, []string{"three", "one", "old"}) {
			t.Errorf("Doing: got %v, want the cards at the top in the order of the request", got)
		}
		cards := a.Get("cards").([]any)
		if len(cards) != 2 {
			t.Fatalf("got %d cards, want 2", len(cards))
		}
		for i, id := range []string{b.cards[2], b.cards[0]} {
			after, _ := cards[i].(map[string]any)
			card := b.ada.Must("get_card", fields{"cardId": id})
			labels, assignees := card.Get("labels").([]any), card.Get("assignees").([]any)
			if card.Get("done") != true || card.Get("dueDate") != "2026-12-24" || card.Get("comments") != 1.0 ||
				len(labels) != 1 || labels[0].(map[string]any)["id"] != b.label ||
				len(assignees) != 1 || assignees[0].(map[string]any)["id"] != b.bob.ID {
				t.Errorf("card %d: got %s, want it done, due on 2026-12-24, with a label, an assignee and a comment", i, card.Raw)
			}
			if after["id"] != id || after["listId"] != b.doing || after["done"] != true || after["description"] != nil {
				t.Errorf("response %d: got %v, want the card after the change, without its description", i, after)
			}
			events := b.ada.All("list_board_activity", "type", fields{"boardId": b.board, "cardId": id, "limit": 200})
			for _, want := range []string{"card.moved", "card.completed", "card.due_date_changed", "card.labels_changed",
				"card.assignees_changed", "comment.added"} {
				if !slices.Contains(events, want) {
					t.Errorf("card %d: got the events %v, want %s among them", i, events, want)
				}
			}
		}
		b.ada.Must("update_cards", fields{"boardId": b.board, "cardIds": b.cards, "archived": true, "done": false})
		if got := b.titles(b.doing); !slices.Equal(got, []string{"old"}) {
			t.Errorf("Doing after archiving: got %v, want only old", got)
		}
		b.ada.Must("update_cards", fields{"boardId": b.board, "cardIds": b.cards, "archived": false, "listId": b.todo,
			"position": fields{"after": b.ada.Must("create_card", fields{"listId": b.todo, "title": "first"}).ID()}})
		if got := b.titles(b.todo); !slices.Equal(got, []string{"first", "one", "two", "three"}) {
			t.Errorf("To do after restoring: got %v, want the cards after first", got)
		}
		s.CheckConsistency()
	})
}

// If one card cannot change, none does, and the error names the card.
func TestUpdateCardsChangesAllOrNothing(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		b := newBatch(s)
		elsewhere := b.ada.Must("create_board",
			fields{"workspaceId": b.ada.Workspace("Elsewhere", board.PlanTeam), "name": "Other"}).ID()
		away := b.ada.Must("create_list", fields{"boardId": elsewhere, "name": "Away"}).ID()
		foreign := b.ada.Must("create_card", fields{"listId": away, "title": "foreign"}).ID()
		archived := b.ada.Must("create_card", fields{"listId": b.todo, "title": "archived"}).ID()
		b.ada.Must("archive_card", fields{"cardId": archived})
		viewer := s.Person("Vera")
		viewer.Joins(b.ada.Must("get_board", fields{"boardId": b.board}).Text("workspaceId"), board.WorkspaceMember)
		b.ada.Must("update_board", fields{"boardId": b.board, "visibility": "private"})
		b.ada.Must("share_board", fields{"boardId": b.board, "userId": viewer.ID, "role": "viewer"})
		version := b.ada.Must("get_board", fields{"boardId": b.board}).Get("version")
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
			{board.CodeArchived, b.ada, fields{"cardIds": []string{b.cards[0], archived}, "done": true}, "Card " + archived + ": "},
			{board.CodeInvalidRequest, b.ada, fields{"cardIds": []string{b.cards[0], foreign}, "done": true}, foreign},
			{board.CodeInvalidRequest, b.ada, fields{"cardIds": b.cards, "listId": away}, "Card " + b.cards[0] + ": listId"},
			{board.CodeInvalidRequest, b.ada, fields{"cardIds": []string{b.cards[0], b.cards[0]}, "done": true}, "twice"},
			{board.CodeInvalidRequest, b.ada, fields{"cardIds": []string{}, "done": true}, "cardIds"},
			{board.CodeInvalidRequest, b.ada, fields{"cardIds": many, "done": true}, "100"},
			{board.CodeInvalidRequest, b.ada, fields{"cardIds": b.cards, "position": "top"}, "requires listId"},
			{board.CodeInvalidRequest, b.ada, fields{"cardIds": b.cards, "addLabels": []string{"lbl_x"}}, "labels"},
			{board.CodeForbidden, viewer, fields{"cardIds": b.cards, "done": true}, ""},
			{board.CodeForbidden, viewer, fields{"cardIds": b.cards, "comment": "Hm."}, ""},
			{board.CodeNotFound, s.Person("Eve"), fields{"cardIds": b.cards, "done": true}, ""},
		} {
			c.in["boardId"] = b.board
			if a := c.p.Refused(c.code, "update_cards", c.in); !strings.Contains(a.Message, c.says) {
				t.Errorf("%v: got the message %q, want it to contain %q", c.in, a.Message, c.says)
			}
		}
		if after := b.ada.Must("get_board", fields{"boardId": b.board}).Get("version"); after != version {
			t.Errorf("got the version %v after refused calls, want %v", after, version)
		}
		s.CheckConsistency()
	})
}
