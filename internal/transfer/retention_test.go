package transfer_test

import (
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// A board whose activity retention has reduced is exported and imported like others,
// with all entries removed or only some.
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
			if done, err := app.Retain(t.Context(), s.DB, "srv_test", keep, time.Minute); err != nil || done.Activity == 0 {
				t.Fatalf("%+v was removed: %v", done, err)
			}
			caller := board.Person(ada.ID)
			if doc := string(export(t, s, caller, id)); !strings.Contains(doc, `"reducedTo"`) {
				t.Errorf("the export does not say that its activity is reduced: %s", doc)
			}
			made := roundTrip(t, s, s, caller, workspace, id)
			ada.Must("create_list", apptest.Fields{"boardId": made, "name": "Next"})
			s.CheckConsistency()
		}
	})
}
