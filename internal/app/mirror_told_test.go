package app_test

import (
	"reflect"
	"slices"
)

// tellable are the fields of which the changes tell what they were and are.
func tellable(noun string) []string {
	return map[string][]string{
		"board":        {"name", "description", "color", "visibility", "features", "archivedAt", "trashedAt"},
		"board_member": {"role"},
		"list":         {"name", "wipLimit", "wipMode", "archivedAt"},
		"card": {"title", "description", "number", "listId", "done", "archivedAt", "labels", "assignees", "dueDate",
			"dueAt", "startDate", "startAt", "timeZone"},
		"checklist":      {"title"},
		"checklist_item": {"title", "done"},
		"label":          {"name", "color"},
		"status":         {"status", "title"},
	}[noun]
}

// tell keeps what a change says, which has to begin at what was there. What
// leaves the board with a card may come back with it as something else.
func (m *mirror) tell(noun, verb, id, card string, changes record) {
	if noun != "card" && card != "" {
		m.on[id] = card
	}
	list, moved := changes["listId"].(record)
	if verb == "deleted" || verb == "moved_away" || moved && list["to"] == nil {
		m.gone[id] = true
		m.told[id] = record{}
		for other, on := range m.on {
			if on == id {
				m.told[other] = record{}
			}
		}
		return
	}
	if m.told[id] == nil || verb == "moved_in" || moved && list["from"] == nil {
		m.told[id] = record{}
	}
	for _, field := range tellable(noun) {
		c, ok := changes[field].(record)
		if !ok {
			continue
		}
		have, known := m.told[id][field]
		if !known {
			have, known = m.shown(id, field)
		}
		if known && !m.whole[id] && !m.alike(have, c["from"]) {
			m.t.Fatalf("%s.%s says that %s of %s was %v, and it was %v", noun, verb, field, id, c["from"], have)
		}
		m.told[id][field] = c["to"]
	}
}

// shown is a field as the mirror keeps it, in the way of the changes.
func (m *mirror) shown(id, field string) (v any, known bool) {
	r := m.kept[id]
	if id == m.id {
		r = m.board
	}
	if field == "role" {
		field = "given"
	}
	v, known = r[field]
	if field == "archivedAt" && r["archivedBy"] == "list" {
		return nil, known // no change of the card told it
	}
	if refs, ok := v.([]any); ok {
		ids := []any{}
		for _, ref := range objects(refs) {
			ids = append(ids, ref["id"])
		}
		return ids, known
	}
	return v, known
}

// alike compares values; sets of ids without order and deleted labels, and
// none is as good as an empty one.
func (m *mirror) alike(a, b any) bool {
	set := func(v any) any {
		ids, ok := v.([]any)
		if !ok {
			return v
		}
		out := []string{}
		for _, id := range ids {
			if !m.gone[id.(string)] {
				out = append(out, id.(string))
			}
		}
		slices.Sort(out)
		return out
	}
	return reflect.DeepEqual(set(a), set(b))
}

// compareTold compares what the changes told with what was read.
func (m *mirror) compareTold() {
	for id, told := range m.told {
		for field, v := range told {
			if have, known := m.shown(id, field); known && !m.alike(have, v) {
				m.t.Fatalf("the changes tell that %s of %s is %v, and it is %v", field, id, v, have)
			}
		}
	}
}
