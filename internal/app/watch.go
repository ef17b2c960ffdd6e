package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// BoardWatch holds whether the caller watches a board.
type BoardWatch struct {
	BoardID  string `json:"boardId" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Watching bool   `json:"watching" doc:"Whether the caller watches the board." example:"true"`
}

// WatchBoard makes the caller a watcher of a board. Watchers are notified of comments and
// status updates, and when a card is created, moved, completed, reopened, archived or
// restored, or its due date changes.
func WatchBoard(ctx context.Context, tx *store.Tx, in BoardInput) (BoardWatch, error) {
	return watchBoard(ctx, tx, in, true)
}

// UnwatchBoard stops the notifications that WatchBoard started.
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

// CardWatch holds whether the caller watches a card.
type CardWatch struct {
	CardID   string `json:"cardId" doc:"The id of the card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Watching bool   `json:"watching" doc:"Whether the caller is notified of comments on the card. This is the case if the caller watches the card or its board, is assigned to the card or has commented on it, unless the caller has stopped watching the card." example:"true"`
	Asked    bool   `json:"asked" doc:"Whether the caller watches the card itself. If so, the caller is also notified when the card is moved, completed, reopened, archived or restored, or its due date changes." example:"true"`
}

// GetCardWatch returns whether the caller watches a card, and whether the caller is
// notified of comments on it.
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

// WatchCard makes the caller a watcher of a card. Watchers are notified of comments on
// the card, and of the same changes to it as watchers of its board.
func WatchCard(ctx context.Context, tx *store.Tx, in CardInput) (CardWatch, error) {
	return watchCard(ctx, tx, in, true)
}

// UnwatchCard stops notifications of comments on a card and changes to it, even for a
// caller who watches the board, is assigned to the card or has commented on it. Mentions,
// assignments and reminders still notify the caller.
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
