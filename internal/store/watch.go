package store

import (
	"context"

	"cardwall/internal/board"
)

// SetBoardWatched turns the caller's notifications about changes to a board on or off. It
// does not change the board, which must already be loaded.
func (tx *Tx) SetBoardWatched(ctx context.Context, boardID string, watching bool) error {
	tx.workspace = tx.On(boardID).WorkspaceID
	return tx.exec(ctx, `INSERT INTO board_visits (user_id, board_id, watching) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, board_id) DO UPDATE SET watching = excluded.watching`, tx.caller.UserID, boardID, flag(watching))
}

// SetCardWatched turns the caller's notifications about a card on or off. If they are off,
// the caller is not notified of comments either, even if the card is assigned to the
// caller. It does not change the card's board. The card must already be loaded.
func (tx *Tx) SetCardWatched(ctx context.Context, c board.Card, watching bool) error {
	tx.workspace = tx.On(c.BoardID).WorkspaceID
	return tx.exec(ctx, `INSERT INTO card_watches (card_id, user_id, watching) VALUES ($1, $2, $3)
		ON CONFLICT (card_id, user_id) DO UPDATE SET watching = excluded.watching`, c.ID, tx.caller.UserID, flag(watching))
}

// CardWatched reports whether the caller is notified of comments on a card, and whether
// the caller explicitly watches the card. Unless notifications about the card are off, the
// caller is also notified if the caller is assigned to the card, has commented on it, or
// watches its board. The card must already be loaded.
func (v *View) CardWatched(ctx context.Context, c board.Card) (watching, explicit bool, err error) {
	var set, follows int64 // set is -1 if the caller has not turned notifications on or off
	_, err = v.one(ctx, `SELECT COALESCE((SELECT watching FROM card_watches WHERE card_id = $1 AND user_id = $2), -1),
		CASE WHEN EXISTS (SELECT 1 FROM card_assignees WHERE card_id = $1 AND user_id = $2) OR EXISTS (SELECT 1 FROM comments
		WHERE card_id = $1 AND author_id = $2)
			OR EXISTS (SELECT 1 FROM board_visits WHERE board_id = $3 AND user_id = $2 AND watching = 1) THEN 1 ELSE 0 END`,
		[]any{c.ID, v.caller.UserID, c.BoardID}, &set, &follows)
	return set == 1 || set == -1 && follows == 1, set == 1, err
}
