package store

import (
	"context"

	"cardwall/internal/store/search"
)

// fillOpenCards recounts the open cards of boards with archived lists. It runs once,
// after migration 028, which changed the count to exclude cards in archived lists.
func (db *DB) fillOpenCards(ctx context.Context) error {
	const boards = "SELECT DISTINCT board_id FROM lists WHERE archived_at IS NOT NULL ORDER BY board_id"
	return db.fillBoards(ctx, "open_cards", boards, "counting the open cards of boards with archived lists",
		func(ctx context.Context, tx *Tx, boardID, _ string) (string, bool, error) {
			return "", false, tx.exec(ctx, `UPDATE boards SET open_cards = (SELECT count(*) FROM lists l JOIN cards c ON c.list_id = l.id
				WHERE l.board_id = $1 AND `+search.OpenCard+") WHERE id = $1", boardID)
		})
}
