package app_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// In every interface and on every weekday, "week" means today and the next six days. Only
// calendarweek means Monday to Sunday.
func TestWeekIsTheNextSevenDays(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		now := time.Date(2027, 1, 17, 12, 0, 0, 0, time.UTC) // a Sunday
		s.Clock.Advance(time.Until(now))
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		b, lists, _ := newBoardWithCards(ada, workspace, 1, 0)
		for i := range 29 {
			day := now.AddDate(0, 0, i-14).Format(board.DateLayout)
			ada.Must("create_card",
				fields{"listId": lists[0], "title": day, "assignees": []string{ada.ID}, "due": fields{"dueDate": day}})
		}
		saved := ada.Must("create_saved_filter",
			fields{"workspaceId": workspace, "name": "Due this week", "query": "is:open due:week"}).ID()
		for day := range 2 { // the Sunday, then the Monday
			today := now.AddDate(0, 0, day)
			check := func(query string, first time.Time, got []string) {
				t.Helper()
				var want []string
				for i := range 7 {
					want = append(want, first.AddDate(0, 0, i).Format(board.DateLayout))
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("on %s, %s: got %v, want %v", today.Weekday(), query, got, want)
				}
			}
			for _, word := range []string{"week", "next7"} {
				check("due="+word, today, ada.All("list_cards", "title", fields{"boardId": b, "due": word}))
				check("due:"+word, today, ada.All("search_cards", "title", fields{"q": "due:" + word}))
			}
			check("the saved filter", today, ada.All("list_filter_cards", "title", fields{"filterId": saved}))
			monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
			check("due=calendarweek", monday, ada.All("list_my_cards", "title", fields{"due": "calendarweek"}))
			check("due:calendarweek", monday, ada.All("search_cards", "title", fields{"q": "due:calendarweek"}))
			if got := ada.Must("get_my_overview", nil).Get("dueThisWeek.count"); got != 7.0 {
				t.Errorf("on %s the overview counts %v cards due this week, want 7", today.Weekday(), got)
			}
			if got := ada.Must("get_workspace_dashboard", fields{"workspaceId": workspace}).Get("dueIn7Days"); got != 7.0 {
				t.Errorf("on %s the dashboard counts %v cards due in 7 days, want 7", today.Weekday(), fmt.Sprint(got))
			}
			s.Clock.Advance(24 * time.Hour)
		}
	})
}
