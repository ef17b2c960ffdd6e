package board

// Events of cards and lists that were copied, or moved between boards.

// CardCopied is the event of a new card that was copied. It may start with
// checklists, comments and the done state.
func CardCopied(c CardDetail, after string) Event {
	e := cardEvent(KindCardCreated, c.Card, initialChanges(c, after), CardRef{c.ID, c.ListID})
	e.Copied = true
	return e
}

// cardBetween identifies a card that moved between boards. The list on the other
// board is null; the event of that board contains it.
type cardBetween struct {
	CardID         string  `json:"cardId" doc:"The id of the card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListID         *string `json:"listId" doc:"The id of the list that the card is in; null on the board that it left." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	PreviousListID *string `json:"previousListId" doc:"The id of the list that the card was in; null on the board that it moved to." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID        string  `json:"boardId,omitempty" doc:"The id of the other board, if the card moved between boards and that board is not confidential." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// CardMovedAway is the event on the board that a card left. Other is the target
// board, or "" if it is confidential.
func CardMovedAway(cardID, fromList, other string) Event {
	ch := Changes{"listId": {fromList, nil}}
	if other != "" {
		ch["boardId"] = FromTo{nil, other}
	}
	return Event{Kind: KindCardMoved, ListID: fromList, CardID: cardID, Changes: ch, Data: cardBetween{CardID: cardID,
		PreviousListID: &fromList, BoardID: other}}
}

// CardMovedIn is the event on the board that a card moved to, with all its
// contents. Other is the source board, or "" if it is confidential.
func CardMovedIn(c CardDetail, after, other string) Event {
	ch := initialChanges(c, after)
	if other != "" {
		ch["boardId"] = FromTo{other, nil}
	}
	return cardEvent(KindCardMoved, c.Card, ch, cardBetween{CardID: c.ID, ListID: &c.ListID, BoardID: other})
}

// ListMovedAway is the event on the board that a list left. The events of its cards
// precede it. It is not sent to webhooks. Other is the target board, or "" if that
// board is confidential.
func ListMovedAway(listID, other string) Event {
	ch := Changes{"listId": {listID, nil}}
	if other != "" {
		ch["boardId"] = FromTo{nil, other}
	}
	return Event{Kind: KindListMovedAway, ListID: listID, Changes: ch}
}

// ListMovedIn is the event on the board that a list moved to. The events of its cards
// follow it. Other is the source board, or "" if that board is confidential.
func ListMovedIn(l List, after, other string) Event {
	ch := ListCreated(l, after).Changes
	if other != "" {
		ch["boardId"] = FromTo{other, nil}
	}
	return Event{Kind: KindListMovedIn, ListID: l.ID, Changes: ch}
}

// initialChanges returns all values of a card that is new on a board. They include the
// number of comments, but not the comments.
func initialChanges(c CardDetail, after string) Changes {
	ch := creationChanges(c.Card, after)
	if c.Done {
		ch["done"] = FromTo{nil, true}
	}
	SetPtr(ch, "archivedAt", nil, c.ArchivedAt)
	if c.Comments > 0 {
		ch["comments"] = FromTo{nil, c.Comments}
	}
	if len(c.Checklists) == 0 {
		return ch
	}
	lists := make([]map[string]any, len(c.Checklists))
	for i, l := range c.Checklists {
		items := make([]map[string]any, len(l.Items))
		for n, it := range l.Items {
			items[n] = map[string]any{"id": it.ID, "title": it.Title, "done": it.Done}
		}
		lists[i] = map[string]any{"id": l.ID, "title": l.Title, "items": items}
	}
	ch["checklists"] = FromTo{nil, lists}
	return ch
}
