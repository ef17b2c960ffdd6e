package undo

import (
	"maps"
	"slices"
	"strings"

	"cardwall/internal/board"
)

// slot is what a change can change independently of others: a field of an object, one
// element of a field that is a set, or whether the object exists (the field "").
type slot struct{ object, field string }

// existence are the kinds of changes that create or remove an object.
var existence = []board.Kind{
	board.KindCardCreated, board.KindCommentAdded, board.KindCommentDeleted, board.KindChecklistAdded, board.KindChecklistDeleted,
	board.KindItemAdded, board.KindItemDeleted, board.KindAttachmentAdded, board.KindAttachmentRemoved, board.KindListCreated,
	board.KindListMovedAway, board.KindListMovedIn, board.KindLabelCreated, board.KindLabelDeleted, board.KindBoardCreated,
	board.KindStatusPosted,
}

// creation are the kinds of changes that create an object.
var creation = []board.Kind{
	board.KindCardCreated, board.KindCommentAdded, board.KindChecklistAdded, board.KindItemAdded, board.KindAttachmentAdded,
	board.KindListCreated, board.KindLabelCreated, board.KindBoardCreated,
}

// isCreation reports whether an entry is about an object that it created.
func isCreation(e board.Entry) bool { return slices.Contains(creation, e.Type) }

// idFields are the fields of changes that identify the object of an entry, by the first word
// of its kind.
var idFields = map[string]string{
	"comment": "commentId", "checklist": "checklistId", "checklist_item": "itemId", "attachment": "attachmentId", "label": "labelId",
	"status": "statusUpdateId",
}

// objectOf returns the id of the object that an entry is about.
func objectOf(e board.Entry) string {
	noun, _, _ := strings.Cut(string(e.Type), ".")
	switch {
	case noun == "card" && e.CardID != nil:
		return *e.CardID
	case noun == "list" && e.ListID != nil:
		return *e.ListID
	case idFields[noun] != "":
		return changedID(e.Changes[idFields[noun]])
	}
	return e.BoardID
}

// changedID returns the id in a change. Of a removed object, only the old value has it.
func changedID(c board.FromTo) string {
	if id, ok := c.To.(string); ok {
		return id
	}
	id, _ := c.From.(string)
	return id
}

// isBetweenBoards reports whether a card moved to another board or came from one.
func isBetweenBoards(e board.Entry) bool {
	list, ok := e.Changes["listId"]
	return e.Type == board.KindCardMoved && ok && (list.From == nil || list.To == nil)
}

// slotsOf returns what an entry changed.
func slotsOf(e board.Entry) []slot {
	object := objectOf(e)
	if slices.Contains(existence, e.Type) || isBetweenBoards(e) {
		return []slot{{object, ""}}
	}
	var out []slot
	for _, field := range slices.Sorted(maps.Keys(e.Changes)) {
		change := e.Changes[field]
		switch field {
		case undoes, "guestName", idFields["comment"], idFields["checklist"], idFields["checklist_item"], idFields["attachment"],
			idFields["label"]:
			continue
		case "labels", "assignees":
			added, removed := difference(change)
			for _, id := range slices.Concat(added, removed) {
				out = append(out, slot{object, field + "/" + id})
			}
			continue
		case "dueDate", "dueAt", "startDate", "startAt", "timeZone":
			field = "due"
		case "position":
			if e.Type == board.KindCardRestored || e.Type == board.KindListRestored {
				continue // the card or list returned to its own position
			}
			field = "place"
		case "listId":
			field = "place"
		}
		if s := (slot{object, field}); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if len(out) == 0 { // such as an edited comment, whose text is not recorded
		out = append(out, slot{object, "text"})
	}
	return out
}

// difference returns the ids that a change added to a set and removed from it.
func difference(c board.FromTo) (added, removed []string) {
	from, to := idsOf(c.From), idsOf(c.To)
	without := func(ids, others []string) (out []string) {
		for _, id := range ids {
			if !slices.Contains(others, id) {
				out = append(out, id)
			}
		}
		return out
	}
	return without(to, from), without(from, to)
}

func idsOf(v any) (out []string) {
	all, _ := v.([]any)
	for _, v := range all {
		if id, ok := v.(string); ok {
			out = append(out, id)
		}
	}
	return out
}

// mentionsOf returns the ids of all objects that an entry is about or refers to.
func mentionsOf(e board.Entry) []string {
	out := []string{objectOf(e)}
	for _, id := range []*string{e.CardID, e.ListID} {
		if id != nil {
			out = append(out, *id)
		}
	}
	for field, change := range e.Changes {
		switch {
		case field == "labels":
			added, removed := difference(change)
			out = slices.Concat(out, added, removed)
		case strings.HasSuffix(field, "Id"):
			for _, v := range []any{change.From, change.To} {
				if id, ok := v.(string); ok {
					out = append(out, id)
				}
			}
		}
	}
	return out
}

// undoes is the field of a change that contains the version of the entry that it takes back.
const undoes = "undoes"

// undoneBy returns the version of the entry that an entry takes back, or 0.
func undoneBy(e board.Entry) int64 {
	v, _ := e.Changes[undoes].To.(float64)
	return int64(v)
}
