package app_test

import (
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// Setting a due date keeps the start, and setting a start date keeps the due date, over REST and MCP.
// A start time keeps its instant even if the time zone changes.
func TestSettingADueDateKeepsTheStart(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		b := ada.Must("create_board", fields{"workspaceId": workspace, "name": "Launch"}).ID()
		list := ada.Must("create_list", fields{"boardId": b, "name": "To do"}).ID()
		for _, transport := range []string{"REST", "a tool"} {
			card := ada.Must("create_card", fields{"listId": list, "title": "Press release"}).ID()
			set := func(in fields) apptest.Response {
				t.Helper()
				in["cardId"] = card
				if transport == "REST" {
					return ada.Call("set_card_due", in)
				}
				return ada.Tool("set_card_due", in).Response
			}
			for _, c := range []struct {
				in   fields
				want string // dueDate, dueAt, startDate, startAt, timeZone
			}{
				{fields{"dueDate": "2026-12-24", "dueTime": "17:00", "startDate": "2026-12-20", "startTime": "23:30",
					"timeZone": "Europe/Berlin"},
					"2026-12-24 2026-12-24T16:00:00.000Z 2026-12-20 2026-12-20T22:30:00.000Z Europe/Berlin"},
				{fields{"dueDate": "2026-12-26"}, "2026-12-26 - 2026-12-20 2026-12-20T22:30:00.000Z Europe/Berlin"},
				{fields{"dueDate": "2026-12-25", "dueTime": "09:00", "timeZone": "Asia/Tokyo"},
					"2026-12-25 2026-12-25T00:00:00.000Z 2026-12-21 2026-12-20T22:30:00.000Z Asia/Tokyo"},
				{fields{"startDate": "2026-12-22"}, "2026-12-25 2026-12-25T00:00:00.000Z 2026-12-22 - Asia/Tokyo"},
				{fields{"startDate": nil}, "2026-12-25 2026-12-25T00:00:00.000Z - - Asia/Tokyo"},
				{fields{"startDate": "2026-12-01", "dueDate": nil}, "- - 2026-12-01 - -"},
				{fields{"dueDate": "2026-12-24"}, "2026-12-24 - 2026-12-01 - -"},
				{fields{"dueDate": "2026-12-23", "startDate": ""}, "2026-12-23 - 2026-12-01 - -"},
			} {
				a := set(c.in)
				if a.Code != "" {
					t.Fatalf("%s %v: got %s, want success", transport, c.in, a.Raw)
				}
				if got := dates(a); got != c.want || dates(ada.Must("get_card", fields{"cardId": card})) != c.want {
					t.Errorf("%s %v: the card has %s, want %s", transport, c.in, got, c.want)
				}
			}
			for field, in := range map[string]fields{
				"startDate, or null": {"dueDate": "2026-11-30"}, "dueDate, or null": {"startDate": "2026-12-24"},
				"dueDate or startDate is required": {"timeZone": "UTC"},
				"dueDate is required with dueTime": {"dueTime": "10:00", "startDate": "2026-12-02", "timeZone": "UTC"},
			} {
				if a := set(in); a.Code != board.CodeInvalidRequest || !strings.Contains(a.Message, field) {
					t.Errorf("%s %v: got %s, want a message that contains %q", transport, in, a.Raw, field)
				}
			}
			if got := dates(ada.Must("get_card", fields{"cardId": card})); got != "2026-12-23 - 2026-12-01 - -" {
				t.Errorf("a rejected call changed the dates to %s, want 2026-12-23 - 2026-12-01 - -", got)
			}
			if a := set(fields{"dueDate": nil, "startDate": nil}); dates(a) != "- - - - -" {
				t.Errorf("after the dates were cleared, the card has %s, want - - - - -", dates(a))
			}
		}
	})
}

// dates returns the date fields of a card, with - for null.
func dates(a apptest.Response) string {
	var out []string
	for _, name := range []string{"dueDate", "dueAt", "startDate", "startAt", "timeZone"} {
		if text, ok := a.Get(name).(string); ok {
			out = append(out, text)
		} else {
			out = append(out, "-")
		}
	}
	return strings.Join(out, " ")
}
