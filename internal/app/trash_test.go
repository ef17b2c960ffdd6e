package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A deleted card is hidden from every operation, and comes back as it was.
func TestDeletedCardIsHiddenUntilRestored(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		bob.Joins(workspace, board.WorkspaceMember)
		b, lists, _ := newBoardWithCards(ada, workspace, 2, 1)
		label := ada.Must("create_label", fields{"boardId": b, "name": "Urgent", "color": "red"}).ID()
		card := ada.Must("create_card", fields{"listId": lists[0], "title": "Zeppelin", "labels": []string{label},
			"assignees": []string{ada.ID, bob.ID}}).ID()
		comment := ada.Must("add_comment", fields{"cardId": card, "text": "Hello, @Bob."}).ID()
		checklist := ada.Must("add_checklist", fields{"cardId": card, "title": "Steps", "items": []string{"One"}})
		file := ada.Attach(card, "plan.txt", []byte("A plan.")).ID()
		ada.Must("create_card", fields{"listId": lists[0], "title": "Last"})
		in := fields{"cardId": card}
		whole := func() []any {
			a := ada.Must("get_card", in)
			return []any{a.Get("title"), a.Get("number"), a.Get("labels"), a.Get("comments"), a.Get("checklists"), a.Get("attachments"),
				a.Get("createdAt"), a.Get("listId")}
		}

		if a := ada.Refused(board.CodeInvalidRequest, "delete_card", in); !strings.Contains(a.Message, "Archive it first") {
			t.Errorf("delete_card of an open card: got message %q, want one that says to archive it first", a.Message)
		}
		ada.Must("archive_card", in)
		before := whole()
		exported := func() bool {
			return strings.Contains(string(ada.Must("export_board", fields{"boardId": b}).Raw), `"title":"Zeppelin"`)
		}
		if notified := bob.All("list_notifications", "id", nil); !exported() || len(notified) == 0 {
			t.Fatalf("archived card: exported %v, notifications of an assignee %v; want both", exported(), notified)
		}
		ada.Must("delete_card", in)

		hidden := map[string]fields{
			"get_card": in, "delete_card": in, "archive_card": in, "update_card": with(in, "title", "x"), "copy_card": in,
			"move_card": with(in, "listId", lists[1]), "get_comment": {"commentId": comment}, "list_comments": in,
			"edit_comment": {"commentId": comment, "text": "x"}, "get_checklist": {"checklistId": checklist.ID()},
			"update_checklist_item": {"itemId": checklist.Get("items.0.id"), "done": true},
			"get_attachment":        {"attachmentId": file}, "get_card_by_number": {"boardId": b, "number": before[1]},
		}
		for name, in := range hidden {
			ada.Refused(board.CodeNotFound, name, in)
		}
		bob.Refused(board.CodeNotFound, "restore_card", in)
		if a := ada.Download(file, nil); a.Status != 404 {
			t.Errorf("download of its file: got status %d, want 404", a.Status)
		}
		for name, in := range map[string]fields{
			"list_cards": {"boardId": b, "archived": "true"}, "search_cards": {"q": "is:archived,open"}, "list_my_cards": {"archived": "true"},
		} {
			if got := ada.All(name, "id", in); slices.Contains(got, card) {
				t.Errorf("%s: got %v, want it without the deleted card", name, got)
			}
		}
		if got := ada.All("list_lists", "name", fields{"boardId": b, "includeArchived": true}); len(got) != 2 {
			t.Errorf("lists of the board, with archived ones: got %v, want two", got)
		}
		if got := bob.All("list_notifications", "id", nil); len(got) != 0 {
			t.Errorf("notifications of a person who was mentioned on the card: got %v, want none", got)
		}
		if exported() {
			t.Error("the export contains the deleted card")
		}
		s.CheckConsistency()

		item := ada.Must("list_trash", fields{"boardId": b})
		want := fmt.Sprint([]any{card, "card", "Zeppelin", before[1], lists[0], 1.0, ada.ID})
		if got := fmt.Sprint([]any{item.Get("0.id"), item.Get("0.type"), item.Get("0.title"), item.Get("0.number"), item.Get("0.listId"),
			item.Get("0.cards"), item.Get("0.trashedBy.id")}); got != want {
			t.Errorf("list_trash: got %s, want %s", got, want)
		}

		if a := ada.With(board.ScopeWrite).Refused(board.CodeInsufficientScope, "restore_card", in); !strings.Contains(a.Message, "admin") {
			t.Errorf("restore_card without the admin scope: got message %q, want one that names the scope", a.Message)
		}
		if a := ada.Must("restore_card", in); a.Get("archivedAt") != nil || len(a.Get("assignees").([]any)) != 2 {
			t.Errorf("restored card: got archivedAt %v and assignees %v, want an open card with both", a.Get("archivedAt"), a.Get("assignees"))
		}
		if after := whole(); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("restored card: got %v, want %v", after, before)
		}
		if got := ada.All("list_cards", "title", fields{"boardId": b, "list": lists[0]}); !slices.Equal(got,
			[]string{"Card 0 0", "Last", "Zeppelin"}) {
			t.Errorf("cards of its list: got %v, want it last", got)
		}
		if got := ada.All("list_trash", "id", fields{"boardId": b}); len(got) != 0 {
			t.Errorf("trash after the restore: got %v, want none", got)
		}
		kinds := ada.All("list_board_activity", "type", fields{"boardId": b, "cardId": card})
		if !slices.Equal(kinds[:3], []string{"card.restored", "card.deleted", "card.archived"}) {
			t.Errorf("activity of the card: got %v, want archived, deleted and restored last", kinds)
		}
		s.CheckConsistency()
	})
}

