package board

// The events of what comes to a board whole: by a copy, or from another board.

// CardCopied: a card came to be with checklists, comments or done at once.
func CardCopied(c CardDetail, after string) Event {
	e := cardEvent(KindCardCreated, c.Card, bornWhole(c, after), CardRef{c.ID, c.ListID})
	e.Copied = true
	return e
}

// cardBetween is what both boards say of a card that moved from one to the
// other: the list of the other board is null, and so left to that board's event.
type cardBetween struct {
	CardID         string  `json:"cardId" doc:"The card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListID         *string `json:"listId" doc:"The list it is in; null on the board it left." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	PreviousListID *string `json:"previousListId" doc:"The list it was in; null on the board it moved to." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	BoardID        string  `json:"boardId,omitempty" doc:"The other board, if the card moved between boards and that board is not confidential." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// CardMovedAway: the card stood in a list of this board and is on another now.
// Other is that board, "" when it is confidential.
func CardMovedAway(cardID, fromList, other string) Event {
	ch := Changes{"listId": {fromList, nil}}
	if other != "" {
		ch["boardId"] = FromTo{nil, other}
	}
	return Event{Kind: KindCardMoved, ListID: fromList, CardID: cardID, Changes: ch, Data: cardBetween{CardID: cardID, PreviousListID: &fromList, BoardID: other}}
}

// CardMovedIn: the card came from another board, with all that hangs on it.
// Other is that board, "" when it is confidential.
func CardMovedIn(c CardDetail, after, other string) Event {
	ch := bornWhole(c, after)
	if other != "" {
		ch["boardId"] = FromTo{other, nil}
	}
	return cardEvent(KindCardMoved, c.Card, ch, cardBetween{CardID: c.ID, ListID: &c.ListID, BoardID: other})
}

// ListMovedAway: the list is on another board now; each of its cards said so
// before. No webhook kind stands for it. Other is that board, "" when it is
// confidential.
func ListMovedAway(listID, other string) Event {
	ch := Changes{"listId": {listID, nil}}
	if other != "" {
		ch["boardId"] = FromTo{nil, other}
	}
	return Event{Kind: "list.moved_away", ListID: listID, Changes: ch}
}

// ListMovedIn: the list came from another board; each of its cards says so
// behind it.
func ListMovedIn(l List, after, other string) Event {
	ch := ListCreated(l, after).Changes
	if other != "" {
		ch["boardId"] = FromTo{other, nil}
	}
	return Event{Kind: "list.moved_in", ListID: l.ID, Changes: ch}
}

// bornWhole is all that a card brings to a board on which it was not. Of its
// comments that is their number.
func bornWhole(c CardDetail, after string) Changes {
	ch := born(c.Card, after)
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
