package store

import "cardwall/internal/store/search"

// These queries count the open cards of the board b, and the done ones among them.
const (
	openCards      = " FROM lists l JOIN cards c ON c.list_id = l.id WHERE " + search.OpenCard + " AND l.board_id = "
	CountOpenCards = "(SELECT count(*)" + openCards + "b.id)"
	CountDoneCards = "(SELECT count(c.done_at)" + openCards + "b.id)"
)

// doneCards is the number of done cards among the open cards of the board b. Servers
// before v0.2.1 do not maintain the stored number, so it is only valid for its version.
const doneCards = "CASE WHEN b.done_cards_version = b.version THEN b.done_cards ELSE " + CountDoneCards + " END"
