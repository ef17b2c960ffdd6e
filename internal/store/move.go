package store

import (
	"context"
	"fmt"

	"cardwall/internal/board"
)

// MoveCardToBoard moves a card to a position in a list of another board and returns
// the open card before it. Both boards must be loaded. The card must already
// have its labels of the other board and the assignees that stay; it gets a new
// number here.
func (tx *Tx) MoveCardToBoard(ctx context.Context, c *board.Card, to board.List, at board.Position) (after string, err error) {
	p, err := tx.findPosition(ctx, cardSiblings(), to.ID, "", "", at)
	if err != nil {
		return "", err
	}
	from, target := tx.On(c.BoardID), tx.On(to.BoardID)
	from.AllCards--
	from.OpenCards--
	target.AllCards++
	target.OpenCards++
	if err := tx.moveBytes(ctx, c.BoardID, to.BoardID, "c.id = $1", c.ID); err != nil {
		return "", err
	}
	c.BoardID, c.ListID, c.Rank, c.Number = to.BoardID, to.ID, p.rank, target.NextNumber
	target.NextNumber++
	if err := tx.exec(ctx, "UPDATE cards SET board_id = $1, number = $2, list_id = $3, rank = $4, moved_at = COALESCE(moved_at, $5) "+
		"WHERE id = $6",
		c.BoardID, c.Number, c.ListID, c.Rank, int64(tx.now), c.ID); err != nil {
		return "", fmt.Errorf("move card: %w", err)
	}
	if err := tx.exec(ctx, "DELETE FROM card_labels WHERE card_id = $1", c.ID); err != nil {
		return "", fmt.Errorf("move card: %w", err)
	}
	if err := tx.insert(ctx, "card_labels (card_id, label_id)", labelRows([]WholeCard{{CardDetail: board.CardDetail{Card: *c}}})); err != nil {
		return "", fmt.Errorf("move card: %w", err)
	}
	return p.after, tx.UpdateCard(ctx, c)
}

// MoveListToBoard moves a list with all its cards to a position on another board
// and returns the open list before it. Cards must be all cards of the list in
// their order, prepared as for MoveCardToBoard.
func (tx *Tx) MoveListToBoard(ctx context.Context, l *board.List, cards []WholeCard, boardID string,
	at board.Position) (after string, err error) {
	p, err := tx.findPosition(ctx, listSiblings(), boardID, "", "", at)
	if err != nil {
		return "", err
	}
	from, target := tx.On(l.BoardID), tx.On(boardID)
	if err := tx.moveBytes(ctx, l.BoardID, boardID, "c.list_id = $1", l.ID); err != nil {
		return "", err
	}
	tx.grow(l.BoardID, -sizeOf(l.Name), 0)
	tx.grow(boardID, sizeOf(l.Name), 0)
	l.BoardID, l.Rank, l.UpdatedAt = boardID, p.rank, tx.now
	from.OpenLists--
	target.OpenLists++
	if err := tx.exec(ctx, "UPDATE lists SET board_id = $1, rank = $2, updated_at = $3 WHERE id = $4", l.BoardID, l.Rank,
		int64(tx.now), l.ID); err != nil {
		return "", fmt.Errorf("move list: %w", err)
	}
	if err := tx.exec(ctx, `UPDATE cards SET board_id = $1, updated_at = $2, number = n.number
		FROM (SELECT id, CAST($3 AS BIGINT) - 1 + row_number() OVER (ORDER BY rank, id) AS number FROM cards WHERE list_id = $4) AS n
		WHERE n.id = cards.id`,
		boardID, int64(tx.now), target.NextNumber, l.ID); err != nil {
		return "", fmt.Errorf("move cards: %w", err)
	}
	for i := range cards {
		c := &cards[i]
		c.BoardID, c.Number, c.UpdatedAt = boardID, target.NextNumber, tx.now
		target.NextNumber++
		from.AllCards--
		target.AllCards++
		if c.ArchivedAt == nil {
			from.OpenCards--
			target.OpenCards++
		}
	}
	if err := tx.exec(ctx, "DELETE FROM card_labels WHERE card_id IN (SELECT id FROM cards WHERE list_id = $1)", l.ID); err != nil {
		return "", fmt.Errorf("move labels: %w", err)
	}
	if err := tx.insert(ctx, "card_labels (card_id, label_id)", labelRows(cards)); err != nil {
		return "", fmt.Errorf("move labels: %w", err)
	}
	return p.after, nil
}

func labelRows(cards []WholeCard) (rows [][]any) {
	for _, c := range cards {
		for _, l := range c.Labels {
			rows = append(rows, []any{c.ID, l.ID})
		}
	}
	return rows
}

// Unassign removes a person from the assignees of a card, or of all cards of a
// list.
func (tx *Tx) Unassign(ctx context.Context, cardOrListID, userID string) error {
	return tx.exec(ctx, "DELETE FROM card_assignees WHERE user_id = $1 AND (card_id = $2 OR card_id IN (SELECT id FROM cards "+
		"WHERE list_id = $2))", userID, cardOrListID)
}
