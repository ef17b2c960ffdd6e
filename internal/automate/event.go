package automate

import (
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Kinds of events caused by time and not by a change.
const (
	kindDue     board.Kind = "card.due"
	kindOverdue board.Kind = "card.overdue"
)

// kinds returns the kinds of changes that may fire a trigger. Initial values of
// a card count as changes.
func kinds(t board.Trigger) []board.Kind {
	switch t {
	case board.OnCardCreated:
		return []board.Kind{board.KindCardCreated}
	case board.OnCardEntered:
		return []board.Kind{board.KindCardCreated, board.KindCardMoved}
	case board.OnCardLeft:
		return []board.Kind{board.KindCardMoved}
	case board.OnCardUpdated:
		return []board.Kind{board.KindCardUpdated}
	case board.OnCardCompleted:
		return []board.Kind{board.KindCardCompleted}
	case board.OnCardReopened:
		return []board.Kind{board.KindCardReopened}
	case board.OnCardArchived:
		return []board.Kind{board.KindCardArchived}
	case board.OnCardRestored:
		return []board.Kind{board.KindCardRestored}
	case board.OnLabelAdded:
		return []board.Kind{board.KindCardCreated, board.KindCardLabelsChanged}
	case board.OnLabelRemoved:
		return []board.Kind{board.KindCardLabelsChanged}
	case board.OnPersonAssigned:
		return []board.Kind{board.KindCardCreated, board.KindCardAssigneesChanged}
	case board.OnPersonUnassigned:
		return []board.Kind{board.KindCardAssigneesChanged}
	case board.OnDueSet:
		return []board.Kind{board.KindCardCreated, board.KindCardDueDateChanged}
	case board.OnDueCleared:
		return []board.Kind{board.KindCardDueDateChanged}
	case board.OnCommentAdded:
		return []board.Kind{board.KindCommentAdded}
	case board.OnItemCompleted, board.OnChecklistCompleted:
		return []board.Kind{board.KindItemCompleted}
	case board.OnDueSoon:
		return []board.Kind{kindDue}
	case board.OnOverdue:
		return []board.Kind{kindOverdue}
	case board.OnListCreated:
		return []board.Kind{board.KindListCreated}
	case board.OnListArchived:
		return []board.Kind{board.KindListArchived}
	case board.OnStatusPosted:
		return []board.Kind{board.KindStatusPosted}
	}
	return nil
}

// setsOff reports whether an event fires a rule's trigger, without looking at
// the card.
func setsOff(w board.RuleWhen, o *store.Occurrence) bool {
	if o.Quiet || !slices.Contains(kinds(w.Event), o.Type) {
		return false
	}
	from, to := func(field string) any { return o.Changes[field].From }, func(field string) any { return o.Changes[field].To }
	narrowed := func(id any) bool { return id != nil && (value(w.ListID) == "" || *w.ListID == id) }
	switch w.Event {
	case board.OnCardCreated:
		return narrowed(to("listId"))
	case board.OnCardEntered:
		return from("listId") != to("listId") && narrowed(to("listId"))
	case board.OnCardLeft: // a card on another board is out of the rule's reach
		return to("listId") != nil && from("listId") != to("listId") && narrowed(from("listId"))
	case board.OnLabelAdded:
		return holds(more(from("labels"), to("labels")), value(w.LabelID))
	case board.OnLabelRemoved:
		return holds(more(to("labels"), from("labels")), value(w.LabelID))
	case board.OnPersonAssigned:
		return holds(more(from("assignees"), to("assignees")), value(w.UserID))
	case board.OnPersonUnassigned:
		return holds(more(to("assignees"), from("assignees")), value(w.UserID))
	case board.OnDueSet: // a start alone is not a due date
		return to("dueDate") != nil || to("dueAt") != nil
	case board.OnDueCleared:
		return from("dueDate") != nil && to("dueDate") == nil
	}
	return true
}

// more returns the ids that are in after but not in before.
func more(before, after any) []any {
	old, _ := before.([]any)
	all, _ := after.([]any)
	return slices.DeleteFunc(slices.Clone(all), func(id any) bool { return slices.Contains(old, id) })
}

// holds reports whether ids contains id; "" matches any.
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
