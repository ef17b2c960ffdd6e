package store

import (
	"context"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// MoveCardToBoard moves a card to a position in a list of another board and returns
// the id of the open card before it. Both boards must be loaded. Before the call, the
// caller must set the card's labels to those of the other board and remove the
// assignees who cannot see it. The card gets a new number.
func (tx *Tx) MoveCardToBoard(ctx context.Context, c *board.Card, to board.List, at board.Position) (after string, err error) {
	p, err := tx.findPosition(ctx, cardSiblings(), to.ID, "", "", at)
	if err != nil {
		return "", err
	}
	from, target := tx.On(c.BoardID), tx.On(to.BoardID)
	from.AllCards--
	from.CountOpen(*c, -1)
	target.AllCards++
	target.CountOpen(*c, 1)
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
	if err := tx.ReplaceLabels(ctx, []WholeCard{{CardDetail: board.CardDetail{Card: *c}}}); err != nil {
		return "", err
	}
	return p.after, tx.UpdateCardState(ctx, c)
}

// MoveListToBoard moves a list without its cards to a position on another board, and
// returns the id of the open list before it. Both boards must be loaded. MoveCardsToBoard
// moves the cards.
func (tx *Tx) MoveListToBoard(ctx context.Context, l *board.List, boardID string, at board.Position) (after string, err error) {
	p, err := tx.findPosition(ctx, listSiblings(), boardID, "", "", at)
	if err != nil {
		return "", err
	}
	tx.grow(l.BoardID, -sizeOf(l.Name), 0)
	tx.grow(boardID, sizeOf(l.Name), 0)
	tx.On(l.BoardID).OpenLists--
	tx.On(boardID).OpenLists++
	l.BoardID, l.Rank, l.UpdatedAt = boardID, p.rank, tx.now
	if err := tx.exec(ctx, "UPDATE lists SET board_id = $1, rank = $2, updated_at = $3 WHERE id = $4", l.BoardID, l.Rank,
		int64(tx.now), l.ID); err != nil {
		return "", fmt.Errorf("move list: %w", err)
	}
	return p.after, nil
}

// MoveCardsToBoard moves cards to a list of another board. Ids must be in the order of the
// cards' ranks. The cards keep their ranks. Both boards must be loaded. It returns the
// moved cards, still with the labels and assignees of the former board. The caller must
// then call ReplaceLabels.
func (tx *Tx) MoveCardsToBoard(ctx context.Context, fromID string, ids []string, to board.List) (cards []WholeCard, err error) {
	from, target := tx.On(fromID), tx.On(to.BoardID)
	err = sqldb.InChunks(ids, func(in string, args []any) error {
		if err := tx.moveBytes(ctx, fromID, to.BoardID, "c.id IN ("+in+")", args...); err != nil {
			return err
		}
		a := sqldb.Args(args)
		if err := tx.exec(ctx, "UPDATE cards SET board_id = "+a.Add(to.BoardID)+", list_id = "+a.Add(to.ID)+", updated_at = "+
			a.Add(int64(tx.now))+", number = n.number FROM (SELECT id, CAST("+a.Add(target.NextNumber)+" AS BIGINT) - 1 + "+
			"row_number() OVER (ORDER BY rank, id) AS number FROM cards WHERE id IN ("+in+")) AS n WHERE n.id = cards.id",
			a...); err != nil {
			return fmt.Errorf("move cards: %w", err)
		}
		chunk, err := tx.wholeCards(ctx, "c.id IN ("+in+") ORDER BY c.rank, c.id", args...)
		target.NextNumber += len(chunk)
		cards = append(cards, chunk...)
		return err
	})
	for _, c := range cards {
		from.AllCards--
		target.AllCards++
		if c.ArchivedAt == nil {
			from.CountOpen(c.Card, -1)
			target.CountOpen(c.Card, 1)
		}
	}
	return cards, err
}

// ReplaceLabels replaces the stored labels of the given cards with the labels in cards.
func (tx *Tx) ReplaceLabels(ctx context.Context, cards []WholeCard) error {
	ids := make([]string, len(cards))
	var rows [][]any
	for i, c := range cards {
		ids[i] = c.ID
		for _, l := range c.Labels {
			rows = append(rows, []any{c.ID, l.ID})
		}
	}
	if err := sqldb.InChunks(ids, func(in string, args []any) error {
		return tx.exec(ctx, "DELETE FROM card_labels WHERE card_id IN ("+in+")", args...)
	}); err != nil {
		return fmt.Errorf("replace labels: %w", err)
	}
	if err := tx.insert(ctx, "card_labels (card_id, label_id)", rows); err != nil {
		return fmt.Errorf("replace labels: %w", err)
	}
	return nil
}

// Unassign removes a person from the assignees of cards.
func (tx *Tx) Unassign(ctx context.Context, cardIDs []string, userID string) error {
	return sqldb.InChunks(cardIDs, func(in string, args []any) error {
		a := sqldb.Args(args)
		return tx.exec(ctx, "DELETE FROM card_assignees WHERE card_id IN ("+in+") AND user_id = "+a.Add(userID), a...)
	})
}
