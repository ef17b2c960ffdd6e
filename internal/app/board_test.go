package app_test

import (
	"reflect"
	"slices"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func TestWorkOnABoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		b := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Launch"})
		if b.Version != 1 {
			t.Errorf("a new board has version %d, want 1", b.Version)
		}
		todo := ada.Must("create_list", apptest.Fields{"boardId": b.ID(), "name": "To do"}).ID()
		doing := ada.Must("create_list", apptest.Fields{"boardId": b.ID(), "name": "Doing"}).ID()
		label := ada.Must("create_label", apptest.Fields{"boardId": b.ID(), "name": "Bug", "color": "red"}).ID()
		card := ada.Must("create_card", apptest.Fields{"listId": todo, "title": " Press release ", "labels": []string{label},
			"assignees": []string{ada.ID}})
		if card.Text("title") != "Press release" || card.Text("labels.0.name") != "Bug" ||
			card.Text("assignees.0.name") != "Ada" {
			t.Errorf("the new card is %s, want a trimmed title, the label Bug and the assignee Ada", card.Raw)
		}
		moved := ada.Must("move_card", apptest.Fields{"cardId": card.ID(), "listId": doing, "position": "top"})
		if moved.Text("listId") != doing || moved.Version != card.Version+1 {
			t.Errorf("the moved card is %s, want it in list %s with boardVersion %d", moved.Raw, doing, card.Version+1)
		}
		if again := ada.Must("move_card",
			apptest.Fields{"cardId": card.ID(), "listId": doing}); again.Version != moved.Version {
			t.Errorf("moving a card to its own position changed the version from %[2]d to %[1]d", again.Version, moved.Version)
		}
		ada.Must("add_comment", apptest.Fields{"cardId": card.ID(), "text": "Soon."})
		ada.Must("add_checklist", apptest.Fields{"cardId": card.ID(), "title": "Before", "items": []string{"one", "two"}})
		got := ada.Must("get_card", apptest.Fields{"cardId": card.ID()})
		if got.Get("comments") != 1.0 || got.Get("checklistItems.total") != 2.0 ||
			got.Text("checklists.0.items.1.title") != "two" {
			t.Errorf("the card is %s, want one comment and the checklist items one and two", got.Raw)
		}
		all := ada.Must("list_checklists", apptest.Fields{"cardId": card.ID()})
		if !reflect.DeepEqual(all.Data, got.Get("checklists")) {
			t.Errorf("list_checklists returns %s, want the checklists that get_card returns: %v", all.Raw, got.Get("checklists"))
		}
		ada.Must("update_card", apptest.Fields{"cardId": card.ID(), "done": true, "title": "Two press releases"})
		if titles := ada.All("list_cards", "title", apptest.Fields{"boardId": b.ID()}); len(titles) != 1 ||
			titles[0] != "Two press releases" {
			t.Errorf("the board has the cards %v, want only Two press releases", titles)
		}
		ada.Must("get_board", apptest.Fields{"boardId": b.ID()})
		ada.Must("get_me", nil)
		ada.Must("list_boards", nil)
		ada.Must("list_my_cards", nil)
		ada.Must("list_board_changes", apptest.Fields{"boardId": b.ID(), "since": 2})
		ada.Must("list_workspace_members", apptest.Fields{"workspaceId": workspace})
	})
}

// An editor can set the color of a board. A copy of the board keeps the color, and null clears it.
func TestColorOfABoard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		color := func(id string) any { return w.owner.Must("get_board", fields{"boardId": id}).Get("color") }
		if c := color(w.board); c != nil {
			t.Errorf("a new board has the color %v, want none", c)
		}
		w.other.Must("update_board", fields{"boardId": w.board, "color": "teal"})
		if c := color(w.board); c != "teal" {
			t.Errorf("the board has the color %v, want teal", c)
		}
		w.owner.Refused(board.CodeInvalidRequest, "update_board", fields{"boardId": w.board, "color": "beige"})
		if c := color(w.make("copy_board", fields{"boardId": w.board, "name": "Again"})); c != "teal" {
			t.Errorf("the copy has the color %v, want teal", c)
		}
		w.owner.Must("update_board", fields{"boardId": w.board, "color": nil})
		if c := color(w.board); c != nil {
			t.Errorf("after the color was cleared, the board has the color %v, want none", c)
		}
	})
}

// The activity of one card contains only entries of that card, on every page.
func TestActivityOfOneCard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for range 3 {
			w.owner.Must("update_card", fields{"cardId": w.card, "done": true})
			w.owner.Must("update_card", fields{"cardId": w.card, "done": false})
		}
		all := w.owner.All("list_board_activity", "cardId", fields{"boardId": w.board})
		got := w.owner.All("list_board_activity", "cardId", fields{"boardId": w.board, "cardId": w.card, "limit": 2})
		want := slices.DeleteFunc(all, func(id string) bool { return id != w.card })
		if len(got) < 6 || !slices.Equal(got, want) {
			t.Errorf("the activity of the card has entries of the cards %v, want at least six entries, as in %v", got, want)
		}
		if got := w.owner.All("list_board_activity", "id", fields{"boardId": w.second, "cardId": w.card}); len(got) != 0 {
			t.Errorf("the card's activity on another board is %v, want none", got)
		}
	})
}
