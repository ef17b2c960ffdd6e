package app_test

import (
	"reflect"
	"slices"
)

// fieldsWithHistory returns the fields of a noun whose old and new values are in the changes.
func fieldsWithHistory(noun string) []string {
	return map[string][]string{
		"board":        {"name", "description", "color", "background", "visibility", "features", "archivedAt", "trashedAt"},
		"board_member": {"role"},
		"list":         {"name", "wipLimit", "wipMode", "archivedAt"},
		"card": {"title", "description", "number", "listId", "done", "archivedAt", "labels", "assignees", "dueDate",
			"dueAt", "startDate", "startAt", "timeZone"},
		"attachment":     {"name"},
		"checklist":      {"title"},
		"checklist_item": {"title", "done"},
		"label":          {"name", "color"},
		"status":         {"status", "title"},
	}[noun]
}

// recordFields stores the field values of a change. It fails the test unless the old value in the
// change equals the known value. It forgets the values of a card that leaves the board and of the
// objects on the card, because they may return with other values.
func (m *mirror) recordFields(noun, verb, id, card string, changes record) {
	if noun != "card" && card != "" {
		m.cardOf[id] = card
	}
	list, moved := changes["listId"].(record)
	if verb == "deleted" || verb == "moved_away" || moved && list["to"] == nil {
		m.gone[id] = true
		m.fields[id] = record{}
		for other, on := range m.cardOf {
			if on == id {
				m.fields[other] = record{}
			}
		}
		return
	}
	if m.fields[id] == nil || verb == "moved_in" || moved && list["from"] == nil {
		m.fields[id] = record{}
	}
	for _, field := range fieldsWithHistory(noun) {
		c, ok := changes[field].(record)
		if !ok {
			continue
		}
		have, known := m.fields[id][field]
		if !known {
			have, known = m.current(id, field)
		}
		if known && !m.arrived[id] && !m.equivalent(have, c["from"]) {
			m.t.Fatalf("%s.%s: the old value of %s of %s is %v, want %v", noun, verb, field, id, c["from"], have)
		}
		m.fields[id][field] = c["to"]
	}
}

// current returns the value of a field in the mirror, in the form that changes use.
func (m *mirror) current(id, field string) (v any, known bool) {
	r := m.records[id]
	if id == m.id {
		r = m.board
	}
	if field == "role" {
		field = "given"
	}
	v, known = r[field]
	if field == "archivedAt" && r["archivedBy"] == "list" {
		return nil, known // the changes of a card do not contain the archiving of its list
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

// equivalent reports whether two values are equal. In lists of ids, it ignores the order and the ids
// of objects that are gone.
func (m *mirror) equivalent(a, b any) bool {
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

// compareFields compares the field values of the changes with the values that were read.
func (m *mirror) compareFields() {
	for id, known := range m.fields {
		for field, v := range known {
			if have, known := m.current(id, field); known && !m.equivalent(have, v) {
				m.t.Fatalf("%s of %s is %v according to the changes, want %v", field, id, v, have)
			}
		}
	}
}
