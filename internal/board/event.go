package board

// Kind names a kind of event. The dotted names without a webhook kind of
// their own (list.updated, label.created …) appear in the activity of a board.
type Kind string

// The kinds of events that a webhook can be subscribed to.
const (
	KindCardCreated          Kind = "card.created"
	KindCardUpdated          Kind = "card.updated"
	KindCardMoved            Kind = "card.moved"
	KindCardCompleted        Kind = "card.completed"
	KindCardReopened         Kind = "card.reopened"
	KindCardArchived         Kind = "card.archived"
	KindCardRestored         Kind = "card.restored"
	KindCardAssigneesChanged Kind = "card.assignees_changed"
	KindCardLabelsChanged    Kind = "card.labels_changed"
	KindCardDueDateChanged   Kind = "card.due_date_changed"
	KindCommentAdded         Kind = "comment.added"
	KindItemCompleted        Kind = "checklist_item.completed"
	KindListCreated          Kind = "list.created"
	KindListArchived         Kind = "list.archived"
	KindStatusPosted         Kind = "status.posted"
	KindWebhookTest          Kind = "webhook.test"
)

// Event is one change of a board: it takes one boardVersion, becomes one entry
// of the board's activity and, when Data is set, leaves through webhooks.
type Event struct {
	Kind    Kind
	ListID  string
	CardID  string
	Changes Changes // field by field, for the activity; may hold text, but none of comments
	Data    any     // what a webhook carries: identifiers, dates and plain facts only; nil where no webhook kind stands for the change
	Text    string  // what a comment says, to find who is mentioned; stored nowhere
	Before  string  // what it said before it was edited
	Copied  bool    // what is new was written before, elsewhere: who is mentioned in it is not told again
}

// Changes says of each field what it was and what it is.
type Changes map[string]FromTo

// FromTo is one field's change. What was not there is null.
type FromTo struct {
	From any `json:"from" doc:"The previous value; null for none."`
	To   any `json:"to" doc:"The new value; null for none."`
}

// Set notes a change of a field when there is one.
func Set[T comparable](c Changes, field string, from, to T) {
	if from != to {
		c[field] = FromTo{From: from, To: to}
	}
}

// Entry is a change as the activity of a board tells it.
type Entry struct {
	ID           string  `json:"id" doc:"The entry's id." example:"act_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Type         Kind    `json:"type" doc:"The kind of change: the webhook event kinds and further ones, such as list.updated or label.created." example:"card.moved"`
	At           Instant `json:"at" format:"date-time" doc:"When it happened." example:"2026-03-02T09:00:00.000Z"`
	Actor        Actor   `json:"actor" doc:"The actor that caused it."`
	BoardID      string  `json:"boardId" doc:"The board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListID       *string `json:"listId" doc:"The list concerned, if any." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardID       *string `json:"cardId" doc:"The card concerned, if any." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Changes      Changes `json:"changes" doc:"The previous and new value of each changed field. position holds the open sibling that the object was placed after. For a comment it holds the id, never the text."`
	BoardVersion int64   `json:"boardVersion" doc:"The boardVersion after this change." example:"42"`

	Client *string `json:"-"` // the tab of a browser that caused it, for the live stream alone
}

