package automate

import (
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// triggers reports whether an event fires a rule's trigger, without looking at
// the card.
func triggers(w board.RuleWhen, o *store.Occurrence) bool {
	if o.Quiet || !slices.Contains(w.Event.Kinds(), o.Type) {
		return false
	}
	from, to := func(field string) any { return o.Changes[field].From }, func(field string) any { return o.Changes[field].To }
	narrowed := func(id any) bool { return id != nil && (value(w.ListID) == "" || *w.ListID == id) }
	switch w.Event {
	case board.OnCardCreated:
		return narrowed(to("listId"))
	case board.OnCardEntered:
		return from("listId") != to("listId") && narrowed(to("listId"))
	case board.OnCardLeft: // a move to another board does not trigger the rule
		return to("listId") != nil && from("listId") != to("listId") && narrowed(from("listId"))
	case board.OnLabelAdded:
		return holds(added(from("labels"), to("labels")), value(w.LabelID))
	case board.OnLabelRemoved:
		return holds(added(to("labels"), from("labels")), value(w.LabelID))
	case board.OnPersonAssigned:
		return holds(added(from("assignees"), to("assignees")), value(w.UserID))
	case board.OnPersonUnassigned:
		return holds(added(to("assignees"), from("assignees")), value(w.UserID))
	case board.OnDueSet: // a start alone is not a due date
		return to("dueDate") != nil || to("dueAt") != nil
	case board.OnDueCleared:
		return from("dueDate") != nil && to("dueDate") == nil
	}
	return true
}

// added returns the ids that are in after but not in before.
func added(before, after any) []any {
	old, _ := before.([]any)
	all, _ := after.([]any)
	return slices.DeleteFunc(slices.Clone(all), func(id any) bool { return slices.Contains(old, id) })
}

// holds reports whether ids contains id. If id is "", any element matches.
func holds(ids []any, id string) bool {
	return len(ids) > 0 && (id == "" || slices.Contains(ids, any(id)))
}

// value returns the value of a pointer, or the zero value for nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