// A deleted list takes its cards with it. A card that was deleted before it waits for it.
func TestDeletedListTakesItsCards(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.AllCards = 4
	apptest.BothWith(t, apptest.Options{Limits: limits}, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		bob.Joins(workspace, board.WorkspaceMember)
		b, lists, cards := newBoardWithCards(ada, workspace, 2, 2)
		in, first, second := fields{"listId": lists[1]}, cards[lists[1]][0], cards[lists[1]][1]
		ada.Must("set_card_assignees", fields{"cardId": second, "add": []string{ada.ID, bob.ID}})

		ada.Refused(board.CodeInvalidRequest, "delete_list", in)
		ada.Must("archive_card", fields{"cardId": first})
		ada.Must("delete_card", fields{"cardId": first})
		s.Clock.Advance(time.Minute)
		ada.Must("archive_list", in)
		bob.Refused(board.CodeForbidden, "delete_list", in)
		ada.Must("delete_list", in)
		s.CheckConsistency()

		for name, in := range map[string]fields{"get_list": in, "archive_list": in, "create_card": with(in, "title", "x"),
			"get_card": {"cardId": second}, "restore_card": {"cardId": second}} {
			ada.Refused(board.CodeNotFound, name, in)
		}
		if a := ada.Refused(board.CodeArchived, "restore_card", fields{"cardId": first}); !strings.Contains(a.Message, "Restore the list") {
			t.Errorf("restore_card of a card whose list was deleted: got message %q, want one that names the list", a.Message)
		}
		trash := fields{"boardId": b}
		if got := ada.All("list_trash", "title", with(trash, "limit", 1)); !slices.Equal(got, []string{"List 1", "Card 1 0"}) {
			t.Errorf("trash: got %v, want the list and then the card", got)
		}
		if n := ada.Must("list_trash", trash).Get("0.cards"); n != 1.0 {
			t.Errorf("the list in the trash: got %v cards, want 1", n)
		}

		extra := ada.Must("create_cards", fields{"boardId": b, "cards": []fields{
			{"listId": lists[0], "title": "Three"}, {"listId": lists[0], "title": "Four"}}})
		ada.Refused(board.CodeLimitReached, "restore_list", in)
		for _, path := range []string{"cards.0.id", "cards.1.id"} {
			ada.Must("archive_card", fields{"cardId": extra.Text(path)})
			ada.Must("delete_card", fields{"cardId": extra.Text(path)})
		}
		ada.Must("remove_member", fields{"workspaceId": workspace, "userId": bob.ID})
		if a := ada.Must("restore_list", in); a.Get("archivedAt") != nil || a.Get("openCards") != 1.0 {
			t.Errorf("restored list: got archivedAt %v and %v open cards, want an open list with one", a.Get("archivedAt"), a.Get("openCards"))
		}
		if got := ada.Must("get_card", fields{"cardId": second}).Get("assignees").([]any); len(got) != 1 {
			t.Errorf("card of the restored list: got assignees %v, want those who can see the board", got)
		}
		ada.Must("restore_card", fields{"cardId": first})
		s.CheckConsistency()
	})
}

