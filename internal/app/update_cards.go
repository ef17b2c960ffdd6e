package app

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// maxUpdates is the maximum number of cards that a call changes. A card in several changes
// counts several times.
const maxUpdates = 100

// UpdateCardsInput holds changes of several cards of a board.
type UpdateCardsInput struct {
	BoardInput
	CardChanges
	Changes []CardChanges `json:"changes,omitempty" maxItems:"100" doc:"Other changes, made afterwards in this order. Each is an object with cardIds and any of the other fields, for cards that get different values." example:"[{\"cardIds\":[\"crd_01jb2m3n4p5q6r7s8t9v0w1x2y\"],\"dueDate\":\"2026-03-14\"}]"`
}

// CardChanges holds the same changes of several cards. Absent fields stay unchanged.
type CardChanges struct {
	CardIDs  []string       `json:"cardIds,omitempty" maxItems:"100" doc:"The ids of the cards, which must be on the board." example:"[\"crd_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
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

// placedChanges are changes with their place in the input; "" for the input itself.
type placedChanges struct {
	CardChanges
	place string
}

// UpdatedCards holds cards after a change.
type UpdatedCards struct {
	Cards []board.Card `json:"cards" doc:"The cards in the order of the request, without their descriptions."`
}

// UpdateCards makes changes to several cards of a board. Either all of them change or, if one
// cannot, none.
func UpdateCards(ctx context.Context, tx *store.Tx, in UpdateCardsInput) (UpdatedCards, error) {
	if _, err := tx.Board(ctx, in.BoardID, board.View); err != nil {
		return UpdatedCards{}, err
	}
	all, ids, err := in.all()
	if err != nil {
		return UpdatedCards{}, err
	}
	// Loading a card of another board for a change would lock that board, too.
	cards, err := tx.CardsByID(ctx, ids)
	if err != nil {
		return UpdatedCards{}, err
	}
	for i, id := range ids {
		if cards[i].BoardID != in.BoardID {
			return UpdatedCards{}, board.Invalid("cardIds must be ids of cards on the board; %q is not.", id).
				In("cardIds", board.RuleValue)
		}
	}
	for _, c := range all {
		for _, id := range c.CardIDs {
			if err := c.change(ctx, tx, CardInput{id}); err != nil {
				return UpdatedCards{}, board.Placed("Card "+id, c.place, err)
			}
			c.Position = board.After(id)
		}
		if c.Archived == nil || !*c.Archived {
			continue
		}
		for _, id := range c.CardIDs { // not earlier, because a card cannot be moved after an archived one
			if _, err := ArchiveCard(ctx, tx, CardInput{id}); err != nil {
				return UpdatedCards{}, board.Placed("Card "+id, c.place, err)
			}
		}
	}
	cards, err = tx.CardsByID(ctx, ids)
	for i := range cards {
		cards[i].Description = nil
	}
	return UpdatedCards{cards}, err
}

// all returns the changes in order, and the ids of their cards, each once. It returns an error if
// a change is not valid, or if there are too many cards.
func (in UpdateCardsInput) all() (all []placedChanges, ids []string, err error) {
	if !reflect.ValueOf(in.CardChanges).IsZero() || len(in.Changes) == 0 {
		if err := in.CardChanges.check(); err != nil {
			return nil, nil, err
		}
		all = append(all, placedChanges{in.CardChanges, ""})
	}
	for i, c := range in.Changes {
		place := fmt.Sprintf("changes[%d]", i)
		if err := c.check(); err != nil {
			return nil, nil, within(err, place)
		}
		all = append(all, placedChanges{c, place})
	}
	updates := 0
	for _, c := range all {
		if updates += len(c.CardIDs); updates > maxUpdates {
			return nil, nil, board.Invalid("cardIds must have at most %d ids, including those in changes.", maxUpdates).
				In("cardIds", board.RuleValue)
		}
		for _, id := range c.CardIDs {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return all, ids, nil
}

// check returns an error if there is no card, a card twice, or a position without a list.
func (c CardChanges) check() error {
	switch {
	case len(c.CardIDs) == 0:
		return board.Invalid("cardIds must not be empty.").In("cardIds", board.RuleEmpty)
	case len(slices.Compact(slices.Sorted(slices.Values(c.CardIDs)))) < len(c.CardIDs):
		return board.Invalid("cardIds must not contain an id twice.").In("cardIds", board.RuleValue)
	case c.Position != board.Position{} && c.ListID == "":
		return board.Invalid("position requires listId.").In("position", board.RuleValue)
	}
	return nil
}

// change makes all changes of one card except archiving it. A card is restored before its
// other changes.
func (c CardChanges) change(ctx context.Context, tx *store.Tx, card CardInput) (err error) {
	if c.Archived != nil && !*c.Archived {
		_, err = RestoreCard(ctx, tx, card)
	}
	if err == nil && c.Comment != "" {
		_, err = AddComment(ctx, tx, AddCommentInput{card, c.Comment})
	}
	if err == nil && c.ListID != "" {
		_, err = MoveCard(ctx, tx, MoveCardInput{card, c.ListID, c.Position})
	}
	if err == nil && c.CardDates != (CardDates{}) {
		_, err = SetCardDue(ctx, tx, SetCardDueInput{card, c.CardDates})
	}
	if err == nil && len(c.AddLabels)+len(c.RemoveLabels) > 0 {
		_, err = setLabels(ctx, tx, card.CardID, idChange{c.AddLabels, c.RemoveLabels, "addLabels", "removeLabels"})
	}
	if err == nil && len(c.AddAssignees)+len(c.RemoveAssignees) > 0 {
		_, err = setAssignees(ctx, tx, card.CardID, idChange{c.AddAssignees, c.RemoveAssignees, "addAssignees", "removeAssignees"})
	}
	if err == nil && c.Done != nil {
		_, err = UpdateCard(ctx, tx, UpdateCardInput{CardInput: card, Done: c.Done})
	}
	return err
}
