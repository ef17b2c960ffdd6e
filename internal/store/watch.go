package store

import (
	"context"

	"cardwall/internal/board"
)

// SetBoardWatched turns the caller's notifications about changes of a board that a
// loader has loaded on or off. The board itself does not change.
func (tx *Tx) SetBoardWatched(ctx context.Context, boardID string, watching bool) error {
	tx.workspace = tx.On(boardID).WorkspaceID
	return tx.exec(ctx, `INSERT INTO board_visits (user_id, board_id, watching) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, board_id) DO UPDATE SET watching = excluded.watching`, tx.caller.UserID, boardID, flag(watching))
}

// SetCardWatched turns the caller's notifications about a card that a loader has
// loaded on or off. Off also covers comments on cards that are assigned to the
// caller. The card's board does not change.
func (tx *Tx) SetCardWatched(ctx context.Context, c board.Card, watching bool) error {
	tx.workspace = tx.On(c.BoardID).WorkspaceID
	return tx.exec(ctx, `INSERT INTO card_watches (card_id, user_id, watching) VALUES ($1, $2, $3)
		ON CONFLICT (card_id, user_id) DO UPDATE SET watching = excluded.watching`, c.ID, tx.caller.UserID, flag(watching))
}

// CardWatched reports whether the caller is notified of comments on a card that a
// loader has loaded: because the caller watches the card or, unless notifications
// of the card are off, because the caller is assigned to it, has commented on it,
// or watches its board.
func (v *View) CardWatched(ctx context.Context, c board.Card) (watching, asked bool, err error) {
	var set, follows int64
	_, err = v.one(ctx, `SELECT COALESCE((SELECT watching FROM card_watches WHERE card_id = $1 AND user_id = $2), -1),
		CASE WHEN EXISTS (SELECT 1 FROM card_assignees WHERE card_id = $1 AND user_id = $2) OR EXISTS (SELECT 1 FROM comments
		WHERE card_id = $1 AND author_id = $2)
			OR EXISTS (SELECT 1 FROM board_visits WHERE board_id = $3 AND user_id = $2 AND watching = 1) THEN 1 ELSE 0 END`,
		[]any{c.ID, v.caller.UserID, c.BoardID}, &set, &follows)
	return set == 1 || set == -1 && follows == 1, set == 1, err
}
