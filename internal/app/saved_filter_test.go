package app_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// filterWorld is a workspace with a board that three people can see and one that only Ada can see.
type filterWorld struct {
	*apptest.Service
	ada, bob, guest *apptest.Person // owner, member, and guest with a role on the open board
	workspace       string
	open, private   string // boards
	list, label     string // on the open board
}

func newFilterWorld(s *apptest.Service) *filterWorld {
	h := &filterWorld{Service: s, ada: s.Person("Ada"), bob: s.Person("Bob"), guest: s.Person("Gil")}
	h.workspace = h.ada.Workspace("Engines", board.PlanTeam)
	h.bob.Joins(h.workspace, board.WorkspaceMember)
	h.guest.Joins(h.workspace, board.WorkspaceGuest)
	make := func(name string, in fields) string { return h.ada.Must(name, in).ID() }
	h.open = make("create_board", fields{"workspaceId": h.workspace, "name": "Open"})
	h.private = make("create_board", fields{"workspaceId": h.workspace, "name": "Private", "visibility": "private"})
	h.ada.Must("share_board", fields{"boardId": h.open, "userId": h.guest.ID, "role": "viewer"})
	h.list = make("create_list", fields{"boardId": h.open, "name": "To do"})
	h.label = make("create_label", fields{"boardId": h.open, "name": "Bug", "color": "red"})
	make("create_card",
		fields{"listId": h.list, "title": "Open bug", "labels": []string{h.label}, "assignees": []string{h.ada.ID}})
	make("create_card", fields{"listId": h.list, "title": "No fault", "assignees": []string{h.bob.ID}})
	list := make("create_list", fields{"boardId": h.private, "name": "Secret"})
	make("create_card", fields{"listId": list, "title": "Hidden bug", "assignees": []string{h.ada.ID}})
	return h
}

// save creates a filter as p.
func (h *filterWorld) save(p *apptest.Person, query string, shared bool) apptest.Response {
	h.T.Helper()
	return p.Must("create_saved_filter", fields{"workspaceId": h.workspace, "name": "F", "query": query, "shared": shared})
}

// wantCards checks the titles of the cards that a filter finds for p.
func (h *filterWorld) wantCards(t *testing.T, p *apptest.Person, filter string, more fields, want ...string) {
	t.Helper()
	if got := p.All("list_filter_cards", "title", with(more, "filterId", filter)); !slices.Equal(got, want) {
		t.Errorf("%s: got cards %q, want %q", p.Name, got, want)
	}
}

func TestFilterRunsWithTheCallersAccess(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		h := newFilterWorld(s)
		bugs := h.save(h.ada, "bug sort:title", true)
		if bugs.Get("broken") != false || bugs.Get("problem") != nil || bugs.Text("owner.name") != "Ada" ||
			bugs.Get("shared") != true || !strings.HasPrefix(bugs.ID(), "flt_") {
			t.Errorf("got filter %s, want a shared one of Ada without a problem", bugs.Raw)
		}
		h.wantCards(t, h.ada, bugs.ID(), nil, "Hidden bug", "Open bug")
		h.wantCards(t, h.bob, bugs.ID(), nil, "Open bug")
		h.guest.Refused(board.CodeNotFound, "list_filter_cards", fields{"filterId": bugs.ID()})
		own := h.save(h.guest, "sort:title", false)
		h.wantCards(t, h.guest, own.ID(), nil, "No fault", "Open bug")

		// "me" is the person who runs the filter.
		me := h.save(h.ada, "member:me sort:title", true).ID()
		h.wantCards(t, h.ada, me, nil, "Hidden bug", "Open bug")
		h.wantCards(t, h.bob, me, nil, "No fault")

		// Additional parameters can only narrow the result.
		h.wantCards(t, h.ada, bugs.ID(), fields{"label": h.label}, "Open bug")
		h.wantCards(t, h.ada, bugs.ID(), fields{"q": "hidden"}, "Hidden bug")
		h.wantCards(t, h.ada, bugs.ID(), fields{"sort": "-title"}, "Open bug", "Hidden bug")
		h.wantCards(t, h.ada, bugs.ID(), fields{"limit": 1}, "Hidden bug", "Open bug")
		h.wantCards(t, h.ada, bugs.ID(), fields{"done": "true"})
		if a := h.ada.Refused(board.CodeInvalidRequest, "list_filter_cards",
			fields{"filterId": bugs.ID(), "due": "someday"}); !strings.Contains(a.Message, "due") {
			t.Errorf("invalid due: got %s, want a message about due", a.Raw)
		}

		// A workspace's filter finds nothing in another workspace.
		another := h.ada.Workspace("Another", board.PlanTeam)
		b := h.ada.Must("create_board", fields{"workspaceId": another, "name": "B"}).ID()
		l := h.ada.Must("create_list", fields{"boardId": b, "name": "L"}).ID()
		h.ada.Must("create_card", fields{"listId": l, "title": "Bug elsewhere"})
		h.wantCards(t, h.ada, bugs.ID(), nil, "Hidden bug", "Open bug")
		h.ada.Within(another).Refused(board.CodeNotFound, "list_filter_cards", fields{"filterId": bugs.ID()})

		// Archived cards are included only on request.
		h.ada.Must("archive_board", fields{"boardId": h.private})
		h.wantCards(t, h.ada, bugs.ID(), nil, "Open bug")
		h.wantCards(t, h.ada, bugs.ID(), fields{"archived": "true"}, "Hidden bug", "Open bug")
	})
}

