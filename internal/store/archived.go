package store

import (
	"context"

	"cardwall/internal/store/search"
)

// fillOpenCards counts the open cards of boards with archived lists, once after the
// migration since which cards in archived lists are not open.
func (db *DB) fillOpenCards(ctx context.Context) error {
	const boards = "SELECT DISTINCT board_id FROM lists WHERE archived_at IS NOT NULL ORDER BY board_id"
	return db.fillBoards(ctx, "open_cards", boards, "counting the open cards of boards with archived lists",
		func(ctx context.Context, tx *Tx, boardID, _ string) (string, bool, error) {
			return "", false, tx.exec(ctx, `UPDATE boards SET open_cards = (SELECT count(*) FROM lists l JOIN cards c ON c.list_id = l.id
				WHERE l.board_id = $1 AND `+search.OpenCard+") WHERE id = $1", boardID)
		})
}
