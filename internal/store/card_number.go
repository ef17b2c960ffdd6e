package store

import (
	"context"
	"database/sql"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// CardNumbered returns the id of the card with a number on a loaded board. It returns a
// not_found error if there is none.
func (v *View) CardNumbered(ctx context.Context, boardID string, number int) (id string, err error) {
	found, err := v.one(ctx, "SELECT c.id FROM cards c WHERE c.board_id = $1 AND c.number = $2 AND "+shownCard, []any{boardID, number}, &id)
	if err == nil && !found {
		err = board.NotFound()
	}
	return id, err
}

// NumberedCard is a card that CardsNumbered found.
type NumberedCard struct{ ID, Title, BoardName string }

// CardsNumbered returns at most limit cards with a number, including archived ones. They are
// on a loaded board or, if boardID is "", on the boards that the caller can see, except
// archived boards.
func (v *View) CardsNumbered(ctx context.Context, boardID string, number, limit int) (out []NumberedCard, err error) {
	var a sqldb.Args
	text := "SELECT c.id, c.title, h.name FROM cards c JOIN boards h ON h.id = c.board_id WHERE c.number = " + a.Add(number) +
		" AND " + shownCard + " AND c.board_id "
	if boardID != "" {
		text += "= " + a.Add(boardID)
	} else {
		text += "IN (" + v.boardsOf(CardPage{}, &a) + ")"
	}
	err = v.each(ctx, text+" ORDER BY c.id LIMIT "+a.Add(limit), a, func(rows *sql.Rows) error {
		var c NumberedCard
		err := rows.Scan(&c.ID, &c.Title, &c.BoardName)
		out = append(out, c)
		return err
	})
	return out, err
}
