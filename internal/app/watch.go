package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// BoardWatch is whether the caller watches a board.
type BoardWatch struct {
	BoardID  string `json:"boardId" doc:"The board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Watching bool   `json:"watching" doc:"Whether the caller watches the board." example:"true"`
}

// WatchBoard makes the caller a watcher of a board. Watchers are notified of new
// cards, changes to cards, comments and status updates.
func WatchBoard(ctx context.Context, tx *store.Tx, in BoardInput) (BoardWatch, error) {
	return watchBoard(ctx, tx, in, true)
}

// UnwatchBoard stops the notifications that WatchBoard has started.
func UnwatchBoard(ctx context.Context, tx *store.Tx, in BoardInput) (BoardWatch, error) {
	return watchBoard(ctx, tx, in, false)
}

func watchBoard(ctx context.Context, tx *store.Tx, in BoardInput, watching bool) (BoardWatch, error) {
	b, err := tx.View.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return BoardWatch{}, err
	}
	return BoardWatch{b.ID, watching}, tx.SetBoardWatched(ctx, b.ID, watching)
}

// CardWatch is whether the caller watches a card.
type CardWatch struct {
	CardID   string `json:"cardId" doc:"The card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Watching bool   `json:"watching" doc:"Whether the caller is notified of comments on the card, because the caller watches the card or its board, is assigned to it, or has commented." example:"true"`
	Asked    bool   `json:"asked" doc:"Whether the caller watches the card itself, and so is also notified of its other changes." example:"true"`
}

// GetCardWatch returns whether the caller is notified about a card.
func GetCardWatch(ctx context.Context, v *store.View, in CardInput) (CardWatch, error) {
	c, err := v.Card(ctx, in.CardID, board.View)
	if err != nil {
		return CardWatch{}, err
	}
	return cardWatch(ctx, v, c)
}

func cardWatch(ctx context.Context, v *store.View, c board.Card) (CardWatch, error) {
	watching, asked, err := v.CardWatched(ctx, c)
	return CardWatch{c.ID, watching, asked}, err
}

// WatchCard makes the caller a watcher of a card. Watchers are notified of its
// comments and changes.
func WatchCard(ctx context.Context, tx *store.Tx, in CardInput) (CardWatch, error) {
	return watchCard(ctx, tx, in, true)
}

// UnwatchCard stops notifications about a card, even for a caller who is assigned
// to it or has commented on it.
func UnwatchCard(ctx context.Context, tx *store.Tx, in CardInput) (CardWatch, error) {
	return watchCard(ctx, tx, in, false)
}

func watchCard(ctx context.Context, tx *store.Tx, in CardInput, watching bool) (CardWatch, error) {
	c, err := tx.View.Card(ctx, in.CardID, board.View)
	if err != nil {
		return CardWatch{}, err
	}
	if err := tx.SetCardWatched(ctx, c, watching); err != nil {
		return CardWatch{}, err
	}
	return cardWatch(ctx, tx.View, c)
}
