package app

import (
	"context"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// MovedCard is a card on its new board, with the labels and assignees that were
// dropped.
type MovedCard struct {
	Card             board.Card       `json:"card" doc:"The card on the target board."`
	DroppedLabels    []board.LabelRef `json:"droppedLabels" doc:"The labels that the card lost because the target board has none with the same name and color."`
	DroppedAssignees []board.UserRef  `json:"droppedAssignees" doc:"The people who were unassigned because they cannot see the target board."`
}

// MoveCardToBoardInput is the input of MoveCardToBoard.
type MoveCardToBoardInput struct {
	CardInput
	ListID   string         `json:"listId" maxLength:"64" doc:"The id of a list on another board." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Position board.Position `json:"position,omitzero" doc:"The position in the list. Defaults to the bottom."`
}

// MoveCardToBoard moves a card to a position in a list of another board. The card
// keeps its id and contents and gets the next card number of the target board. Its
// labels are replaced by the target board's labels with the same name and color.
// Assignees who cannot see the target board are unassigned.
func MoveCardToBoard(ctx context.Context, tx *store.Tx, in MoveCardToBoardInput) (MovedCard, error) {
	if err := tx.LockBoardsOf(ctx, in.CardID, in.ListID); err != nil {
		return MovedCard{}, err
	}
	card, err := tx.Card(ctx, in.CardID, board.Edit)
	if err != nil {
		return MovedCard{}, err
	}
	list, err := tx.List(ctx, in.ListID, board.Edit)
	if err != nil {
		return MovedCard{}, err
	}
	if list.BoardID == card.BoardID {
		return MovedCard{}, board.Invalid("listId must be a list of another board. Use move_card to move a card on "+
			"its own board.").In("listId", board.RuleValue)
	}
	if err := mayMove(ctx, tx.View, card.BoardID, list.BoardID, "listId"); err != nil {
		return MovedCard{}, err
	}
	if err := roomForCard(tx, list, 1); err != nil {
		return MovedCard{}, err
	}
	whole, err := tx.WholeCard(ctx, card, false)
	if err != nil {
		return MovedCard{}, err
	}
	cards := []store.WholeCard{whole}
	d, err := refit(ctx, tx, cards, list.BoardID)
	if err != nil {
		return MovedCard{}, err
	}
	if err := unassign(ctx, tx, cards, d.people); err != nil {
		return MovedCard{}, err
	}
	moved := &cards[0].CardDetail
	after, err := tx.MoveCardToBoard(ctx, &moved.Card, list, in.Position)
	if err != nil {
		return MovedCard{}, err
	}
	tx.Emit(card.BoardID, board.CardMovedAway(card.ID, card.ListID, idForEvent(tx, list.BoardID)))
	tx.Emit(list.BoardID, board.CardMovedIn(*moved, after, idForEvent(tx, card.BoardID)))
	return MovedCard{Card: moved.Card, DroppedLabels: d.labels, DroppedAssignees: d.people}, nil
}

// mayMove returns an error if the caller may not move or copy content from one loaded board to
// another. Without the admin scope, content must not become visible to other people, and must
// not leave a confidential board. field is the input field that the error names.
func mayMove(ctx context.Context, v *store.View, from, to, field string) error {
	if v.Caller().Has(board.ScopeAdmin) {
		return nil
	}
	if v.On(from).Visibility == board.Confidential {
		return v.Caller().Needs(board.ScopeAdmin, field+": taking content out of a confidential board")
	}
	if more, err := v.IsSeenByMore(ctx, to, from); err != nil || !more {
		return err
	}
	return v.Caller().Needs(board.ScopeAdmin, field+": taking content to a board that more people can see")
}

// idForEvent returns a board's id for an event of another board. It returns "" for a
// confidential board, because people who cannot see that board may receive the event.
func idForEvent(tx *store.Tx, boardID string) string {
	if tx.On(boardID).Visibility == board.Confidential {
		return ""
	}
	return boardID
}

// roomForList returns an error if a board has no room for another list with the
// given numbers of open cards and of all cards.
func roomForList(v *store.View, boardID string, open, all int) error {
	a, limits := v.On(boardID), v.Limits()
	if err := board.CheckLimit("open lists on a board", a.OpenLists, 1, limits.OpenLists); err != nil {
		return err
	}
	return roomForCards(a, limits, open, all)
}

// openCardsOfBoard names what board.Limits.OpenCards limits.
const openCardsOfBoard = "cards on a board, not counting archived ones"

// roomForCards returns an error if a board has no room for the given numbers of
// open cards and of all cards.
func roomForCards(a *board.Access, limits board.Limits, open, all int) error {
	if err := board.CheckLimit(openCardsOfBoard, a.OpenCards, open, limits.OpenCards); err != nil {
		return err
	}
	return board.CheckLimit("cards on a board, including archived ones", a.AllCards, all, limits.AllCards)
}

// dropped holds the labels and assignees that cards lose on another board.
type dropped struct {
	labels []board.LabelRef
	people []board.UserRef
}

// refit replaces the labels of cards with labels of another board that have the same
// name and color, and removes assignees who cannot see that board. It returns what
// the cards lost.
func refit(ctx context.Context, tx *store.Tx, cards []store.WholeCard, boardID string) (d dropped, err error) {
	if d.labels, err = matchLabels(ctx, tx, cards, boardID); err != nil {
		return d, err
	}
	d.people, err = removeWithoutAccess(ctx, tx, cards, boardID)
	return d, err
}

// matchLabels replaces the labels of cards with labels of another board that have the
// same name and color. It returns the labels without a match.
func matchLabels(ctx context.Context, tx *store.Tx, cards []store.WholeCard, boardID string) ([]board.LabelRef, error) {
	count, err := tx.CountLabels(ctx, boardID)
	if err != nil {
		return nil, err
	}
	have, err := tx.Labels(ctx, boardID, "", "", count)
	if err != nil {
		return nil, err
	}
	type appearance struct {
		name  string
		color board.Color
	}
	oldest := map[appearance]board.LabelRef{}
	for _, l := range have { // sorted by name and id, so labels with the same name are oldest first
		if _, ok := oldest[appearance{l.Name, l.Color}]; !ok {
			oldest[appearance{l.Name, l.Color}] = board.LabelRef{ID: l.ID, Name: l.Name, Color: l.Color}
		}
	}
	lost := []board.LabelRef{}
	relabel(cards, func(l board.LabelRef) (board.LabelRef, bool) {
		match, ok := oldest[appearance{l.Name, l.Color}]
		if !ok && !slices.Contains(lost, l) {
			lost = append(lost, l)
		}
		return match, ok
	})
	slices.SortFunc(lost, board.LabelRef.Compare)
	return lost, nil
}

// relabel replaces each label of cards with the result of replacement, or removes it if
// replacement returns false.
func relabel(cards []store.WholeCard, replacement func(board.LabelRef) (board.LabelRef, bool)) {
	for i := range cards {
		labels := []board.LabelRef{}
		for _, l := range cards[i].Labels {
			if l, ok := replacement(l); ok && !slices.Contains(labels, l) {
				labels = append(labels, l)
			}
		}
		slices.SortFunc(labels, board.LabelRef.Compare)
		cards[i].Labels = labels
	}
}

// removeWithoutAccess removes assignees who cannot see a board, and returns them.
func removeWithoutAccess(ctx context.Context, tx *store.Tx, cards []store.WholeCard, boardID string) ([]board.UserRef, error) {
	people, err := tx.PeopleOf(ctx, boardID, assigneesOf(cards))
	if err != nil {
		return nil, err
	}
	return keepAssignees(cards, func(id string) bool { _, ok := people[id]; return ok }), nil
}

// assigneesOf returns the ids of the assignees of cards, without duplicates.
func assigneesOf(cards []store.WholeCard) []string {
	var people []string
	for _, c := range cards {
		for _, u := range c.Assignees {
			people = append(people, u.ID)
		}
	}
	slices.Sort(people)
	return slices.Compact(people)
}

// keepAssignees removes assignees for whom keep returns false, and returns them without
// duplicates.
func keepAssignees(cards []store.WholeCard, keep func(userID string) bool) []board.UserRef {
	lost := []board.UserRef{}
	for i := range cards {
		staying := []board.UserRef{}
		for _, u := range cards[i].Assignees {
			switch {
			case keep(u.ID):
				staying = append(staying, u)
			case !slices.Contains(lost, u):
				lost = append(lost, u)
			}
		}
		cards[i].Assignees = staying
	}
	return lost
}

// unassign unassigns people from cards.
func unassign(ctx context.Context, tx *store.Tx, cards []store.WholeCard, people []board.UserRef) error {
	ids := make([]string, len(cards))
	for i, c := range cards {
		ids[i] = c.ID
	}
	for _, u := range people {
		if err := tx.Unassign(ctx, ids, u.ID); err != nil {
			return err
		}
	}
	return nil
}