func TestFilterIsPrivateOrShared(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		h := newFilterWorld(s)
		amy := s.Person("Amy").Joins(h.workspace, board.WorkspaceAdmin)
		tom := s.Person("Tom").Joins(h.workspace, board.WorkspaceMember)
		own := h.save(h.bob, "bug", false).ID()
		shared := h.save(h.bob, "bug", true).ID()
		guests := h.save(h.guest, "bug", false).ID()
		for p, want := range map[*apptest.Person][]string{h.bob: {own, shared}, amy: {shared}, h.ada: {shared}, tom: {shared},
			h.guest: {guests}} {
			if got := p.All("list_saved_filters", "id", fields{"workspaceId": h.workspace, "limit": 1}); !slices.Equal(got,
				want) {
				t.Errorf("%s: got filters %v, want %v", p.Name, got, want)
			}
		}
		for _, name := range []string{"update_saved_filter", "delete_saved_filter", "list_filter_cards"} {
			amy.Refused(board.CodeNotFound, name, fields{"filterId": own})
			h.guest.Refused(board.CodeNotFound, name, fields{"filterId": shared})
		}
		tom.Refused(board.CodeForbidden, "update_saved_filter", fields{"filterId": shared, "name": "Mine"})
		tom.Refused(board.CodeForbidden, "delete_saved_filter", fields{"filterId": shared})
		if a := amy.Must("update_saved_filter", fields{"filterId": shared, "name": "Ours",
			"query": "fault"}); a.Text("name") != "Ours" || a.Text("query") != "fault" || a.Text("owner.name") != "Bob" {
			t.Errorf("got filter %s, want the new name and query and the same owner", a.Raw)
		}
		h.wantCards(t, tom, shared, nil, "No fault")
		h.guest.Refused(board.CodeForbidden, "create_saved_filter",
			fields{"workspaceId": h.workspace, "name": "x", "query": "", "shared": true})
		h.guest.Refused(board.CodeForbidden, "update_saved_filter", fields{"filterId": guests, "shared": true})
		h.guest.Must("update_saved_filter", fields{"filterId": guests, "name": "Other"})

		// A filter that is no longer shared is visible only to its owner.
		h.bob.Must("update_saved_filter", fields{"filterId": shared, "shared": false})
		amy.Refused(board.CodeNotFound, "delete_saved_filter", fields{"filterId": shared})
		h.bob.Must("delete_saved_filter", fields{"filterId": shared})
		h.bob.Refused(board.CodeNotFound, "list_filter_cards", fields{"filterId": shared})

		// People who have left the workspace can no longer see their own filters.
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.RemoveMember(ctx, h.workspace, h.bob.ID)
		})
		h.bob.Refused(board.CodeNotFound, "list_filter_cards", fields{"filterId": own})

		readOnly(s, h.ada, h.workspace, true)
		h.ada.Refused(board.CodePlanReadOnly, "create_saved_filter",
			fields{"workspaceId": h.workspace, "name": "x", "query": ""})
		h.guest.Refused(board.CodePlanReadOnly, "update_saved_filter", fields{"filterId": guests, "name": "x"})
	})
}

