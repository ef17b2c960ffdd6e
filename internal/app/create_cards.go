package app

import (
	"context"
	"fmt"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// CreateCardsInput holds several new cards of a board.
type CreateCardsInput struct {
	BoardInput
	Cards []CreateCardInput `json:"cards" maxItems:"100" doc:"The cards, whose lists must be on the board. Without positions, they are added to their lists in this order." example:"[{\"listId\":\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\",\"title\":\"Write the press release\"}]"`
}

// CreatedCards holds new cards.
type CreatedCards struct {
	Cards []board.Card `json:"cards" doc:"The cards in the order of the request, without their descriptions."`
}

// CreateCards creates cards in lists of one board, in order. Either all of them are created or,
// if one cannot be, none.
func CreateCards(ctx context.Context, tx *store.Tx, in CreateCardsInput) (CreatedCards, error) {
	var out CreatedCards
	if _, err := tx.Board(ctx, in.BoardID, board.AddCards); err != nil {
		return out, err
	}
	if len(in.Cards) == 0 {
		return out, board.Invalid("cards must not be empty.").In("cards", board.RuleEmpty)
	}
	// Loading a list of another board for a change would lock that board, too.
	lists, err := tx.Lists(ctx, in.BoardID, false, "", tx.Limits().OpenLists)
	if err != nil {
		return out, err
	}
	for i, c := range in.Cards {
		if !slices.ContainsFunc(lists, func(l board.List) bool { return l.ID == c.ListID }) {
			field := fmt.Sprintf("cards[%d].listId", i)
			return out, board.Invalid("%s must be an open list of the board; %q is not.", field, c.ListID).
				In(field, board.RuleValue)
		}
		card, err := CreateCard(ctx, tx, c)
		if err != nil {
			return out, within(err, fmt.Sprintf("cards[%d]", i))
		}
		card.Description = nil
		out.Cards = append(out.Cards, card)
	}
	return out, nil
}

// within adds the place in the input to an error for the caller.
func within(err error, place string) error {
	return board.Placed(place, place, err)
}
