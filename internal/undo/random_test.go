package undo_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cardwall/internal/apptest"
)

// A program and a person change a board at random. Undoing the program's changes leaves what
// the person did, and undoing the undo restores the board. If cards are archived, only their order
// in the lists may differ.
func TestUndoLeavesExactlyTheChangesOfPeople(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		rapid.Check(t, func(rt *rapid.T) {
			w.fill()
			m := newModel(w)
			m.archives = rapid.Bool().Draw(rt, "archives")
			for i := range rapid.IntRange(1, 25).Draw(rt, "changes") {
				m.change(rt, i)
			}
			state := w.state
			if m.archived {
				state = w.unordered
			}
			before := state()
			a := w.program.Must("undo_changes", fields{"boardId": w.board, "since": always})
			m.check(rt, a)
			if a.Get("undone") == 0.0 {
				return
			}
			again := w.program.Must("undo_changes", fields{"boardId": w.board, "callIds": []string{w.lastCall(w.program)}})
			if again.Get("refused") != 0.0 {
				rt.Fatalf("undo of the undo %s: got %s, want nothing refused", a.Raw, again.Raw)
			}
			if got := state(); got != before {
				rt.Fatalf("after the undo of the undo: got\n%s\nwant\n%s", got, before)
			}
		})
		w.CheckConsistency()
	})
}

// model is the board as only the person changes it.
type model struct {
	w     *world
	lists []string
	cards []string          // created before the first change
	value map[string]string // by card and field
	fresh map[string]bool   // cards of the program; true if the person changed them, too
	last  int64             // version of the board

	archives bool // cards can be created, archived and restored
	archived bool // one was
}

func newModel(w *world) *model {
	m := &model{w: w, lists: []string{w.todo, w.doing}, value: map[string]string{}, fresh: map[string]bool{}}
	m.cards = w.ada.All("list_cards", "id", fields{"boardId": w.board})
	for _, id := range m.cards {
		for field, value := range m.read(id) {
			m.value[id+field] = value
		}
	}
	return m
}

// read returns the fields of a card that the model knows.
func (m *model) read(id string) map[string]string {
	card := m.w.ada.Must("get_card", fields{"cardId": id})
	out := map[string]string{"archived": fmt.Sprint(card.Get("archivedAt") != nil), "due": fmt.Sprint(card.Get("dueDate"))}
	for _, field := range []string{"title", "description", "listId", "done"} {
		out[field] = fmt.Sprint(card.Get(field))
	}
	for field, ids := range map[string][]string{"labels": {m.w.label}, "assignees": {m.w.ada.ID, m.w.bob.ID}} {
		for _, element := range ids {
			out[field+element] = fmt.Sprint(slices.ContainsFunc(card.Get(field).([]any), func(v any) bool {
				return v.(map[string]any)["id"] == element
			}))
		}
	}
	return out
}

// change makes a random change, by the program or by the person. A change of the person that
// changes nothing is not recorded, so the model does not know it either.
func (m *model) change(rt *rapid.T, i int) {
	byPerson := rapid.Bool().Draw(rt, "by the person")
	p := m.w.program
	if byPerson {
		p = m.w.bob
	}
	ids := slices.Clone(m.cards)
	for id := range m.fresh {
		ids = append(ids, id)
	}
	slices.Sort(ids) // ids ascend in the order of creation
	id := rapid.SampledFrom(ids).Draw(rt, "card")
	flag := rapid.Bool().Draw(rt, "flag")
	text := fmt.Sprint("Text ", i)
	name, in := "update_card", fields{"cardId": id}
	kinds := 7
	if m.archives {
		kinds = 9
	}
	switch rapid.IntRange(0, kinds).Draw(rt, "kind") {
	case 0:
		in["title"] = text
	case 1:
		in["title"], in["description"] = text, text
	case 2:
		in["done"] = flag
	case 3, 4:
		name, in["listId"], in["position"] = "move_card", rapid.SampledFrom(m.lists).Draw(rt, "list"), "top"
		if flag {
			in["position"] = "bottom"
		}
	case 5:
		name, in["dueDate"] = "set_card_due", fmt.Sprintf("2027-01-%02d", 1+i)
	case 6:
		name, in[map[bool]string{true: "add", false: "remove"}[flag]] = "set_card_labels", []string{m.w.label}
	case 7:
		element := rapid.SampledFrom([]string{m.w.ada.ID, m.w.bob.ID}).Draw(rt, "person")
		name, in[map[bool]string{true: "add", false: "remove"}[flag]] = "set_card_assignees", []string{element}
	case 8:
		name = map[bool]string{true: "archive_card", false: "restore_card"}[flag]
	case 9:
		if byPerson {
			return
		}
		name, in = "create_card", fields{"listId": rapid.SampledFrom(m.lists).Draw(rt, "list"), "title": text}
	}
	before := m.read(id)
	m.archived = m.archived || name == "create_card" || name == "archive_card" || name == "restore_card"
	a := p.Call(name, in)
	if a.Status/100 != 2 || a.Version == m.last { // such as a change to an archived card
		return
	}
	m.last = a.Version
	_, isFresh := m.fresh[id]
	switch {
	case name == "create_card":
		m.fresh[a.ID()] = false
	case byPerson && isFresh:
		m.fresh[id] = true
	case byPerson:
		for field, value := range m.read(id) {
			if value != before[field] || field == "listId" && name == "move_card" {
				m.value[id+field] = value
			}
		}
	}
}

// check compares the board with the model.
func (m *model) check(rt *rapid.T, a apptest.Response) {
	for _, id := range m.cards {
		for field, value := range m.read(id) {
			// The program's changes to a card that the person archived are refused.
			if value != m.value[id+field] && (field == "archived" || m.value[id+"archived"] == "false") {
				rt.Fatalf("after %s: %s of card %s is %q, want %q", a.Raw, field, id, value, m.value[id+field])
			}
		}
	}
	for id, touched := range m.fresh {
		if archived := m.read(id)["archived"] == "true"; !archived && !touched {
			rt.Fatalf("after %s: the new card %s is archived: %t, and the person changed it: %t", a.Raw, id, archived, touched)
		}
	}
}