// CardRef is what most events say: which card, in which list.
type CardRef struct {
	CardID string `json:"cardId" doc:"The card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListID string `json:"listId" doc:"The list it is in." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

func cardEvent(k Kind, c Card, changes Changes, data any) Event {
	return Event{Kind: k, ListID: c.ListID, CardID: c.ID, Changes: changes, Data: data}
}

// Place says where a thing stands for who replays the changes: behind an open
// neighbour, or at the top.
func Place(after string) Position {
	if after == "" {
		return Top()
	}
	return After(after)
}

// CardCreated: a card came to be. Its changes hold all that it was born with.
func CardCreated(c Card, after string) Event {
	return cardEvent(KindCardCreated, c, born(c, after), CardRef{c.ID, c.ListID})
}

func born(c Card, after string) Changes {
	ch := Changes{"title": {nil, c.Title}, "number": {nil, c.Number}, "listId": {nil, c.ListID}, "position": {nil, Place(after)}}
	if c.Description != nil && *c.Description != "" {
		ch["description"] = FromTo{nil, *c.Description}
	}
	if len(c.Labels) > 0 {
		ch["labels"] = FromTo{nil, labelIDs(c.Labels)}
	}
	if len(c.Assignees) > 0 {
		ch["assignees"] = FromTo{nil, userIDs(c.Assignees)}
	}
	dueChanges(ch, Due{}, c.Due)
	return ch
}

// CardUpdated: the title or the description changed.
func CardUpdated(c Card, changes Changes) Event {
	changed := []string{}
	for _, f := range []string{"title", "description"} {
		if _, ok := changes[f]; ok {
			changed = append(changed, f)
		}
	}
	return cardEvent(KindCardUpdated, c, changes, struct {
		CardRef
		Changed []string `json:"changed" doc:"The changed fields: title, description or both." example:"[\"title\"]"`
	}{CardRef{c.ID, c.ListID}, changed})
}

// CardMoved: the card stands in another list.
func CardMoved(c Card, fromList, after string) Event {
	return cardEvent(KindCardMoved, c, Changes{"listId": {fromList, c.ListID}, "position": {nil, Place(after)}}, struct {
		CardRef
		PreviousListID string `json:"previousListId" doc:"The list it was in." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	}{CardRef{c.ID, c.ListID}, fromList})
}

// CardReordered: the card has another place in its list. No webhook hears of it.
func CardReordered(c Card, after string) Event {
	return cardEvent("card.reordered", c, Changes{"position": {nil, Place(after)}}, nil)
}

// CardCompleted and CardReopened: the work is done, or is not after all.
func CardCompleted(c Card) Event {
	return cardEvent(KindCardCompleted, c, Changes{"done": {false, true}}, CardRef{c.ID, c.ListID})
}

// CardReopened is the opposite of CardCompleted.
func CardReopened(c Card) Event {
	return cardEvent(KindCardReopened, c, Changes{"done": {true, false}}, CardRef{c.ID, c.ListID})
}

// CardArchived: the card left the board's sight.
func CardArchived(c Card) Event {
	return cardEvent(KindCardArchived, c, Changes{"archivedAt": {nil, c.ArchivedAt}}, CardRef{c.ID, c.ListID})
}

// CardRestored: the card is back, behind an open neighbour.
func CardRestored(c Card, archivedAt *Instant, after string) Event {
	return cardEvent(KindCardRestored, c, Changes{"archivedAt": {archivedAt, nil}, "position": {nil, Place(after)}}, CardRef{c.ID, c.ListID})
}

// CardAssigneesChanged: people were added to or removed from the card.
func CardAssigneesChanged(c Card, before []UserRef, added, removed []string) Event {
	return cardEvent(KindCardAssigneesChanged, c, Changes{"assignees": {userIDs(before), userIDs(c.Assignees)}}, addedRemoved{CardRef{c.ID, c.ListID}, added, removed})
}

// CardLabelsChanged: labels were put on or taken off the card.
func CardLabelsChanged(c Card, before []LabelRef, added, removed []string) Event {
	return cardEvent(KindCardLabelsChanged, c, Changes{"labels": {labelIDs(before), labelIDs(c.Labels)}}, addedRemoved{CardRef{c.ID, c.ListID}, added, removed})
}

type addedRemoved struct {
	CardRef
	Added   []string `json:"added" doc:"The ids that were added." example:"[\"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Removed []string `json:"removed" doc:"The ids that were removed." example:"[]"`
}

// CardDueDateChanged: the card has another due date or start, or none.
func CardDueDateChanged(c Card, before Due) Event {
	ch := Changes{}
	dueChanges(ch, before, c.Due)
	return cardEvent(KindCardDueDateChanged, c, ch, struct {
		CardID          string   `json:"cardId" doc:"The card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
		DueDate         *string  `json:"dueDate" format:"date" doc:"The due date; null for none." example:"2026-03-10"`
		PreviousDueDate *string  `json:"previousDueDate" format:"date" doc:"The previous due date." example:"2026-03-07"`
		DueAt           *Instant `json:"dueAt" format:"date-time" doc:"The due time; null if the card is due all day." example:"2026-03-10T16:00:00.000Z"`
		PreviousDueAt   *Instant `json:"previousDueAt" format:"date-time" doc:"The previous due time." example:"2026-03-07T16:00:00.000Z"`
		StartDate       *string  `json:"startDate" format:"date" doc:"The start date; null for none." example:"2026-03-09"`
		StartAt         *Instant `json:"startAt" format:"date-time" doc:"The start time; null if the work starts all day." example:"2026-03-09T08:00:00.000Z"`
	}{c.ID, c.DueDate, before.DueDate, c.DueAt, before.DueAt, c.StartDate, c.StartAt})
}

func dueChanges(ch Changes, from, to Due) {
	SetPtr(ch, "dueDate", from.DueDate, to.DueDate)
	SetPtr(ch, "dueAt", from.DueAt, to.DueAt)
	SetPtr(ch, "startDate", from.StartDate, to.StartDate)
	SetPtr(ch, "startAt", from.StartAt, to.StartAt)
	SetPtr(ch, "timeZone", from.TimeZone, to.TimeZone)
}

// SetPtr notes a change of a field that may be absent when there is one.
func SetPtr[T comparable](c Changes, field string, from, to *T) {
	if !same(from, to) {
		c[field] = FromTo{from, to}
	}
}

// CommentAdded: somebody said something on a card. No event of a comment keeps
// what it says: the activity outlives the comment.
func CommentAdded(c Card, m Comment) Event {
	e := cardEvent(KindCommentAdded, c, Changes{"commentId": {nil, m.ID}}, struct {
		CardID    string `json:"cardId" doc:"The card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
		CommentID string `json:"commentId" doc:"The comment." example:"cmt_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	}{c.ID, m.ID})
	e.Text = m.Text
	return e
}

// CommentEdited and CommentDeleted are told in the activity alone.
func CommentEdited(c Card, m Comment, before string) Event {
	e := cardEvent("comment.edited", c, Changes{"commentId": {m.ID, m.ID}}, nil)
	e.Text, e.Before = m.Text, before
	return e
}

// CommentDeleted: a comment is gone.
func CommentDeleted(c Card, m Comment) Event {
	return cardEvent("comment.deleted", c, Changes{"commentId": {m.ID, nil}}, nil)
}

// ChecklistAdded: a card has another checklist, with its items.
func ChecklistAdded(c Card, l Checklist) Event {
	items := make([]map[string]any, len(l.Items))
	for i, it := range l.Items {
		items[i] = map[string]any{"id": it.ID, "title": it.Title}
	}
	return cardEvent("checklist.added", c, Changes{"checklistId": {nil, l.ID}, "title": {nil, l.Title}, "items": {nil, items}}, nil)
}

// ChecklistUpdated: another title.
func ChecklistUpdated(c Card, l Checklist, changes Changes) Event {
	changes["checklistId"] = FromTo{l.ID, l.ID}
	return cardEvent("checklist.updated", c, changes, nil)
}

// ChecklistDeleted: the checklist is gone with its items.
func ChecklistDeleted(c Card, l Checklist) Event {
	return cardEvent("checklist.deleted", c, Changes{"checklistId": {l.ID, nil}, "title": {l.Title, nil}}, nil)
}

// ItemAdded: a checklist has another item, behind a neighbour.
func ItemAdded(c Card, it ChecklistItem, after string) Event {
	return cardEvent("checklist_item.added", c, Changes{"checklistId": {nil, it.ChecklistID}, "itemId": {nil, it.ID}, "title": {nil, it.Title}, "position": {nil, Place(after)}}, nil)
}

// ItemUpdated: another title or place, or the item is not done after all.
func ItemUpdated(c Card, it ChecklistItem, kind Kind, changes Changes) Event {
	changes["itemId"] = FromTo{it.ID, it.ID}
	changes["checklistId"] = FromTo{it.ChecklistID, it.ChecklistID}
	return cardEvent(kind, c, changes, nil)
}

// ItemCompleted: an item is done.
func ItemCompleted(c Card, it ChecklistItem) Event {
	return cardEvent(KindItemCompleted, c, Changes{"checklistId": {it.ChecklistID, it.ChecklistID}, "itemId": {it.ID, it.ID}, "done": {false, true}}, struct {
		CardID      string `json:"cardId" doc:"The card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
		ChecklistID string `json:"checklistId" doc:"The checklist." example:"chk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
		ItemID      string `json:"itemId" doc:"Its item." example:"chi_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	}{c.ID, it.ChecklistID, it.ID})
}

// ItemDeleted: an item is gone.
func ItemDeleted(c Card, it ChecklistItem) Event {
	return cardEvent("checklist_item.deleted", c, Changes{"checklistId": {it.ChecklistID, it.ChecklistID}, "itemId": {it.ID, nil}, "title": {it.Title, nil}}, nil)
}

// ListRef is what list events say.
type ListRef struct {
	ListID string `json:"listId" doc:"The list." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// ListCreated: the board has another list, behind an open neighbour.
func ListCreated(l List, after string) Event {
	return Event{Kind: KindListCreated, ListID: l.ID, Data: ListRef{l.ID}, Changes: Changes{
		"name": {nil, l.Name}, "wipLimit": {nil, l.WIPLimit}, "wipMode": {nil, l.WIPMode}, "position": {nil, Place(after)}}}
}

// ListUpdated: another name or WIP limit.
func ListUpdated(l List, changes Changes) Event {
	return Event{Kind: "list.updated", ListID: l.ID, Changes: changes}
}

// ListMoved: another place on the board.
func ListMoved(l List, after string) Event {
	return Event{Kind: "list.moved", ListID: l.ID, Changes: Changes{"position": {nil, Place(after)}}}
}

// ListArchived: the list left the board's sight with its cards.
func ListArchived(l List) Event {
	return Event{Kind: KindListArchived, ListID: l.ID, Data: ListRef{l.ID}, Changes: Changes{"archivedAt": {nil, l.ArchivedAt}}}
}

// ListRestored: the list is back, behind an open neighbour.
func ListRestored(l List, archivedAt *Instant, after string) Event {
	return Event{Kind: "list.restored", ListID: l.ID, Changes: Changes{"archivedAt": {archivedAt, nil}, "position": {nil, Place(after)}}}
}

// LabelCreated, LabelUpdated and LabelDeleted are told in the activity alone.
func LabelCreated(l Label) Event {
	return Event{Kind: "label.created", Changes: Changes{"labelId": {nil, l.ID}, "name": {nil, l.Name}, "color": {nil, l.Color}}}
}

// LabelUpdated: another name or colour.
func LabelUpdated(l Label, changes Changes) Event {
	changes["labelId"] = FromTo{l.ID, l.ID}
	return Event{Kind: "label.updated", Changes: changes}
}

// LabelDeleted: the label is gone from the board and from its cards.
func LabelDeleted(l Label) Event {
	return Event{Kind: "label.deleted", Changes: Changes{"labelId": {l.ID, nil}, "name": {l.Name, nil}, "color": {l.Color, nil}}}
}

// StatusPosted: somebody said how the board is doing.
func StatusPosted(u StatusUpdate) Event {
	return Event{Kind: KindStatusPosted, Changes: Changes{"statusUpdateId": {nil, u.ID}, "status": {nil, u.Status}, "title": {nil, u.Title}}, Data: struct {
		StatusUpdateID string `json:"statusUpdateId" doc:"The status update." example:"sts_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	}{u.ID}}
}

// BoardEvent is a change of the board itself: board.created, board.updated,
// board.archived, board.restored, board.trashed, board.imported and the
// board_member.* kinds.
func BoardEvent(k Kind, changes Changes) Event { return Event{Kind: k, Changes: changes} }

func labelIDs(ls []LabelRef) []string {
	out := make([]string, len(ls))
	for i, l := range ls {
		out[i] = l.ID
	}
	return out
}

func userIDs(us []UserRef) []string {
	out := make([]string, len(us))
	for i, u := range us {
		out[i] = u.ID
	}
	return out
}
