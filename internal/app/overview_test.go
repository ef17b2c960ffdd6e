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

// titlesOf returns the titles of a group of cards, separated by commas.
func titlesOf(a apptest.Response, group string) string {
	var out []string
	for _, c := range a.Get(group + ".cards").([]any) {
		out = append(out, c.(map[string]any)["title"].(string))
	}
	return strings.Join(out, ", ")
}

func TestOverview(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		// A Wednesday, 10:30 UTC. In Kiritimati it is already the 14th, and in Pago Pago still the 12th.
		s.Clock.Advance(time.Until(time.Date(2027, 1, 13, 10, 30, 0, 0, time.UTC)))
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		b, lists, _ := newBoardWithCards(ada, workspace, 2, 0)
		add := func(title, date, clock string, assignee *apptest.Person) string {
			in := fields{"listId": lists[0], "title": title, "assignees": []string{assignee.ID}}
			if date != "" {
				due := fields{"dueDate": date}
				if clock != "" {
					due["dueTime"], due["timeZone"] = clock, "UTC"
				}
				in["due"] = due
			}
			return ada.Must("create_card", in).ID()
		}
		add("monday", "2027-01-11", "", ada)
		add("this morning", "2027-01-13", "09:00", ada)
		add("today", "2027-01-13", "", ada)
		add("tomorrow", "2027-01-14", "", ada)
		add("sunday", "2027-01-17", "", ada)
		add("next week", "2027-01-18", "", ada)
		add("undated", "", "", ada)
		add("bob's", "2027-01-13", "", bob)
		ada.Must("update_card", fields{"cardId": add("done", "2027-01-13", "", ada), "done": true})
		ada.Must("archive_card", fields{"cardId": add("archived", "2027-01-13", "", ada)})
		ada.Must("create_card", fields{"listId": lists[1], "title": "in archived list", "assignees": []string{ada.ID},
			"due": fields{"dueDate": "2027-01-13"}})
		ada.Must("archive_list", fields{"listId": lists[1]})
		check := func(zone, group, titles string, count int) {
			t.Helper()
			in := fields{}
			if zone != "" {
				in["timeZone"] = zone
			}
			a := ada.Must("get_my_overview", in)
			if got := titlesOf(a, group); got != titles || a.Get(group+".count") != float64(count) {
				t.Errorf("%s in time zone %q: got %v cards %s, want %d cards %s", group, zone, a.Get(group+".count"), got, count,
					titles)
			}
		}
		check("", "overdue", "monday, this morning", 2)
		check("", "dueToday", "this morning, today", 2)
		check("", "dueThisWeek", "this morning, today, tomorrow, sunday, next week", 5)
		check("", "recentlyAssigned", "undated, next week, sunday, tomorrow, today", 7)
		// 10:30 UTC is 00:30 on the 14th in Kiritimati and 23:30 on the 12th in Pago Pago.
		check("Pacific/Kiritimati", "overdue", "monday, this morning, today", 3)
		check("Pacific/Kiritimati", "dueToday", "tomorrow", 1)
		check("Pacific/Pago_Pago", "overdue", "monday, this morning", 2)
		check("Pacific/Pago_Pago", "dueToday", "this morning", 1)

		// Of six boards, the overview lists the five that changed most recently, newest first. It omits
		// boards that the caller cannot see.
		for i := range 5 {
			s.Clock.Advance(time.Second) // each change at a different time
			ada.Must("create_board", fields{"workspaceId": workspace, "name": fmt.Sprint("Board ", i), "visibility": "private"})
		}
		s.Clock.Advance(time.Second)
		ada.Must("update_board", fields{"boardId": b, "description": "Last."})
		a := ada.Must("get_my_overview", nil)
		if a.Get("boards.count") != 6.0 || len(a.Get("boards.boards").([]any)) != 5 || a.Text("boards.boards.0.id") != b ||
			a.Get("boards.boards.0.status") != nil || a.Text("boards.boards.1.name") != "Board 4" {
			t.Errorf("got boards %v, want the five of six that changed most recently", a.Get("boards"))
		}
		if a := bob.Must("get_my_overview", nil); a.Get("boards.count") != 1.0 || titlesOf(a, "dueToday") != "bob's" {
			t.Errorf("Bob's overview: got %s, want one board and his card", a.Raw)
		}
		ada.Must("update_board", fields{"boardId": b, "visibility": "private"})
		if a := bob.Must("get_my_overview", nil); a.Get("boards.count") != 0.0 || strings.Contains(string(a.Raw), "bob's") {
			t.Errorf("Bob's overview without access: got %s, want no board and no card", a.Raw)
		}
		elsewhere := ada.Within(ada.Workspace("Elsewhere", board.PlanTeam))
		if a := elsewhere.Must("get_my_overview", nil); a.Get("boards.count") != 0.0 ||
			a.Get("recentlyAssigned.count") != 0.0 || a.Get("overdue.count") != 0.0 {
			t.Errorf("token limited to another workspace: got %s, want no boards and no cards", a.Raw)
		}
		s.Clock.Advance(8 * 24 * time.Hour)
		check("", "recentlyAssigned", "", 0)
	})
}

// The overview counts and lists the same cards as list_my_cards with the corresponding filter.
func TestOverviewMatchesFilters(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		s.Clock.Stop() // the overview and the list use the same time
		ada := s.Person("Ada")
		_, lists, _ := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 1, 0)
		for i := range 40 {
			day := s.Clock.Now().AddDate(0, 0, i/2-10).Format(board.DateLayout)
			due := fields{"dueDate": day}
			if i%2 == 0 {
				due = fields{"dueDate": day, "dueTime": fmt.Sprintf("%02d:00", i%24), "timeZone": "America/St_Johns"}
			}
			ada.Must("create_card", fields{"listId": lists[0], "title": "x", "assignees": []string{ada.ID}, "due": due})
		}
		for _, zone := range reportZones {
			a := ada.Must("get_my_overview", fields{"timeZone": zone})
			for group, due := range map[string]string{"overdue": "overdue", "dueToday": "today", "dueThisWeek": "week"} {
				found := ada.All("list_my_cards", "id", fields{"due": due, "done": "false", "sort": "due", "timeZone": zone})
				var shown []string
				for _, c := range a.Get(group + ".cards").([]any) {
					shown = append(shown, c.(map[string]any)["id"].(string))
				}
				if a.Get(group+".count") != float64(len(found)) || !slices.Equal(shown, found[:min(5, len(found))]) {
					t.Errorf("%s in time zone %s: got count %v and cards %v, want the first of %v", group, zone,
						a.Get(group+".count"), shown, found)
				}
			}
		}
	})
}
