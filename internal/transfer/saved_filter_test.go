package transfer_test

import (
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

func TestExportedBoardHasItsSavedFilters(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob, guest := s.Person("Ada"), s.Person("Bob"), s.Person("Guest")
		workspace, other := ada.Workspace("Engines", board.PlanTeam), ada.Workspace("Elsewhere", board.PlanTeam)
		bob.Joins(workspace, board.WorkspaceMember)
		guest.Joins(workspace, board.WorkspaceGuest)
		id := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Board"}).ID()
		list := ada.Must("create_list", apptest.Fields{"boardId": id, "name": "To do"}).ID()
		label := ada.Must("create_label", apptest.Fields{"boardId": id, "name": "", "color": "red"}).ID()
		otherBoard := ada.Must("create_board", apptest.Fields{"workspaceId": workspace, "name": "Other"}).ID()
		ada.Must("share_board", apptest.Fields{"boardId": id, "userId": guest.ID, "role": "viewer"})
		save := func(p *apptest.Person, name, query string, shared bool) {
			p.Must("create_saved_filter", apptest.Fields{"workspaceId": workspace, "name": name, "query": query, "shared": shared})
		}
		save(bob, "board", "BOARD:"+strings.ToUpper(id)+`,"`+otherBoard+`" title:`+id, true)
		save(bob, "list", `-list:"see `+list+`",`+list+",none @"+bob.ID, true)
		save(ada, "label", "is:open #bug,#"+label+" -@ME", true)
		save(ada, "text", "title:"+id+" board:"+list+" board:Board", true)
		save(ada, "other", "board:"+otherBoard, true)
		save(ada, "private", "board:"+id, false)
		names := func(p *apptest.Person, workspace string) []string {
			return p.All("list_saved_filters", "name", apptest.Fields{"workspaceId": workspace})
		}
		all := []string{"board", "list", "label"}
		for caller, want := range map[*apptest.Person][]string{ada: all, bob: all, guest: nil} {
			var got []string
			for _, part := range strings.Split(filters(string(export(t, s, board.Person(caller.ID), id))), `"name":"`)[1:] {
				if name, _, _ := strings.Cut(part, `"`); name != "Ada" && name != "Bob" {
					got = append(got, name)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("export by %s: got the filters %q, want %q", caller.Name, got, want)
			}
		}
		doc := export(t, s, board.System(), id)
		s.Listen(workspace)
		r, err := importDocument(s, board.Person(ada.ID), workspace, doc)
		if err != nil || r.SavedFilters != 3 {
			t.Fatalf("import: got %+v, %v; want 3 saved filters", r, err)
		}
		imported := r.Boards[0].ID
		in := apptest.Fields{"boardId": imported}
		newList, newLabel := ada.Must("list_lists", in).Text("0.id"), ada.Must("list_labels", in).Text("0.id")
		read := func(workspace, field string) []string {
			got := ada.All("list_saved_filters", field, apptest.Fields{"workspaceId": workspace, "limit": 200})
			return got[len(got)-3:]
		}
		owners := func(workspace string) []string {
			got := s.Column("SELECT u.name FROM saved_filters f JOIN users u ON u.id = f.owner_id WHERE f.workspace_id = $1 "+
				"ORDER BY f.id", workspace)
			return got[len(got)-3:]
		}
		want := []string{"BOARD:" + imported + `,"` + otherBoard + `" title:` + id, `-list:"see ` + list + `",` + newList + ",none @" + bob.ID,
			"is:open #bug,#" + newLabel + " -@ME"}
		if got := read(workspace, "query"); !slices.Equal(got, want) {
			t.Errorf("got the queries\n%q, want\n%q", got, want)
		}
		if got, want := owners(workspace), []string{"Bob", "Bob", "Ada"}; !slices.Equal(got, want) {
			t.Errorf("got the owners %q, want %q", got, want)
		}
		if sent := s.Outbox(imported); len(sent) != 0 {
			t.Errorf("got the deliveries %v, want none", sent)
		}

		// In another workspace, Bob is unknown and the other board does not exist.
		if _, err := importDocument(s, board.System(), other, doc); err != nil {
			t.Fatal(err)
		}
		if got, want := owners(other), []string{"Ada", "Ada", "Ada"}; !slices.Equal(got, want) {
			t.Errorf("in another workspace: got the owners %q, want %q", got, want)
		}
		if got, want := read(other, "broken"), []string{"true", "true", "false"}; !slices.Equal(got, want) {
			t.Errorf("in another workspace: got broken %q, want %q", got, want)
		}
		if got := strings.Join(read(other, "query"), " "); strings.Contains(got, otherBoard) || strings.Contains(got, bob.ID) {
			t.Errorf("got queries that refer to objects of another workspace: %s", got)
		}

		for range board.MaxSavedFilters - 1 - len(names(ada, other)) {
			ada.Must("create_saved_filter", apptest.Fields{"workspaceId": other, "name": "Mine", "query": ""})
		}
		r, err = importDocument(s, board.Person(ada.ID), other, doc)
		if err != nil || r.SavedFilters != 1 || !strings.Contains(r.String(), "the limit for one person in a workspace, skipped: 2") {
			t.Errorf("import over the limit: got error %v and report\n%swant 1 imported and 2 skipped filters", err, r.String())
		}
	})
}