// A deleted card whose list has left the board goes to the first open list.
func TestDeletedCardOutlivesItsList(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		b, lists, cards := newBoardWithCards(ada, workspace, 2, 1)
		other := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Other"}).ID()
		card := fields{"cardId": cards[lists[1]][0]}
		ada.Must("archive_card", card)
		ada.Must("delete_card", card)
		ada.Must("move_list_to_board", fields{"listId": lists[1], "boardId": other})
		ada.Must("archive_list", fields{"listId": lists[0]})
		if a := ada.Refused(board.CodeArchived, "restore_card", card); !strings.Contains(a.Message, "no open list") {
			t.Errorf("restore_card on a board without open lists: got message %q", a.Message)
		}
		ada.Must("restore_list", fields{"listId": lists[0]})
		if a := ada.Must("restore_card", card); a.Get("listId") != lists[0] || a.Get("boardId") != b {
			t.Errorf("restored card: got list %v on board %v, want %s on %s", a.Get("listId"), a.Get("boardId"), lists[0], b)
		}
		s.CheckConsistency()
	})
}

// After 30 days, deleted cards and lists are gone, with their storage.
func TestDeletedCardsArePurged(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		b, lists, cards := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanBusiness), 2, 2)
		card, list := fields{"cardId": cards[lists[0]][0]}, fields{"listId": lists[1]}
		many := make([]fields, 60) // more than one transaction deletes
		for i := range many {
			many[i] = fields{"listId": lists[1], "title": fmt.Sprint("One of many ", i)}
		}
		ada.Must("create_cards", fields{"boardId": b, "cards": many})
		ada.Attach(card["cardId"].(string), "plan.txt", []byte("A plan."))
		for name, in := range map[string]fields{"card": card, "list": list} {
			ada.Must("archive_"+name, in)
			ada.Must("delete_"+name, in)
		}
		s.Clock.Advance(29 * 24 * time.Hour)
		if done, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil || done.Trash != 0 {
			t.Fatalf("after 29 days: got %+v, error %v; want nothing purged", done, err)
		}
		ada.Must("restore_list", list)
		ada.Must("archive_list", list)
		ada.Must("delete_list", list)
		s.Clock.Advance(2 * 24 * time.Hour)
		if done, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil || done.Trash != 1 {
			t.Fatalf("after 31 days: got %+v, error %v; want the card purged", done, err)
		}
		ada.Refused(board.CodeNotFound, "restore_card", card)
		s.Clock.Advance(29 * 24 * time.Hour)
		if done, err := app.Housekeep(t.Context(), s.DB, "one"); err != nil || done.Trash != 1 {
			t.Fatalf("after 60 days: got %+v, error %v; want the list purged", done, err)
		}
		ada.Refused(board.CodeNotFound, "restore_list", list)
		if got := s.Column("SELECT title FROM cards"); !slices.Equal(got, []string{"Card 0 1"}) {
			t.Errorf("cards in the database: got %v, want only the one that was kept", got)
		}
		if got := s.Column("SELECT id FROM trash"); len(got) != 0 {
			t.Errorf("trash: got %v, want none", got)
		}
		s.CheckConsistency()
	})
}
