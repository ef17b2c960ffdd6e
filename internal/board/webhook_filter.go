package board

import "slices"

// WebhookFilter limits the events that a webhook of a board sends to those of some lists and
// labels. An empty field does not limit them.
type WebhookFilter struct {
	Lists  []string `json:"lists" doc:"The ids of the lists whose events the webhook sends; empty for all. Lists that no longer exist on the board stay here, and match nothing." example:"[\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Labels []string `json:"labels" doc:"The ids of the labels of which a card must have one; empty for all cards. Labels that no longer exist on the board stay here, and match nothing." example:"[\"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
}

// IsZero reports whether the filter lets all events through.
func (f WebhookFilter) IsZero() bool { return len(f.Lists) == 0 && len(f.Labels) == 0 }

// NeedsLabels reports whether Matches depends on the labels of the event's card.
func (f WebhookFilter) NeedsLabels(e Event) bool {
	return len(f.Labels) > 0 && e.CardID != "" && !f.labelsRemoved(e) && !departs(e) && f.matchesList(e)
}

// Matches reports whether the filter lets an event through. Labels are the ids of the labels
// that the event's card has after the change; they are ignored unless NeedsLabels is true.
//
// A card must be in one of the lists, or have been in one before it moved, and must have one
// of the labels, or have had one before its labels changed. A card that moves to another
// board has lost its labels on this one, so only its list counts. Events of a list match if
// it is one of the lists and there are no labels. Other events match only an empty filter.
func (f WebhookFilter) Matches(e Event, labels []string) bool {
	if f.IsZero() {
		return true
	}
	if e.CardID == "" {
		return e.ListID != "" && len(f.Labels) == 0 && f.matchesList(e)
	}
	return f.matchesList(e) && (len(f.Labels) == 0 || departs(e) || f.labelsRemoved(e) || overlap(f.Labels, labels))
}

// matchesList reports whether the event's list is one of the lists, or the list that its card
// was in before it moved.
func (f WebhookFilter) matchesList(e Event) bool {
	if len(f.Lists) == 0 || slices.Contains(f.Lists, e.ListID) {
		return true
	}
	from, _ := e.Changes["listId"].From.(string)
	return e.Kind == KindCardMoved && slices.Contains(f.Lists, from)
}

// labelsRemoved reports whether the card had one of the labels before its labels changed.
func (f WebhookFilter) labelsRemoved(e Event) bool {
	before, _ := e.Changes["labels"].From.([]string)
	return e.Kind == KindCardLabelsChanged && overlap(f.Labels, before)
}

// departs reports whether an event is that of a card that moved to another board.
func departs(e Event) bool { return e.Kind == KindCardMoved && e.Changes["listId"].To == nil }

// overlap reports whether two lists have a common element.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
