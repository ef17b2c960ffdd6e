package app

import (
	"context"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// UpdateCardsInput holds the changes to make to several cards. Absent fields stay
// unchanged.
type UpdateCardsInput struct {
	BoardInput
	CardIDs  []string       `json:"cardIds" maxItems:"100" doc:"The ids of the cards, which must be on the board." example:"[\"crd_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	ListID   string         `json:"listId,omitempty" maxLength:"64" doc:"The id of the list to move the cards to, on the same board." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Position board.Position `json:"position,omitzero" doc:"The position of the first card; the others follow it. Requires listId. Defaults to the bottom."`
	Done     *bool          `json:"done,omitempty" doc:"Whether the cards are done." example:"true"`
	Archived *bool          `json:"archived,omitempty" doc:"Whether the cards are archived." example:"true"`
	CardDates
	AddLabels       []string `json:"addLabels,omitempty" maxItems:"1000" doc:"The ids of the labels to add, which must be labels of the board." example:"[\"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	RemoveLabels    []string `json:"removeLabels,omitempty" maxItems:"1000" doc:"The ids of the labels to remove." example:"[\"lbl_01jb2m3n4p5q6r7s8t9v0w1x2z\"]"`
	AddAssignees    []string `json:"addAssignees,omitempty" maxItems:"1000" doc:"The ids of the people to assign, who must be able to see the board." example:"[\"usr_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	RemoveAssignees []string `json:"removeAssignees,omitempty" maxItems:"1000" doc:"The ids of the people to unassign." example:"[\"usr_01jb2m3n4p5q6r7s8t9v0w1x2z\"]"`
	Comment         string   `json:"comment,omitempty" maxLength:"16384" doc:"A comment to add to each card, in Markdown." example:"Moved to the next sprint."`
}

// UpdatedCards holds cards after a change.
type UpdatedCards struct {
	Cards []board.Card `json:"cards" doc:"The cards in the order of the request, without their descriptions."`
}

// UpdateCards makes the same changes to several cards of a board. Either all of them
// change or, if one cannot, none.
func UpdateCards(ctx context.Context, tx *store.Tx, in UpdateCardsInput) (UpdatedCards, error) {
	if _, err := tx.Board(ctx, in.BoardID, board.View); err != nil {
		return UpdatedCards{}, err
	}
	if err := in.check(); err != nil {
		return UpdatedCards{}, err
	}
	// Loading a card of another board for a change would lock that board, too.
	cards, err := tx.CardsByID(ctx, in.CardIDs)
	if err != nil {
		return UpdatedCards{}, err
	}
	for i, id := range in.CardIDs {
		if cards[i].BoardID != in.BoardID {
			return UpdatedCards{}, board.Invalid("cardIds must be ids of cards on the board; %q is not.", id).
				In("cardIds", board.RuleValue)
		}
		if err := in.change(ctx, tx, CardInput{id}); err != nil {
			return UpdatedCards{}, aboutCard(err, id)
		}
		in.Position = board.After(id)
	}
	cards, err = tx.CardsByID(ctx, in.CardIDs)
	for i := range cards {
		cards[i].Description = nil
	}
	return UpdatedCards{cards}, err
}

// check returns an error if the input has no card, a card twice, or a position without a
// list.
func (in UpdateCardsInput) check() error {
	switch {
	case len(in.CardIDs) == 0:
		return board.Invalid("cardIds must not be empty.").In("cardIds", board.RuleEmpty)
	case len(slices.Compact(slices.Sorted(slices.Values(in.CardIDs)))) < len(in.CardIDs):
		return board.Invalid("cardIds must not contain an id twice.").In("cardIds", board.RuleValue)
	case in.Position != board.Position{} && in.ListID == "":
		return board.Invalid("position requires listId.").In("position", board.RuleValue)
	}
	return nil
}

// change changes one card. A card is restored before its other changes, and archived
// after them.
func (in UpdateCardsInput) change(ctx context.Context, tx *store.Tx, card CardInput) (err error) {
	if in.Archived != nil && !*in.Archived {
		_, err = RestoreCard(ctx, tx, card)
	}
	if err == nil && in.Comment != "" {
		_, err = AddComment(ctx, tx, AddCommentInput{card, in.Comment})
	}
	if err == nil && in.ListID != "" {
		_, err = MoveCard(ctx, tx, MoveCardInput{card, in.ListID, in.Position})
	}
	if err == nil && in.CardDates != (CardDates{}) {
		_, err = SetCardDue(ctx, tx, SetCardDueInput{card, in.CardDates})
	}
	if err == nil && len(in.AddLabels)+len(in.RemoveLabels) > 0 {
		_, err = SetCardLabels(ctx, tx, SetCardLabelsInput{card, in.AddLabels, in.RemoveLabels})
	}
	if err == nil && len(in.AddAssignees)+len(in.RemoveAssignees) > 0 {
		_, err = SetCardAssignees(ctx, tx, SetCardAssigneesInput{card, in.AddAssignees, in.RemoveAssignees})
	}
	if err == nil && in.Done != nil {
		_, err = UpdateCard(ctx, tx, UpdateCardInput{CardInput: card, Done: in.Done})
	}
	if err == nil && in.Archived != nil && *in.Archived {
		_, err = ArchiveCard(ctx, tx, card)
	}
	return err
}

// aboutCard adds the id of a card to an error for the caller.
func aboutCard(err error, cardID string) error {
	f, ok := board.AsFault(err)
	if !ok {
		return err
	}
	about := *f
	about.Message = "Card " + cardID + ": " + f.Message
	return &about
}
