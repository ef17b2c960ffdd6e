package app_test

import (
	"net/http"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A request with an empty filter does not return every card. It is rejected with a message that
// describes the allowed values.
func TestEmptyFilterIsRefused(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		b, _, _ := newBoardWithCards(ada, ada.Workspace("Engines", board.PlanTeam), 1, 3)
		for name, allowed := range map[string]string{
			"assignee": "me, none or any", "label": "label ids, none or any", "done": "true", "due": "calendarweek",
			"dueFrom": "YYYY-MM-DD",
			"sort":    "position", "archived": "only", "has": "checklist", "view": "compact", "limit": "from 1 to 200",
			"timeZone": "Europe/Zurich", "q": "A search query",
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

		// URL-encoded: plus signs, and names without a value.
		for _, query := range []string{"limit=%2B5", "limit=+5", "assignee", "label=&label="} {
			if a := ada.Send(http.MethodGet, "/boards/"+b+"/cards?"+query, ""); a.Status != http.StatusBadRequest ||
				a.Code != board.CodeInvalidRequest {
				t.Errorf("?%s: got status %d, body %s; want invalid_request", query, a.Status, a.Raw)
			}
		}
	})
}