func TestBrokenFilter(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		h := newFilterWorld(s)
		problem := func(p *apptest.Person, id string) string {
			t.Helper()
			for _, item := range p.Must("list_saved_filters", fields{"workspaceId": h.workspace, "limit": 200}).Data.([]any) {
				f := item.(map[string]any)
				if f["id"] == id {
					text, _ := f["problem"].(string)
					if f["broken"] != (text != "") {
						t.Errorf("got broken %v with problem %q, want a problem only if broken", f["broken"], text)
					}
					return text
				}
			}
			t.Fatalf("list_saved_filters as %s does not contain the filter", p.Name)
			return ""
		}
		wantProblem := func(p *apptest.Person, id, text string) {
			t.Helper()
			if got := problem(p, id); (got == "") != (text == "") || !strings.Contains(got, text) {
				t.Errorf("%s: got problem %q, want %q", p.Name, got, text)
			}
		}
		label := h.save(h.ada, "label:"+h.label+" -list:"+h.list+",any member:"+h.bob.ID+",me", true).ID()
		wantProblem(h.ada, label, "")
		wantProblem(h.bob, label, "")
		private := h.save(h.ada, "board:"+h.private, true).ID()
		wantProblem(h.ada, private, "")
		wantProblem(h.bob, private, "a board that does not exist or that you cannot see")
		h.wantCards(t, h.bob, private, nil)

		several := h.save(h.ada, "list:"+store.NewID("lst_")+
			" label:"+store.NewID("lbl_")+","+store.NewID("lbl_")+" creator:"+
			store.NewID("usr_")+" commenter:"+store.NewID("usr_"), true)
		if several.Get("broken") != true || several.Text("problem") !=
			"The query refers to a list, a label and a person that do not exist or that you cannot see." {
			t.Errorf("got filter %s, want a problem with the list, the label and the person", several.Raw)
		}
		names := h.save(h.ada, "label:nosuch board:nosuch", true)
		if names.Get("broken") != false {
			t.Errorf("filter with unknown names: got %s, want broken false", names.Raw)
		}

		h.ada.Must("delete_label", fields{"labelId": h.label})
		wantProblem(h.ada, label, "a label that")
		h.wantCards(t, h.ada, label, nil)
		if a := h.ada.Must("update_saved_filter",
			fields{"filterId": label, "query": "member:" + h.bob.ID}); a.Get("broken") != false {
			t.Errorf("after the query was fixed: got filter %s, want broken false", a.Raw)
		}
		h.ada.Must("archive_board", fields{"boardId": h.private})
		wantProblem(h.ada, private, "")
		h.ada.Must("restore_board", fields{"boardId": h.private})
		h.ada.Must("trash_board", fields{"boardId": h.private})
		wantProblem(h.ada, private, "a board that")
		allowed(t, removeMember(h.ada, h.workspace, h.bob.ID))
		wantProblem(h.ada, label, "a person that")

		// A guest cannot list the members, so the response must not reveal which people exist.
		one, other := h.save(h.guest, "creator:"+h.ada.ID, false), h.save(h.guest, "creator:"+store.NewID("usr_"), false)
		if one.Get("broken") != other.Get("broken") {
			t.Errorf("filters of a guest: got %s for a person and %s for an unknown ID, want the same broken", one.Raw,
				other.Raw)
		}
		// An earlier version of the grammar accepted this query.
		s.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertSavedFilter(ctx, &board.SavedFilter{ID: "flt_old", WorkspaceID: h.workspace,
				Owner: board.UserRef{ID: h.ada.ID}, Name: "Old", Query: "due:someday"})
		})
		wantProblem(h.ada, "flt_old", "query")
		h.ada.Refused(board.CodeInvalidRequest, "list_filter_cards", fields{"filterId": "flt_old"})
	})
}

func TestFilterIsCheckedWhenSaved(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		h := newFilterWorld(s)
		in := fields{"workspaceId": h.workspace, "name": "F", "query": "is:open due:someday"}
		for _, a := range []apptest.Response{
			h.ada.Refused(board.CodeInvalidRequest, "create_saved_filter", in),
			h.ada.Refused(board.CodeInvalidRequest, "update_saved_filter",
				fields{"filterId": h.save(h.ada, "", false).ID(), "query": "is:open due:someday"}),
		} {
			if !strings.Contains(a.Message, "query") || !strings.Contains(a.Message, "offset 12") {
				t.Errorf("got error %s, want one about the query at offset 12", a.Raw)
			}
		}
		if a := h.ada.Refused(board.CodeInvalidRequest, "create_saved_filter",
			with(with(in, "query", ""), "name", " ")); !strings.Contains(a.Message, "name") {
			t.Errorf("got error %s, want one about the name", a.Raw)
		}
		for i := 1; i < board.MaxSavedFilters; i++ {
			h.save(h.ada, fmt.Sprint("n", i), false)
		}
		h.ada.Refused(board.CodeLimitReached, "create_saved_filter", with(in, "query", ""))
		h.save(h.bob, "", false)
	})
}

// A cursor is not valid after the query of its filter has changed.
func TestCursorOfChangedFilter(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		h := newFilterWorld(s)
		id := h.save(h.ada, "sort:created", false).ID()
		in := fields{"filterId": id, "limit": 1}
		next := h.ada.Must("list_filter_cards", in).Next
		h.ada.Must("update_saved_filter", fields{"filterId": id, "name": "Other"})
		h.ada.Must("list_filter_cards", with(in, "cursor", next))
		h.ada.Must("update_saved_filter", fields{"filterId": id, "query": "sort:updated"})
		if a := h.ada.Refused(board.CodeInvalidRequest, "list_filter_cards",
			with(in, "cursor", next)); !strings.Contains(a.Message, "cursor") {
			t.Errorf("got error %s, want one about the cursor", a.Raw)
		}
	})
}
