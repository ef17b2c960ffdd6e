package store

import (
	"context"

	"cardwall/internal/store/search"
)

// These queries count the open cards of the board b, and the done ones among them.
const (
	openCards      = " FROM lists l JOIN cards c ON c.list_id = l.id WHERE " + search.OpenCard + " AND l.board_id = "
	CountOpenCards = "(SELECT count(*)" + openCards + "b.id)"
	CountDoneCards = "(SELECT count(c.done_at)" + openCards + "b.id)"
)

// doneCards is the number of done cards among the open cards of the board b. Servers
// before migration 051 do not maintain the stored number, so it is only valid for its
// version.
const doneCards = "CASE WHEN b.done_cards_version = b.version THEN b.done_cards ELSE " + CountDoneCards + " END"

// fillOpenCards recounts the open cards of all boards, and the done ones among them. It
// runs once, after migration 051.
func (db *DB) fillOpenCards(ctx context.Context) error {
	return db.fillBoards(ctx, "done_cards", allBoards, "counting the open and done cards of all boards",
		func(ctx context.Context, tx *Tx, boardID, _ string) (string, bool, error) {
			return "", false, tx.exec(ctx, "UPDATE boards AS b SET open_cards = "+CountOpenCards+", done_cards = "+CountDoneCards+
				", done_cards_version = version WHERE b.id = $1", boardID)
		})
}
