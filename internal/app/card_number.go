package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// CardByNumberInput identifies a card by its number.
type CardByNumberInput struct {
	BoardInput
	Number int `json:"number" minimum:"1" doc:"The card's number on the board." example:"7"`
}

// GetCardByNumber returns the card with a number on a board, like GetCard. A card that moves
// to another board gets a new number there.
func GetCardByNumber(ctx context.Context, v *store.View, in CardByNumberInput) (board.CardDetail, error) {
	if err := v.CheckBoard(ctx, in.BoardID, board.View); err != nil {
		return board.CardDetail{}, err
	}
	id, err := v.CardNumbered(ctx, in.BoardID, in.Number)
	if err != nil {
		return board.CardDetail{}, err
	}
	return v.CardDetail(ctx, id, board.View)
}
