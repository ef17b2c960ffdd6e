package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// Copies and moves to another board read and write many cards at once, with their
// checklists and comments.

// WholeCard is a card with its checklists and comments.
type WholeCard struct {
	board.CardDetail
	CommentList []board.Comment // oldest first; nil if they were not loaded
}

// SetTimes sets when a new card and its checklists were created.
func (c *WholeCard) SetTimes(at board.Instant) {
	c.CreatedAt, c.UpdatedAt = at, at
	for n := range c.Checklists {
		k := &c.Checklists[n]
		k.CreatedAt, k.UpdatedAt = at, at
		for m := range k.Items {
			k.Items[m].CreatedAt, k.Items[m].UpdatedAt = at, at
		}
	}
}

// cardsAtOnce is how many cards are read or written at a time.
const cardsAtOnce = 256

// OpenCardsAfter returns the open cards of a list in their order after a rank,
// without comments. The list's board must be loaded.
func (v *View) OpenCardsAfter(ctx context.Context, listID, rank string, limit int) ([]WholeCard, error) {
	return v.wholeCards(ctx, "c.list_id = $1 AND c.rank > $2 AND "+search.OpenCard+" ORDER BY c.rank, c.id LIMIT $3", listID, rank, limit)
}

// OpenCardsOf returns the open cards of a list in their order, without comments. The
// list's board must be loaded.
func (v *View) OpenCardsOf(ctx context.Context, listID string) ([]WholeCard, error) {
	return v.wholeCards(ctx, "c.list_id = $1 AND "+search.OpenCard+" ORDER BY c.rank, c.id", listID)
}

// CardIDs returns the ids of all cards of a list in their order. The list's board must be
// loaded.
func (v *View) CardIDs(ctx context.Context, listID string) ([]string, error) {
	return v.texts(ctx, "SELECT id FROM cards WHERE list_id = $1 ORDER BY rank, id", listID)
}

func (v *View) wholeCards(ctx context.Context, where string, args ...any) ([]WholeCard, error) {
	var cards []board.Card
	err := v.each(ctx, "SELECT "+cardColumns+", c.description FROM cards c JOIN lists l ON l.id = c.list_id WHERE "+where, args,
		func(rows *sql.Rows) error {
			var c board.Card
			err := rows.Scan(cardDest(&c)...)
			cards = append(cards, c)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("read cards: %w", err)
	}
	for piece := range slices.Chunk(cards, cardsAtOnce) {
		if err := v.hydrate(ctx, piece); err != nil {
			return nil, err
		}
	}
	out := make([]WholeCard, len(cards))
	for i, c := range cards {
		out[i].Card = c
	}
	return out, v.addChecklists(ctx, out)
}

// WholeCard adds the checklists and, on request, the comments to a card that a loader
// has loaded.
func (v *View) WholeCard(ctx context.Context, c board.Card, comments bool) (w WholeCard, err error) {
	w.Card = c
	if w.Checklists, err = v.Checklists(ctx, c.ID); err != nil || !comments {
		return w, err
	}
	w.CommentList, err = v.Comments(ctx, c.ID, "", c.Comments)
	return w, err
}

// addChecklists adds the checklists to cards.
func (v *View) addChecklists(ctx context.Context, cards []WholeCard) error {
	at := make(map[string]int, len(cards))
	ids := make([]string, len(cards))
	for i := range cards {
		cards[i].Checklists = []board.Checklist{}
		at[cards[i].ID], ids[i] = i, cards[i].ID
	}
	type index struct{ card, checklist int }
	indexes := map[string]index{} // by checklist
	return sqldb.InChunks(ids, func(in string, args []any) error {
		err := v.each(ctx, "SELECT "+checklistColumns+" FROM checklists k WHERE k.card_id IN ("+in+") ORDER BY k.card_id, k.id", args,
			func(rows *sql.Rows) error {
				k := board.Checklist{Items: []board.ChecklistItem{}}
				if err := rows.Scan(checklistDest(&k)...); err != nil {
					return err
				}
				c := &cards[at[k.CardID]]
				indexes[k.ID] = index{at[k.CardID], len(c.Checklists)}
				c.Checklists = append(c.Checklists, k)
				return nil
			})
		if err != nil {
			return fmt.Errorf("read checklists: %w", err)
		}
		return v.each(ctx, "SELECT "+itemColumns+" FROM checklist_items i JOIN checklists k ON k.id = i.checklist_id "+
			"WHERE k.card_id IN ("+in+") ORDER BY i.checklist_id, i.rank, i.id",
			args, func(rows *sql.Rows) error {
				var i board.ChecklistItem
				if err := rows.Scan(itemDest(&i)...); err != nil {
					return err
				}
				i.Done = i.DoneAt != nil
				p := indexes[i.ChecklistID]
				k := &cards[p.card].Checklists[p.checklist]
				k.Items = append(k.Items, i)
				return nil
			})
	})
}

// NewCardRank returns the rank of a new card at a position in a list, and the open
// card before it.
func (tx *Tx) NewCardRank(ctx context.Context, listID string, at board.Position) (rank, after string, err error) {
	p, err := tx.findPosition(ctx, cardSiblings(), listID, "", "", at)
	return p.rank, p.after, err
}

// InsertCards writes new open cards with their checklists and comments to a board
// that a loader has loaded. The caller sets lists, ranks, ids and contents.
// InsertCards sets numbers, counts, URLs, ranks of items and times, but keeps the
// times of comments.
func (tx *Tx) InsertCards(ctx context.Context, boardID string, cards []WholeCard) error {
	a := tx.On(boardID)
	for piece := range slices.Chunk(cards, cardsAtOnce) {
		var r rows
		for i := range piece {
			c := &piece[i]
			c.BoardID, c.Number, c.URL = boardID, a.NextNumber, tx.db.opts.BaseURL+"/cards/"+c.ID
			c.SetTimes(tx.now)
			a.NextNumber++
			a.AllCards++
			a.OpenCards++
			tx.grow(boardID, c.bytes(), 0)
			if err := r.card(c); err != nil {
				return err
			}
		}
		if err := tx.writeRows(ctx, &r); err != nil {
			return err
		}
	}
	return nil
}

// bytes is what a card and everything on it counts.
func (c *WholeCard) bytes() int64 {
	n := sizeOf(c.Title, *c.Description)
	for _, k := range c.Checklists {
		n += sizeOf(k.Title)
		for _, i := range k.Items {
			n += sizeOf(i.Title)
		}
	}
	for _, m := range c.CommentList {
		n += sizeOf(m.Text)
	}
	return n
}

// insert writes rows with as few statements as possible. Into names the table and
// its columns, in the order of the values of each row.
func (tx *Tx) insert(ctx context.Context, into string, rows [][]any) error {
	return sqldb.Batches(rows, func(n int, args []any) error {
		return tx.exec(ctx, "INSERT INTO "+into+" VALUES "+sqldb.Values(n, len(rows[0])), args...)
	})
}
