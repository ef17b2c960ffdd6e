package undo_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

type fields = apptest.Fields

// world is a board with contents, a person, and a program that acts for the person.
type world struct {
	*apptest.Service
	ada, bob, program *apptest.Person

	workspace, board, todo, doing, elsewhere, away, label, card, other, checklist, item string // ids
}

func both(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		w := &world{Service: s, ada: ada, bob: s.Person("Bob"), workspace: ada.Workspace("Engines", board.PlanTeam)}
		w.bob.Joins(w.workspace, board.WorkspaceMember)
		w.program = ada.Issue(app.NewToken{Name: "Claude", Scopes: board.WorkScopes()})
		w.fill()
		test(t, w)
	})
}

// fill creates the board.
func (w *world) fill() {
	w.board = w.make("create_board", fields{"workspaceId": w.workspace, "name": "Launch"})
	w.ada.Must("update_board", fields{"boardId": w.board, "features": fields{"startDates": true}})
	w.todo = w.make("create_list", fields{"boardId": w.board, "name": "To do"})
	w.doing = w.make("create_list", fields{"boardId": w.board, "name": "Doing"})
	w.elsewhere = w.make("create_board", fields{"workspaceId": w.workspace, "name": "Other"})
	w.away = w.make("create_list", fields{"boardId": w.elsewhere, "name": "Away"})
	w.label = w.make("create_label", fields{"boardId": w.board, "name": "Bug", "color": "red"})
	w.card = w.make("create_card", fields{"listId": w.todo, "title": "Press release", "labels": []string{w.label},
		"assignees": []string{w.ada.ID}, "due": fields{"dueDate": "2026-12-01", "dueTime": "09:30", "timeZone": "Europe/Berlin"}})
	w.other = w.make("create_card", fields{"listId": w.todo, "title": "Call the printer"})
	w.make("create_card", fields{"listId": w.doing, "title": "Book the hall"})
	w.checklist = w.make("add_checklist", fields{"cardId": w.card, "title": "Before", "items": []string{"one", "two"}})
	w.item = w.ada.Must("list_checklists", fields{"cardId": w.card}).Text("0.items.0.id")
}

func (w *world) make(name string, in fields) string { return w.ada.Must(name, in).ID() }

// volatile are values that an undo does not restore. A label or item that was deleted gets
// another id.
var volatile = regexp.MustCompile(`"(updatedAt|createdAt|version|doneAt)":("[^"]*"|[0-9]+|null),?|(chi|chk|lbl)_[0-9a-z]{26}`)

// state returns the content of the board in order, without archived cards and lists.
func (w *world) state() string { w.T.Helper(); return w.contents(true) }

// unordered returns the content of the board as state does, but with the cards of each list
// sorted by id.
func (w *world) unordered() string { w.T.Helper(); return w.contents(false) }

func (w *world) contents(ordered bool) string {
	w.T.Helper()
	var b strings.Builder
	write := func(name string, in fields) apptest.Response {
		a := w.ada.Must(name, in)
		sortElements(a.Data, !ordered && name == "list_cards")
		text, err := json.Marshal(a.Data, json.Deterministic(true))
		if err != nil {
			w.T.Fatal(err)
		}
		b.Write(volatile.ReplaceAll(text, nil))
		b.WriteByte('\n')
		return a
	}
	this := w.ada.Must("get_board", fields{"boardId": w.board})
	fmt.Fprintln(&b, this.Get("name"), this.Get("description"), this.Get("color"), this.Get("archivedAt"))
	write("list_labels", fields{"boardId": w.board})
	for _, list := range write("list_lists", fields{"boardId": w.board}).Each("id") {
		cards := write("list_cards", fields{"boardId": w.board, "list": list, "limit": 200})
		for _, card := range cards.Each("id") {
			write("get_card", fields{"cardId": card})
			write("list_comments", fields{"cardId": card})
		}
	}
	return b.String()
}

// sortElements sorts the assignees of a card or of several cards, because a person whom an undo
// assigns again comes last. If cards is set, it also sorts the cards.
func sortElements(data any, cards bool) {
	switch data := data.(type) {
	case []any:
		for _, element := range data {
			sortElements(element, false)
		}
		if cards {
			sortByID(data)
		}
	case map[string]any:
		if all, ok := data["assignees"].([]any); ok {
			sortByID(all)
		}
	}
}

func sortByID(records []any) {
	id := func(record any) string { return record.(map[string]any)["id"].(string) }
	slices.SortFunc(records, func(a, b any) int { return strings.Compare(id(a), id(b)) })
}

// requireState compares the content of the board with an earlier one.
func (w *world) requireState(what, want string) {
	w.T.Helper()
	got, wanted := strings.Split(w.state(), "\n"), strings.Split(want, "\n")
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
			w.T.Fatalf("%s: line %d of %d is\n%s\nwant line %d of %d\n%s", what, i, len(got), got[min(i, len(got)-1)], i, len(wanted),
				wanted[min(i, len(wanted)-1)])
		}
	}
}

// undo undoes calls, by default those on the board, and requires the given numbers of changes.
func (w *world) undo(p *apptest.Person, in fields, undone, already, refused int) apptest.Response {
	w.T.Helper()
	if in["boardId"] == nil {
		in["boardId"] = w.board
	}
	a := p.Must("undo_changes", in)
	if got, want := fmt.Sprint(a.Get("undone"), a.Get("alreadyUndone"), a.Get("refused")), fmt.Sprint(undone, already, refused); got != want {
		w.T.Fatalf("got undone, already undone and refused %s in %s, want %s", got, a.Raw, want)
	}
	return a
}

// lastCall returns the id of the last call with the token of p that changed the board.
func (w *world) lastCall(p *apptest.Person) string {
	w.T.Helper()
	return p.Must("list_my_changes", fields{"boardId": w.board, "limit": 1}).Text("0.id")
}

func (w *world) token(p *apptest.Person) string { return p.Must("get_me", nil).Text("token.id") }

// reasons returns the code and the message of each reason, sorted.
func reasons(a apptest.Response) []string {
	var out []string
	for _, r := range a.Get("reasons").([]any) {
		r := r.(map[string]any)
		out = append(out, fmt.Sprint(r["type"], ": ", r["code"], ": ", r["message"]))
	}
	slices.Sort(out)
	return out
}

const always = "2000-01-01T00:00:00Z"
