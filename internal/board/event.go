package board

// Event is one change to a board. It increments the boardVersion and becomes
// one entry of the board's activity. If Data is set, it is also sent through
// webhooks.
type Event struct {
	Kind    Kind
	ListID  string
	CardID  string
	Changes Changes // changed fields for the activity; may hold text, but never the text of comments
	Data    any     // webhook payload: identifiers, dates and other simple values; nil if not sent to webhooks
	Text    string  // text of a comment, used to find mentions; not stored
	Before  string  // text of a comment before it was edited
	Copied  bool    // the content was copied; people mentioned in it are not notified again
}

// Changes maps each changed field to its old and new value.
type Changes map[string]FromTo

// FromTo is the change to one field. An absent value is null.
type FromTo struct {
	From any `json:"from" doc:"The previous value; null if there was none."`
	To   any `json:"to" doc:"The new value; null if there is none."`
}

// Set records the change to a field if from and to differ.
func Set[T comparable](c Changes, field string, from, to T) {
	if from != to {
		c[field] = FromTo{From: from, To: to}
	}
}

// EntryActor is the actor of a change, and the program that made the change for it.
type EntryActor struct {
	Actor
	Client *string `json:"client" doc:"The name of the connected app or the API token that was used; null if none was used, as in the web application." example:"Claude"`
}

// Entry is a change as it appears in the activity of a board.
type Entry struct {
	ID           string     `json:"id" doc:"The entry's id." example:"act_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Type         Kind       `json:"type" doc:"The kind of change." kinds:"activity" example:"card.moved"`
	At           Instant    `json:"at" format:"date-time" doc:"When the change happened." example:"2026-03-02T09:00:00.000Z"`
	Actor        EntryActor `json:"actor" doc:"The actor that caused the change."`
	BoardID      string     `json:"boardId" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListID       *string    `json:"listId" doc:"The id of the affected list; null if there is none." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardID       *string    `json:"cardId" doc:"The id of the affected card; null if there is none." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Changes      Changes    `json:"changes" doc:"The previous and new values of each changed field. position is \"top\", or {\"after\": id} with the id of the open sibling that precedes the object. For a comment, the changes contain its id, never its text. If the change takes back an earlier one, undoes contains the boardVersion of that one."`
	BoardVersion int64      `json:"boardVersion" doc:"The boardVersion after this change." example:"42"`

	Client *string `json:"-"` // the browser tab that caused it; only for the live stream
}

