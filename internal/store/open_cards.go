package store

import "cardwall/internal/store/search"

// These queries count the open cards of the board b, and the done ones among them.
const (
	openCards      = " FROM lists l JOIN cards c ON c.list_id = l.id WHERE " + search.OpenCard + " AND l.board_id = "
	CountOpenCards = "(SELECT count(*)" + openCards + "b.id)"
	CountDoneCards = "(SELECT count(c.done_at)" + openCards + "b.id)"
)
