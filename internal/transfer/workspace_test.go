package transfer_test

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// The export of a workspace has the boards that the caller can see, their cards, and the caller's
// saved filters. It ends with the number of records.
func TestWorkspaceExportHasWhatItsCallerSees(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		for name, visibility := range map[string]string{"Open": "workspace", "Closed": "private"} {
			id := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": name, "visibility": visibility}).ID()
			list := ada.Must("create_list", apptest.Fields{"boardId": id, "name": "List"}).ID()
			ada.Must("create_card", apptest.Fields{"listId": list, "title": "On " + name})
		}
		for _, c := range []struct {
			p      *apptest.Person
			boards []string
		}{{ada, []string{"Closed", "Open"}}, {bob, []string{"Open"}}} {
			a := c.p.Must("export_workspace", apptest.Fields{"workspaceId": workspace})
			var export struct {
				Boards []struct {
					Board struct{ Name string }
					Cards []struct{ Title string }
				}
				Counts   struct{ Boards, Cards int }
				Complete bool
			}
			if err := json.Unmarshal(a.Raw, &export, json.MatchCaseInsensitiveNames(true)); err != nil {
				t.Fatal(err)
			}
			var boards []string
			for _, b := range export.Boards {
				boards = append(boards, b.Board.Name)
				if len(b.Cards) != 1 || b.Cards[0].Title != "On "+b.Board.Name {
					t.Errorf("%s exports the board %s with the cards %v, want its card", c.p.Name, b.Board.Name, b.Cards)
				}
			}
			slices.Sort(boards)
			if n := len(c.boards); !slices.Equal(boards, c.boards) || export.Counts.Boards != n || export.Counts.Cards != n || !export.Complete {
				t.Errorf("%s exports the boards %v with the counts %+v, want %v", c.p.Name, boards, export.Counts, c.boards)
			}
		}
		s.Person("Eve").Refused(board.CodeNotFound, "export_workspace", apptest.Fields{"workspaceId": workspace})
	})
}
