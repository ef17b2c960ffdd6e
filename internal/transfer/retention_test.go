package transfer_test

import (
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A board can be exported and imported after retention has removed some or all of its
// activity.
func TestReducedActivityIsImported(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanBusiness)
		id := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Launch"}).ID()
		list := ada.Must("create_list", apptest.Fields{"boardId": id, "name": "To do"}).ID()
		ada.Must("create_card", apptest.Fields{"listId": list, "title": "Card"})
		ada.Must("update_list", apptest.Fields{"listId": list, "name": "Doing"})
		s.Clock.Advance(2 * 365 * 24 * time.Hour)
		const year = board.Age(365 * 24 * time.Hour)
		for _, keep := range []app.Retention{{Activity: year}, {CardHistory: year}} {
			if removed, err := app.Retain(t.Context(), s.DB, "srv_test", keep, time.Minute); err != nil || removed.Activity == 0 {
				t.Fatalf("Retain: got %+v, %v; want removed activity", removed, err)
			}
			caller := board.Person(ada.ID)
			if doc := string(export(t, s, caller, id)); !strings.Contains(doc, `"reducedTo"`) {
				t.Errorf("the export does not contain reducedTo: %s", doc)
			}
			imported := roundTrip(t, s, s, caller, workspace, id)
			ada.Must("create_list", apptest.Fields{"boardId": imported, "name": "Next"})
			s.CheckConsistency()
		}
	})
}
