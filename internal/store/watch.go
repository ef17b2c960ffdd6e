package store

import (
	"context"

	"cardwall/internal/board"
)

// SetBoardWatched has the caller told of what changes on a board, which a loader
// has loaded, or no more. That is no change of the board.
func (tx *Tx) SetBoardWatched(ctx context.Context, boardID string, watching bool) error {
	tx.workspace = tx.On(boardID).WorkspaceID
	return tx.exec(ctx, `INSERT INTO board_visits (user_id, board_id, watching) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, board_id) DO UPDATE SET watching = excluded.watching`, tx.caller.UserID, boardID, flag(watching))
}

// SetCardWatched has the caller told of what happens to a card, which a loader
// has loaded, or no more: then neither of comments on it, though the caller
// works on it. That is no change of its board.
func (tx *Tx) SetCardWatched(ctx context.Context, c board.Card, watching bool) error {
	tx.workspace = tx.On(c.BoardID).WorkspaceID
	return tx.exec(ctx, `INSERT INTO card_watches (card_id, user_id, watching) VALUES ($1, $2, $3)
		ON CONFLICT (card_id, user_id) DO UPDATE SET watching = excluded.watching`, c.ID, tx.caller.UserID, flag(watching))
}

// CardWatched tells whether the caller is told of what is said on a card, which a
// loader has loaded: because of having asked for that or, unless the caller
// wants to hear no more, by working on it, by having commented, or by watching
// its board.
func (v *View) CardWatched(ctx context.Context, c board.Card) (watching, asked bool, err error) {
	var set, follows int64
	_, err = v.one(ctx, `SELECT COALESCE((SELECT watching FROM card_watches WHERE card_id = $1 AND user_id = $2), -1),
		CASE WHEN EXISTS (SELECT 1 FROM card_assignees WHERE card_id = $1 AND user_id = $2) OR EXISTS (SELECT 1 FROM comments WHERE card_id = $1 AND author_id = $2)
			OR EXISTS (SELECT 1 FROM board_visits WHERE board_id = $3 AND user_id = $2 AND watching = 1) THEN 1 ELSE 0 END`,
		[]any{c.ID, v.caller.UserID, c.BoardID}, &set, &follows)
	return set == 1 || set == -1 && follows == 1, set == 1, err
}
