package app_test

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// readByID is a record that an operation reads by its id, and where a list contains it.
type readByID struct {
	get  string
	in   fields
	list string
	of   fields
}

// recordsToRead returns a record of each kind on the board of the world, except saved filters.
func recordsToRead(w *world) []readByID {
	update := w.make("post_status_update", fields{"boardId": w.board, "status": "at_risk", "title": "Late", "targetDate": "2026-12-24"})
	entry := w.owner.Must("list_board_activity", fields{"boardId": w.board, "limit": 1}).Text("0.id")
	here, card := fields{"boardId": w.board}, fields{"cardId": w.card}
	return []readByID{
		{"get_list", fields{"listId": w.list}, "list_lists", with(here, "includeArchived", true)},
		{"get_list", fields{"listId": w.archived}, "list_lists", with(here, "includeArchived", true)},
		{"get_label", fields{"labelId": w.label}, "list_labels", here},
		{"get_checklist", fields{"checklistId": w.checklist}, "list_checklists", card},
		{"get_comment", fields{"commentId": w.comment}, "list_comments", card},
		{"get_status_update", fields{"statusUpdateId": update}, "list_status_updates", here},
		{"get_activity", fields{"activityId": entry}, "list_board_activity", with(here, "limit", 200)},
	}
}

// A record that is read by its id is the same as in its list, also on an archived board.
func TestRecordsAreReadByTheirID(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		records := recordsToRead(w)
		check := func(when string) {
			for _, r := range records {
				one := w.owner.Must(r.get, r.in)
				all := w.owner.Must(r.list, r.of)
				if want := all.Get(strconv.Itoa(slices.Index(all.Each("id"), one.ID()))); !reflect.DeepEqual(one.Data, want) {
					t.Errorf("%s: %s returns %s, want the record of %s: %v", when, r.get, one.Raw, r.list, want)
				}
			}
		}
		check("on an open board")
		w.owner.Must("archive_card", fields{"cardId": w.card})
		w.owner.Must("archive_list", fields{"listId": w.list})
		check("in an archived list")
		w.owner.Must("archive_board", fields{"boardId": w.board})
		check("on an archived board")

		reader, stranger := w.owner.With(board.ScopeRead), w.Person("Eve")
		for _, r := range records {
			reader.Must(r.get, r.in)
			stranger.Refused(board.CodeNotFound, r.get, r.in)
		}
		w.owner.Must("restore_board", fields{"boardId": w.board})
		w.owner.Must("trash_board", fields{"boardId": w.board})
		for _, r := range records {
			w.owner.Refused(board.CodeNotFound, r.get, r.in)
			for field, id := range r.in {
				wrong := id.(string)[:4] + strings.Repeat("0", 26)
				w.owner.Refused(board.CodeNotFound, r.get, fields{field: wrong})
				w.owner.Refused(board.CodeNotFound, r.get, fields{field: "x"})
			}
		}
		w.owner.Refused(board.CodeNotFound, "get_card_by_number", fields{"boardId": w.board, "number": 1})
	})
}

// Lists and status updates are readable to viewers, but not through a token of another workspace.
func TestListIsReadWithinTheWorkspaceOfAToken(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		update := fields{"statusUpdateId": w.make("post_status_update", fields{"boardId": w.board, "status": "at_risk", "title": "Late"})}
		viewer := w.Person("Vi")
		w.setRoles(viewer, board.WorkspaceGuest, w.board, board.RoleViewer)
		if a := viewer.Must("get_list", fields{"listId": w.list}); a.Text("name") != "To do" || a.Get("openCards") != 2.0 {
			t.Errorf("the list: got %s, want To do with two open cards", a.Raw)
		}
		if a := viewer.Must("get_status_update", update); a.Text("title") != "Late" || a.Get("snapshot") == nil {
			t.Errorf("the status update: got %s, want it with its figures", a.Raw)
		}
		elsewhere := w.owner.Within(w.owner.Workspace("Looms", board.PlanTeam))
		elsewhere.Refused(board.CodeNotFound, "get_list", fields{"listId": w.list})
		elsewhere.Refused(board.CodeNotFound, "get_status_update", update)
	})
}

