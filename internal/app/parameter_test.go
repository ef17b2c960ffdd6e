package app_test

import (
	"net/http"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A filter without a value is rejected with a message that lists the allowed values, instead of
// returning every card.
func TestEmptyFilterIsRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		b, _, _ := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 1, 3)
		for name, allowed := range map[string]string{
			"assignee": "me, none or any", "label": "label ids, none or any", "done": "true", "due": "calendarweek",
			"dueFrom": "YYYY-MM-DD",
			"sort":    "position", "archived": "only", "has": "checklist", "view": "compact", "limit": "from 1 to 200",
			"timeZone": "Europe/Zurich", "q": "search text",
		} {
			for _, value := range []string{"", " "} {
				a := ada.Refused(board.CodeInvalidRequest, "list_cards", fields{"boardId": b, name: value})
				if !strings.HasPrefix(a.Message, name) || !strings.Contains(a.Message, allowed) {
					t.Errorf("%s=%q: the message is %q; want the prefix %q, and %q", name, value, a.Message, name, allowed)
				}
			}
		}
		ada.Refused(board.CodeInvalidRequest, "search_cards", fields{"q": "is:open", "workspaceId": ""})
		ada.Refused(board.CodeInvalidRequest, "search_cards", fields{"q": ""})

		// In URL encoding: a plus sign, and a name without an equals sign.
		for _, query := range []string{"limit=%2B5", "limit=+5", "assignee", "label=&label="} {
			if a := ada.Send(http.MethodGet, "/boards/"+b+"/cards?"+query, ""); a.Status != http.StatusBadRequest ||
				a.Code != board.CodeInvalidRequest {
				t.Errorf("?%s: got status %d, body %s", query, a.Status, a.Raw)
			}
		}
	})
}
