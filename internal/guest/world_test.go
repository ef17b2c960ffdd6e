package guest_test

import (
	"fmt"
	"path"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

type fields = apptest.Fields

// world is a board with two lists and a guest who has the address of its public page.
type world struct {
	*apptest.Service
	ada   *apptest.Person // the board's admin
	guest *apptest.Person // a browser without a session

	workspace, board, ideas, inside string // ids; the page shows the Ideas list but not the Inside list
	card, hidden                    string // ids of a card in Ideas and a card in Inside
	key                             string
}

func newWorld(s *apptest.Service) *world {
	ada := s.Person("Ada")
	w := &world{Service: s, ada: ada, guest: s.Browser(), workspace: ada.Workspace("Engines", board.PlanTeam)}
	w.board = w.make("create_board",
		fields{"workspaceId": w.workspace, "name": "Launch", "description": "Not for guests."})
	w.ideas = w.make("create_list", fields{"boardId": w.board, "name": "Ideas"})
	w.inside = w.make("create_list", fields{"boardId": w.board, "name": "Inside"})
	label := w.make("create_label", fields{"boardId": w.board, "name": "Bug", "color": "red"})
	w.card = w.make("create_card",
		fields{"listId": w.ideas, "title": "Press release", "description": "Two **paragraphs**.",
			"labels": []string{label}, "assignees": []string{ada.ID}, "due": fields{"dueDate": "2026-12-01"}})
	w.hidden = w.make("create_card", fields{"listId": w.inside, "title": "Salaries"})
	w.make("add_checklist", fields{"cardId": w.card, "title": "Before", "items": []string{"one", "two"}})
	w.make("add_comment", fields{"cardId": w.card, "text": "Soon."})
	return w
}

func (w *world) make(name string, in fields) string { return w.ada.Must(name, in).ID() }

// open enables the page with the given settings. By default, the page shows only the Ideas
// list.
func (w *world) open(in fields) {
	w.T.Helper()
	all := fields{"boardId": w.board, "on": true, "allLists": false, "lists": []string{w.ideas}}
	for k, v := range in {
		all[k] = v
	}
	w.key = path.Base(w.ada.Must("update_public_page", all).Text("url"))
}

// view requests the page as a guest.
func (w *world) view(in fields) apptest.Response {
	w.T.Helper()
	all := fields{"key": w.key}
	for k, v := range in {
		all[k] = v
	}
	return w.guest.Call("get_guest_page", all)
}

// written adds the fields that each write by a guest requires, with a ticket that is old
// enough to be valid. It advances the clock by three seconds.
func (w *world) written(in fields) fields {
	w.T.Helper()
	all := fields{"key": w.key, "ticket": w.ticket(), "name": "Rosa"}
	for k, v := range in {
		all[k] = v
	}
	return all
}

func comment() fields    { return fields{"number": 1, "text": "When?"} }
func submission() fields { return fields{"title": "A map", "description": "Of the *venue*."} }

// outcome returns "ok" for a success, or else the status and the error code.
func outcome(a apptest.Response) string {
	if a.Status/100 == 2 {
		return "ok"
	}
	return fmt.Sprintf("%d %s", a.Status, a.Code)
}

// tryAll sends each request that a guest can send. It returns the outcomes for the page,
// a card, a comment and a submission.
func (w *world) tryAll(ticket string) []string {
	w.T.Helper()
	out := []string{outcome(w.view(nil)), outcome(w.guest.Call("get_guest_card", fields{"key": w.key, "number": 1}))}
	for name, in := range map[string]fields{"add_guest_comment": comment(), "submit_guest_card": submission()} {
		in["key"], in["ticket"], in["name"] = w.key, ticket, "Rosa"
		v := outcome(w.guest.Call(name, in))
		if name == "add_guest_comment" {
			out = append(out[:2], append([]string{v}, out[2:]...)...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// ticket loads the page, advances the clock by three seconds, and returns the ticket,
// which is then old enough to be valid.
func (w *world) ticket() string {
	w.T.Helper()
	ticket := w.view(nil).Text("ticket")
	w.Clock.Advance(3 * time.Second)
	return ticket
}

// secondBoard returns a copy of a world with another board in the same workspace, whose
// page is enabled.
func secondBoard(w *world) *world {
	other := *w
	other.board = w.make("create_board", fields{"workspaceId": w.workspace, "name": "Second"})
	other.ideas = w.make("create_list", fields{"boardId": other.board, "name": "Ideas"})
	other.open(fields{"mode": "submit"})
	return &other
}