// After a comment is deleted, its text is nowhere, and what happened remains readable.
func TestDeletedRecordsAreNotFound(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		w.owner.Must("edit_comment", fields{"commentId": w.comment, "text": "A secret."})
		entry := w.owner.Must("list_board_activity", fields{"boardId": w.board, "limit": 1}).Text("0.id")
		w.owner.Must("delete_comment", fields{"commentId": w.comment})
		w.owner.Must("delete_label", fields{"labelId": w.label})
		w.owner.Must("delete_checklist", fields{"checklistId": w.checklist})
		w.owner.Refused(board.CodeNotFound, "get_comment", fields{"commentId": w.comment})
		w.owner.Refused(board.CodeNotFound, "get_label", fields{"labelId": w.label})
		w.owner.Refused(board.CodeNotFound, "get_checklist", fields{"checklistId": w.checklist})
		a := w.owner.Must("get_activity", fields{"activityId": entry})
		if a.Text("type") != "comment.edited" || bytes.Contains(a.Raw, []byte("secret")) || bytes.Contains(a.Raw, []byte("Soon")) {
			t.Errorf("the entry of an edited comment that was deleted: got %s, want none of its texts", a.Raw)
		}
	})
}

// A card is found by its number, and has the entity tag of its board.
func TestCardIsReadByItsNumber(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		in := fields{"boardId": w.board, "number": 1}
		a := w.owner.Must("get_card_by_number", in)
		if a.ID() != w.card || !reflect.DeepEqual(a.Data, w.owner.Must("get_card", fields{"cardId": w.card}).Data) {
			t.Errorf("got %s, want the card %s as get_card returns it", a.Raw, w.card)
		}
		match := map[string][]string{"If-None-Match": {a.Header.Get("ETag")}}
		if again := w.owner.CallWith("get_card_by_number", in, match); again.Status != 304 {
			t.Errorf("with the entity tag of the response: got status %d, want 304", again.Status)
		}
		w.owner.Must("update_card", fields{"cardId": w.card, "title": "New"})
		if again := w.owner.CallWith("get_card_by_number", in, match); again.Status != 200 || again.Text("title") != "New" {
			t.Errorf("after a change: got status %d, body %s; want the changed card", again.Status, again.Raw)
		}
		if a := w.owner.Must("get_card_by_number", with(in, "number", 3)); a.ID() != w.archivedCard {
			t.Errorf("the number of an archived card: got %s, want %s", a.Raw, w.archivedCard)
		}
		w.owner.Refused(board.CodeNotFound, "get_card_by_number", with(in, "number", 99))
		w.owner.Refused(board.CodeInvalidRequest, "get_card_by_number", with(in, "number", 0))
		w.Person("Eve").Refused(board.CodeNotFound, "get_card_by_number", in)
		moved := w.owner.Must("move_card_to_board", fields{"cardId": w.card, "listId": w.away})
		w.owner.Refused(board.CodeNotFound, "get_card_by_number", in)
		there := fields{"boardId": w.second, "number": moved.Get("card.number")}
		if a := w.owner.Must("get_card_by_number", there); a.ID() != w.card {
			t.Errorf("on the other board: got %s, want the moved card", a.Raw)
		}
	})
}

// A filter that is read by its id is the same as in the list, for those who can see it.
func TestSavedFilterIsReadByItsID(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		h := newFilterWorld(s)
		shared := h.save(h.ada, "label:lbl_00000000000000000000000000", true).ID()
		own := h.save(h.bob, "bug", false).ID()
		for _, p := range []*apptest.Person{h.ada, h.bob} {
			a := p.Must("get_saved_filter", fields{"filterId": shared})
			want := p.Must("list_saved_filters", fields{"workspaceId": h.workspace}).Get("0")
			if !reflect.DeepEqual(a.Data, want) {
				t.Errorf("%s: got %s, want the filter of the list: %v", p.Name, a.Raw, want)
			}
			if a.Get("broken") != true {
				t.Errorf("%s: got %s, want a broken filter", p.Name, a.Raw)
			}
		}
		h.bob.Must("get_saved_filter", fields{"filterId": own})
		h.ada.Refused(board.CodeNotFound, "get_saved_filter", fields{"filterId": own})
		h.guest.Refused(board.CodeNotFound, "get_saved_filter", fields{"filterId": shared})
		h.ada.Within(h.ada.Workspace("Looms", board.PlanTeam)).Refused(board.CodeNotFound, "get_saved_filter", fields{"filterId": shared})
		h.ada.Refused(board.CodeNotFound, "get_saved_filter", fields{"filterId": "flt_00000000000000000000000000"})
	})
}