// CardRef identifies a card and its list in most events.
type CardRef struct {
	CardID string `json:"cardId" doc:"The id of the card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListID string `json:"listId" doc:"The id of the list that the card is in." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

func cardEvent(k Kind, c Card, changes Changes, data any) Event {
	return Event{Kind: k, ListID: c.ListID, CardID: c.ID, Changes: changes, Data: data}
}

// PositionAfter returns the position for clients that replay changes: after an open
// sibling, or at the top if after is "".
func PositionAfter(after string) Position {
	if after == "" {
		return Top()
	}
	return After(after)
}

// CardCreated is the event of a new card. Its changes hold all initial values.
func CardCreated(c Card, after string) Event {
	return cardEvent(KindCardCreated, c, creationChanges(c, after), CardRef{c.ID, c.ListID})
}

func creationChanges(c Card, after string) Changes {
	ch := Changes{"title": {nil, c.Title}, "number": {nil, c.Number}, "listId": {nil, c.ListID}, "position": {nil, PositionAfter(after)}}
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

// CardUpdated is the event of a changed title or description.
func CardUpdated(c Card, changes Changes) Event {
	changed := []string{}
	for _, f := range []string{"title", "description"} {
		if _, ok := changes[f]; ok {
			changed = append(changed, f)
		}
	}
	return cardEvent(KindCardUpdated, c, changes, struct {
		CardRef
		Changed []string `json:"changed" doc:"The fields that changed: title, description or both." example:"[\"title\"]"`
	}{CardRef{c.ID, c.ListID}, changed})
}

// CardMoved is the event of a card that moved to another list. From and to are the open
// cards before it.
func CardMoved(c Card, fromList, from, to string) Event {
	return cardEvent(KindCardMoved, c, Changes{"listId": {fromList, c.ListID}, "position": moved(from, to)}, struct {
		CardRef
		PreviousListID string `json:"previousListId" doc:"The id of the list that the card was in." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	}{CardRef{c.ID, c.ListID}, fromList})
}

// CardReordered is the event of a card that moved within its list. It is not
// sent to webhooks.
func CardReordered(c Card, from, to string) Event {
	return cardEvent(KindCardReordered, c, Changes{"position": moved(from, to)}, nil)
}

// moved returns the change of a position from after one open sibling to after another.
func moved(from, to string) FromTo { return FromTo{PositionAfter(from), PositionAfter(to)} }

// CardCompleted is the event of a card that was marked as done.
func CardCompleted(c Card) Event {
	return cardEvent(KindCardCompleted, c, Changes{"done": {false, true}}, CardRef{c.ID, c.ListID})
}

// CardReopened is the event of a card that was marked as not done.
func CardReopened(c Card) Event {
	return cardEvent(KindCardReopened, c, Changes{"done": {true, false}}, CardRef{c.ID, c.ListID})
}

// CardArchived is the event of an archived card.
func CardArchived(c Card) Event {
	return cardEvent(KindCardArchived, c, Changes{"archivedAt": {nil, c.ArchivedAt}}, CardRef{c.ID, c.ListID})
}

// CardRestored is the event of a restored card, placed after an open sibling.
func CardRestored(c Card, archivedAt *Instant, after string) Event {
	changes := Changes{"archivedAt": {archivedAt, nil}, "position": {nil, PositionAfter(after)}}
	return cardEvent(KindCardRestored, c, changes, CardRef{c.ID, c.ListID})
}

// CardDeleted is the event of a card that was moved to the trash. It appears only in the
// activity.
func CardDeleted(c Card, at Instant) Event {
	return cardEvent(KindCardDeleted, c, Changes{"trashedAt": {nil, at}}, nil)
}

// CardAssigneesChanged is the event of people assigned to or unassigned from a
// card.
func CardAssigneesChanged(c Card, before []UserRef, added, removed []string) Event {
	return cardEvent(KindCardAssigneesChanged, c, Changes{"assignees": {userIDs(before), userIDs(c.Assignees)}},
		addedRemoved{CardRef{c.ID, c.ListID}, added, removed})
}

// CardLabelsChanged is the event of labels added to or removed from a card.
func CardLabelsChanged(c Card, before []LabelRef, added, removed []string) Event {
	return cardEvent(KindCardLabelsChanged, c, Changes{"labels": {labelIDs(before), labelIDs(c.Labels)}},
		addedRemoved{CardRef{c.ID, c.ListID}, added, removed})
}

type addedRemoved struct {
	CardRef
	Added   []string `json:"added" doc:"The ids that were added." example:"[\"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Removed []string `json:"removed" doc:"The ids that were removed." example:"[]"`
}

// CardDueDateChanged is the event of a changed or cleared due date or start.
func CardDueDateChanged(c Card, before Due) Event {
	ch := Changes{}
	dueChanges(ch, before, c.Due)
	return cardEvent(KindCardDueDateChanged, c, ch, struct {
		CardID          string   `json:"cardId" doc:"The id of the card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
		DueDate         *string  `json:"dueDate" format:"date" doc:"The due date; null if there is none." example:"2026-03-10"`
		PreviousDueDate *string  `json:"previousDueDate" format:"date" doc:"The previous due date; null if there was none." example:"2026-03-07"`
		DueAt           *Instant `json:"dueAt" format:"date-time" doc:"The due time; null if no time of day was given." example:"2026-03-10T16:00:00.000Z"`
		PreviousDueAt   *Instant `json:"previousDueAt" format:"date-time" doc:"The previous due time; null if there was none." example:"2026-03-07T16:00:00.000Z"`
		StartDate       *string  `json:"startDate" format:"date" doc:"The start date; null if there is none." example:"2026-03-09"`
		StartAt         *Instant `json:"startAt" format:"date-time" doc:"The start time; null if no time of day was given." example:"2026-03-09T08:00:00.000Z"`
	}{c.ID, c.DueDate, before.DueDate, c.DueAt, before.DueAt, c.StartDate, c.StartAt})
}

func dueChanges(ch Changes, from, to Due) {
	SetPtr(ch, "dueDate", from.DueDate, to.DueDate)
	SetPtr(ch, "dueAt", from.DueAt, to.DueAt)
	SetPtr(ch, "startDate", from.StartDate, to.StartDate)
	SetPtr(ch, "startAt", from.StartAt, to.StartAt)
	SetPtr(ch, "timeZone", from.TimeZone, to.TimeZone)
}

// SetPtr records the change to an optional field if from and to differ.
func SetPtr[T comparable](c Changes, field string, from, to *T) {
	if !same(from, to) {
		c[field] = FromTo{from, to}
	}
}

// CommentAdded is the event of a new comment. Stored events never hold the text
// of a comment, because the activity outlives the comment.
func CommentAdded(c Card, m Comment) Event {
	e := cardEvent(KindCommentAdded, c, Changes{"commentId": {nil, m.ID}}, struct {
		CardID    string `json:"cardId" doc:"The id of the card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
		CommentID string `json:"commentId" doc:"The id of the comment." example:"cmt_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	}{c.ID, m.ID})
	e.Text = m.Text
	return e
}

// CommentEdited is the event of an edited comment. It appears only in the
// activity.
func CommentEdited(c Card, m Comment, before string) Event {
	e := cardEvent(KindCommentEdited, c, Changes{"commentId": {m.ID, m.ID}}, nil)
	e.Text, e.Before = m.Text, before
	return e
}

// CommentDeleted is the event of a deleted comment. It appears only in the
// activity.
func CommentDeleted(c Card, m Comment) Event {
	return cardEvent(KindCommentDeleted, c, Changes{"commentId": {m.ID, nil}}, nil)
}

// checklistItems returns the items of a checklist as they appear in changes.
func checklistItems(l Checklist) []map[string]any {
	items := make([]map[string]any, len(l.Items))
	for i, it := range l.Items {
		items[i] = map[string]any{"id": it.ID, "title": it.Title}
		if it.Done {
			items[i]["done"] = true
		}
	}
	return items
}

// ChecklistAdded is the event of a new checklist with its items.
func ChecklistAdded(c Card, l Checklist) Event {
	return cardEvent(KindChecklistAdded, c, Changes{"checklistId": {nil, l.ID}, "title": {nil, l.Title},
		"items": {nil, checklistItems(l)}}, nil)
}

// ChecklistUpdated is the event of a changed checklist title.
func ChecklistUpdated(c Card, l Checklist, changes Changes) Event {
	changes["checklistId"] = FromTo{l.ID, l.ID}
	return cardEvent(KindChecklistUpdated, c, changes, nil)
}

// ChecklistDeleted is the event of a deleted checklist with its items.
func ChecklistDeleted(c Card, l Checklist) Event {
	return cardEvent(KindChecklistDeleted, c, Changes{"checklistId": {l.ID, nil}, "title": {l.Title, nil},
		"items": {checklistItems(l), nil}}, nil)
}

// ItemAdded is the event of a new checklist item, placed after a sibling.
func ItemAdded(c Card, it ChecklistItem, after string) Event {
	return cardEvent(KindItemAdded, c, Changes{"checklistId": {nil, it.ChecklistID}, "itemId": {nil, it.ID},
		"title": {nil, it.Title}, "position": {nil, PositionAfter(after)}}, nil)
}

// ItemUpdated is the event of an item whose title or position changed, or that
// was marked as not done.
func ItemUpdated(c Card, it ChecklistItem, kind Kind, changes Changes) Event {
	changes["itemId"] = FromTo{it.ID, it.ID}
	changes["checklistId"] = FromTo{it.ChecklistID, it.ChecklistID}
	return cardEvent(kind, c, changes, nil)
}

// ItemCompleted is the event of an item that was marked as done.
func ItemCompleted(c Card, it ChecklistItem) Event {
	return cardEvent(KindItemCompleted, c, Changes{"checklistId": {it.ChecklistID, it.ChecklistID}, "itemId": {it.ID, it.ID},
		"done": {false, true}}, struct {
		CardID      string `json:"cardId" doc:"The id of the card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
		ChecklistID string `json:"checklistId" doc:"The id of the checklist." example:"chk_01jb2m3n4p5q6r7s8t9v0w1x2y"`
		ItemID      string `json:"itemId" doc:"The id of the item." example:"chi_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	}{c.ID, it.ChecklistID, it.ID})
}

// ItemDeleted is the event of a deleted item, which was after a sibling. It has no position,
// which would be one to move to.
func ItemDeleted(c Card, it ChecklistItem, after string) Event {
	ch := Changes{"checklistId": {it.ChecklistID, it.ChecklistID}, "itemId": {it.ID, nil}, "title": {it.Title, nil}, "after": {nil, nil}}
	if after != "" {
		ch["after"] = FromTo{after, nil}
	}
	if it.Done {
		ch["done"] = FromTo{true, nil}
	}
	return cardEvent(KindItemDeleted, c, ch, nil)
}

// ListRef identifies a list in events.
type ListRef struct {
	ListID string `json:"listId" doc:"The id of the list." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// AttachmentAdded is the event of a new or restored attachment. It appears only in the
// activity.
func AttachmentAdded(c Card, a Attachment) Event {
	return cardEvent(KindAttachmentAdded, c, Changes{"attachmentId": {nil, a.ID}, "name": {nil, a.Name}}, nil)
}

// AttachmentRenamed is the event of an attachment with a new name. It appears only in the
// activity.
func AttachmentRenamed(c Card, a Attachment, before string) Event {
	return cardEvent(KindAttachmentRenamed, c, Changes{"attachmentId": {a.ID, a.ID}, "name": {before, a.Name}}, nil)
}

// AttachmentRemoved is the event of a removed attachment. It appears only in the
// activity.
func AttachmentRemoved(c Card, a Attachment) Event {
	return cardEvent(KindAttachmentRemoved, c, Changes{"attachmentId": {a.ID, nil}, "name": {a.Name, nil}}, nil)
}

// CardCoverChanged is the event of a card whose tile shows another picture, or none. It
// appears only in the activity.
func CardCoverChanged(c Card, before *Cover) Event {
	ch := Changes{}
	SetPtr(ch, "coverId", before.id(), c.Cover.id())
	return cardEvent(KindCardCoverChanged, c, ch, nil)
}

// ListCreated is the event of a new list, placed after an open sibling.
func ListCreated(l List, after string) Event {
	return Event{Kind: KindListCreated, ListID: l.ID, Data: ListRef{l.ID}, Changes: Changes{
		"name": {nil, l.Name}, "wipLimit": {nil, l.WIPLimit}, "wipMode": {nil, l.WIPMode}, "position": {nil, PositionAfter(after)}}}
}

// ListUpdated is the event of a changed name or WIP limit.
func ListUpdated(l List, changes Changes) Event {
	return Event{Kind: KindListUpdated, ListID: l.ID, Changes: changes}
}

// ListMoved is the event of a list that moved on its board.
func ListMoved(l List, from, to string) Event {
	return Event{Kind: KindListMoved, ListID: l.ID, Changes: Changes{"position": moved(from, to)}}
}

// ListArchived is the event of a list that was archived with its cards.
func ListArchived(l List) Event {
	return Event{Kind: KindListArchived, ListID: l.ID, Data: ListRef{l.ID}, Changes: Changes{"archivedAt": {nil, l.ArchivedAt}}}
}

// ListRestored is the event of a restored list, placed after an open sibling.
func ListRestored(l List, archivedAt *Instant, after string) Event {
	changes := Changes{"archivedAt": {archivedAt, nil}, "position": {nil, PositionAfter(after)}}
	return Event{Kind: KindListRestored, ListID: l.ID, Changes: changes}
}

// ListDeleted is the event of a list that was moved to the trash with its cards. It appears
// only in the activity.
func ListDeleted(l List, at Instant) Event {
	return Event{Kind: KindListDeleted, ListID: l.ID, Changes: Changes{"trashedAt": {nil, at}}}
}

// LabelCreated is the event of a new label. It appears only in the activity.
func LabelCreated(l Label) Event {
	return Event{Kind: KindLabelCreated, Changes: Changes{"labelId": {nil, l.ID}, "name": {nil, l.Name}, "color": {nil, l.Color}}}
}

// LabelUpdated is the event of a changed label name or color. It appears only
// in the activity.
func LabelUpdated(l Label, changes Changes) Event {
	changes["labelId"] = FromTo{l.ID, l.ID}
	return Event{Kind: KindLabelUpdated, Changes: changes}
}

// LabelDeleted is the event of a label removed from the board and its cards. It
// appears only in the activity.
func LabelDeleted(l Label) Event {
	return Event{Kind: KindLabelDeleted, Changes: Changes{"labelId": {l.ID, nil}, "name": {l.Name, nil}, "color": {l.Color, nil}}}
}

// StatusPosted is the event of a new status update.
func StatusPosted(u StatusUpdate) Event {
	return Event{Kind: KindStatusPosted, Changes: Changes{"statusUpdateId": {nil, u.ID}, "status": {nil, u.Status},
		"title": {nil, u.Title}}, Data: struct {
		StatusUpdateID string `json:"statusUpdateId" doc:"The id of the status update." example:"sts_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	}{u.ID}}
}

// BoardEvent is the event of a change to the board itself: board.created,
// board.updated, board.archived, board.restored, board.trashed, board.imported
// and the board_member.* kinds.
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
