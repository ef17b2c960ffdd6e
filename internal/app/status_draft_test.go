package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func TestStatusDraftSummarizesTheWeek(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		b, lists, _ := newBoardWithCards(ada, workspace, 2, 0)
		ada.Must("update_list", fields{"listId": lists[1], "name": "In *progress*"})
		card := func(title string) string {
			return ada.Must("create_card", fields{"listId": lists[0], "title": title}).ID()
		}
		doneEarlier := card("Done long ago")
		ada.Must("update_card", fields{"cardId": doneEarlier, "done": true})
		moved, finished, archived := card("Old [and] moved"), card("Old and finished"), card("Old and archived")
		ada.Must("post_status_update",
			fields{"boardId": b, "status": "at_risk", "title": "x", "startDate": "2026-03-01", "targetDate": "2026-09-01"})
		s.Clock.Advance(10 * 24 * time.Hour)

		quiet := ada.Must("draft_status_update", fields{"boardId": b})
		if quiet.Text("title") != "Nothing changed" || quiet.Text("text") != "" || quiet.Text("status") != "at_risk" ||
			quiet.Text("targetDate") != "2026-09-01" || quiet.Text("startDate") != "2026-03-01" {
			t.Errorf("the draft of a quiet week is %s, want no changes, and the status and dates of the last update", quiet.Raw)
		}
		for _, id := range []string{moved, finished, archived} {
			ada.Must("move_card", fields{"cardId": id, "listId": lists[1]})
		}
		ada.Must("update_card", fields{"cardId": finished, "done": true})
		ada.Must("archive_card", fields{"cardId": archived})
		late := card("New and late")
		ada.Must("set_card_due", fields{"cardId": late, "dueDate": "2020-01-31"})
		ada.Must("move_card", fields{"cardId": late, "listId": lists[1]}) // the card still counts as added

		s.Clock.Stop() // the date must not change during the test
		version := func() any { return ada.Must("get_board", fields{"boardId": b}).Get("version") }
		before := version()
		d := ada.Must("draft_status_update", fields{"boardId": b})
		want := fmt.Sprintf(`### Done (1)

- [Old and finished](%[1]s/cards/%[2]s)

### Moved (1)

- [Old \[and\] moved](%[1]s/cards/%[3]s) → In \*progress\*

### Added (1)

- [New and late](%[1]s/cards/%[4]s)

### Overdue (1)

- [New and late](%[1]s/cards/%[4]s), due 2020-01-31
`, apptest.BaseURL, finished, moved, late)
		if d.Text("text") != want || d.Text("title") != "1 done, 1 moved, 1 added, 1 overdue" || d.Get("moved") != 1.0 {
			t.Errorf("the draft is %s, want %s", d.Text("text"), want)
		}
		today := s.Clock.Now().UTC()
		if d.Text("to") != today.Format(board.DateLayout) ||
			d.Text("from") != today.AddDate(0, 0, -6).Format(board.DateLayout) {
			t.Errorf("the draft covers %s to %s, want the seven days up to today", d.Text("from"), d.Text("to"))
		}
		if updates := ada.Must("list_status_updates", fields{"boardId": b}); len(updates.Each("id")) != 1 {
			t.Errorf("draft_status_update posted a status update: %s", updates.Raw)
		}
		if after := version(); after != before || before == nil {
			t.Errorf("the board has version %v after draft_status_update, want %v", after, before)
		}
	})
}

// The draft never exceeds the maximum length of a status update, even after many changes.
func TestStatusDraftStaysBelowTheMaximumLength(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		b, lists, _ := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 1, 0)
		for i := range 12 {
			id := ada.Must("create_card",
				fields{"listId": lists[0], "title": strings.Repeat("*", 512), "due": fields{"dueDate": "2020-01-31"}}).ID()
			if i == 0 {
				ada.Must("update_card", fields{"cardId": id, "done": true})
			}
		}
		d := ada.Must("draft_status_update", fields{"boardId": b})
		if d.Get("added") != 11.0 || d.Get("overdue") != 11.0 || strings.Count(d.Text("text"), "- and 1 more\n") != 2 {
			t.Errorf("the draft is %s, want 11 added and 11 overdue cards, ten of them listed", d.Raw)
		}
		ada.Must("post_status_update",
			fields{"boardId": b, "status": d.Text("status"), "title": d.Text("title"), "text": d.Text("text")})
	})
}
