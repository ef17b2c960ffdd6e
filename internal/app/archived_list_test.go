package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// When a list is archived, its open cards appear as archived everywhere, with the list as the reason,
// and cannot be changed. They are open again when the list is restored.
func TestCardsOfAnArchivedListAreArchived(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		b, lists, _ := newBoardWithCards(ada, workspace, 2, 0)
		today := s.Clock.Now().UTC().Format(board.DateLayout)
		add := func(list, title string) string {
			due := fields{"dueDate": today}
			return ada.Must("create_card",
				fields{"listId": list, "title": title, "assignees": []string{ada.ID}, "due": due}).ID()
		}
		add(lists[0], "stays")
		dated, own := add(lists[1], "dated"), add(lists[1], "own")
		undated := ada.Must("create_card", fields{"listId": lists[1], "title": "undated", "assignees": []string{ada.ID}}).ID()
		checklist := ada.Must("add_checklist", fields{"cardId": dated, "title": "Steps"}).ID()
		item := ada.Must("add_checklist_item", fields{"checklistId": checklist, "title": "One"}).ID()
		comment := ada.Must("add_comment", fields{"cardId": dated, "text": "Hello."}).ID()
		filter := ada.Must("create_saved_filter", fields{"workspaceId": workspace, "name": "All", "query": "is:open"}).ID()
		archivedFilter := ada.Must("create_saved_filter",
			fields{"workspaceId": workspace, "name": "Archived", "query": "is:archived"}).ID()
		ada.Must("archive_card", fields{"cardId": own})

		check := func(open, archived []string) {
			t.Helper()
			for _, q := range []struct {
				operation string
				in        fields
				want      []string
			}{
				{"list_cards", fields{"boardId": b}, open},
				{"list_cards", fields{"boardId": b, "sort": "title"}, open},
				{"list_cards", fields{"boardId": b, "archived": "only"}, archived},
				{"list_cards", fields{"boardId": b, "archived": "only", "sort": "-updated"}, archived},
				{"list_cards", fields{"boardId": b, "archived": "true"}, append(slices.Clone(open), archived...)},
				{"list_cards", fields{"boardId": b, "q": "is:open,archived"}, append(slices.Clone(open), archived...)},
				{"list_my_cards", nil, open},
				{"list_my_cards", fields{"archived": "only"}, archived},
				{"search_cards", fields{"q": "is:open"}, open},
				{"search_cards", fields{"q": "is:archived"}, archived},
				{"search_cards", fields{"q": "own"}, intersect(open, "own")},
				{"list_filter_cards", fields{"filterId": filter}, open},
				{"list_filter_cards", fields{"filterId": archivedFilter}, archived},
			} {
				got := ada.All(q.operation, "title", q.in)
				want := slices.Sorted(slices.Values(q.want))
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%s %v: got %v, want %v", q.operation, q.in, got, want)
				}
			}
			dated := 0
			for _, title := range open {
				if title != "undated" {
					dated++
				}
			}
			want := fmt.Sprint([]any{len(open), len(open), len(open), dated, len(open), dated, len(open) - dated})
			detail := ada.Must("get_board", fields{"boardId": b})
			overview := ada.Must("get_my_overview", nil)
			calendar := ada.Must("get_workspace_calendar", fields{"workspaceId": workspace, "from": today, "to": today})
			if got := fmt.Sprint([]any{
				detail.Get("openCards"), detail.Get("limits.openCards.count"),
				ada.Must("list_boards", fields{"workspaceId": workspace}).Get("0.openCards"),
				overview.Get("dueToday.count"), overview.Get("recentlyAssigned.count"),
				len(calendar.Get("cards").([]any)), calendar.Get("undatedCount"),
			}); got != want {
				t.Errorf("counts in get_board (two), list_boards, get_my_overview (two) and get_workspace_calendar (two): got %s, want %s", got, want)
			}
			if got := ada.Must("get_workspace_dashboard",
				fields{"workspaceId": workspace}).Get("open"); got != float64(len(open)) {
				t.Errorf("dashboard: got %v open cards, want %d", got, len(open))
			}
			s.CheckConsistency()
		}
		archivedBy := func(id string, want any) {
			t.Helper()
			if a := ada.Must("get_card", fields{"cardId": id}); a.Get("archivedBy") != want ||
				(a.Get("archivedAt") != nil) != (want != nil) {
				t.Errorf("%s: got archivedAt %v and archivedBy %v, want archivedBy %v", a.Text("title"), a.Get("archivedAt"),
					a.Get("archivedBy"), want)
			}
		}
		check([]string{"stays", "dated", "undated"}, []string{"own"})
		archivedBy(dated, nil)

		s.Clock.Advance(time.Minute)
		if a := ada.Must("archive_list", fields{"listId": lists[1]}); a.Get("openCards") != 0.0 {
			t.Errorf("archived list: got %v open cards, want 0", a.Get("openCards"))
		}
		check([]string{"stays"}, []string{"dated", "own", "undated"})
		archivedBy(dated, "list")
		archivedBy(undated, "list")
		archivedBy(own, "card")
		for _, c := range ada.Must("list_cards",
			fields{"boardId": b, "archived": "only", "sort": "title", "view": "compact"}).Data.([]any) {
			card := c.(map[string]any)
			if want := map[string]string{"dated": "list", "undated": "list",
				"own": "card"}[card["title"].(string)]; card["archivedBy"] != want {
				t.Errorf("%v: got archivedBy %v, want %s", card["title"], card["archivedBy"], want)
			}
		}
		for operation, in := range map[string]fields{
			"update_card": {"title": "x"}, "move_card": {"listId": lists[0]}, "copy_card": {"listId": lists[0]},
			"archive_card": {}, "restore_card": {}, "set_card_due": {"dueDate": today}, "clear_card_due": {},
			"set_card_labels": {}, "set_card_assignees": {"remove": []string{ada.ID}},
			"add_comment": {"text": "x"}, "add_checklist": {"title": "x"},
		} {
			in["cardId"] = dated
			if a := ada.Refused(board.CodeArchived, operation, in); !strings.Contains(a.Message, "list") {
				t.Errorf("%s: got message %q, want one that mentions the list", operation, a.Message)
			}
		}
		ada.Refused(board.CodeArchived, "restore_card", fields{"cardId": own})
		ada.Refused(board.CodeArchived, "update_checklist_item", fields{"itemId": item, "done": true})
		ada.Refused(board.CodeArchived, "edit_comment", fields{"commentId": comment, "text": "x"})
		ada.Refused(board.CodeArchived, "create_card", fields{"listId": lists[1], "title": "x"})

		if a := ada.Must("restore_list", fields{"listId": lists[1]}); a.Get("openCards") != 2.0 {
			t.Errorf("restored list: got %v open cards, want 2", a.Get("openCards"))
		}
		check([]string{"stays", "dated", "undated"}, []string{"own"})
		archivedBy(dated, nil)
		archivedBy(own, "card")
		ada.Must("restore_card", fields{"cardId": own})
		ada.Must("update_card", fields{"cardId": dated, "title": "dated"})
		archivedBy(own, nil)
	})
}

func intersect(titles []string, title string) []string {
	if slices.Contains(titles, title) {
		return []string{title}
	}
	return nil
}

// A list can be restored only if the open-card limit of the board leaves room for its cards.
func TestRestoredListNeedsRoomForItsCards(t *testing.T) {
	t.Parallel()
	limits := board.DefaultLimits()
	limits.OpenCards = 4
	apptest.BothWith(t, apptest.Options{Limits: limits}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		_, lists, _ := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 2, 2)
		ada.Refused(board.CodeLimitReached, "create_card", fields{"listId": lists[0], "title": "x"})
		ada.Must("archive_list", fields{"listId": lists[1]})
		extra := ada.Must("create_card", fields{"listId": lists[0], "title": "x"}).ID()
		ada.Refused(board.CodeLimitReached, "restore_list", fields{"listId": lists[1]})
		ada.Must("archive_card", fields{"cardId": extra})
		ada.Must("restore_list", fields{"listId": lists[1]})
		s.CheckConsistency()
	})
}
