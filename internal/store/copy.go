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

// Copies and moves to other boards read and write many cards in each statement, with
// their checklists and comments.

// WholeCard is a card with its checklists, comments and attachments.
type WholeCard struct {
	board.CardDetail
	CommentList    []board.Comment    // oldest first; nil if they were not loaded
	AttachmentList []board.Attachment // oldest first

	// Blobs contains the blobs of AttachmentList, which the JSON of an attachment omits. It is
	// nil if no attachment has one.
	Blobs []board.Blob
}

// setAttachments sets the attachments of a card.
func (c *WholeCard) setAttachments(all []board.Attachment) {
	c.AttachmentList, c.Blobs = all, make([]board.Blob, len(all))
	for i, a := range all {
		c.Blobs[i] = a.Blob
	}
}

// SetTimes sets the creation and update times of a card, its attachments, its checklists
// and their items.
func (c *WholeCard) SetTimes(at board.Instant) {
	c.CreatedAt, c.UpdatedAt = at, at
	for n := range c.AttachmentList {
		c.AttachmentList[n].CreatedAt, c.AttachmentList[n].UpdatedAt = at, at
	}
	for n := range c.Checklists {
		k := &c.Checklists[n]
		k.CreatedAt, k.UpdatedAt = at, at
		for m := range k.Items {
			k.Items[m].CreatedAt, k.Items[m].UpdatedAt = at, at
		}
	}
}

// cardBatch is the maximum number of cards that are read or written at a time.
const cardBatch = 256

// OpenCardsAfter returns at most limit open cards of a list after the given rank, in
// order and without comments. The list's board must be loaded.
func (v *View) OpenCardsAfter(ctx context.Context, listID, rank string, limit int) ([]WholeCard, error) {
	return v.wholeCards(ctx, "c.list_id = $1 AND c.rank > $2 AND "+search.OpenCard+" ORDER BY c.rank, c.id LIMIT $3", listID, rank, limit)
}

// OpenCardsOf returns the open cards of a list, in order and without comments. The
// list's board must be loaded.
func (v *View) OpenCardsOf(ctx context.Context, listID string) ([]WholeCard, error) {
	return v.wholeCards(ctx, "c.list_id = $1 AND "+search.OpenCard+" ORDER BY c.rank, c.id", listID)
}

// CardIDs returns the ids of all cards of a list in order. The list's board must be
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
	for batch := range slices.Chunk(cards, cardBatch) {
		if err := v.hydrate(ctx, batch); err != nil {
			return nil, err
		}
	}
	out := make([]WholeCard, len(cards))
	for i, c := range cards {
		out[i].Card = c
	}
	if err := v.addAttachments(ctx, out); err != nil {
		return nil, fmt.Errorf("read attachments: %w", err)
	}
	return out, v.addChecklists(ctx, out)
}

// WholeCard returns a loaded card with its checklists, its attachments and, if comments is
// true, its comments.
func (v *View) WholeCard(ctx context.Context, c board.Card, comments bool) (w WholeCard, err error) {
	w.Card = c
	attachments, err := v.Attachments(ctx, c.ID, "", c.Attachments)
	if err != nil {
		return w, err
	}
	w.setAttachments(attachments)
	if w.Checklists, err = v.Checklists(ctx, c.ID); err != nil || !comments {
		return w, err
	}
	w.CommentList, err = v.Comments(ctx, c.ID, "", c.Comments)
	return w, err
}

// addChecklists loads the checklists of cards and sets them.
func (v *View) addChecklists(ctx context.Context, cards []WholeCard) error {
	byID := make(map[string]*WholeCard, len(cards))
	ids := make([]string, len(cards))
	for i := range cards {
		c := &cards[i]
		c.Checklists = []board.Checklist{}
		byID[c.ID], ids[i] = c, c.ID
	}
	checklists, err := v.ChecklistsOn(ctx, ids)
	if err != nil {
		return fmt.Errorf("read checklists: %w", err)
	}
	for _, k := range checklists {
		c := byID[k.CardID]
		c.Checklists = append(c.Checklists, k)
	}
	return nil
}

// NewCardRank returns the rank of a new card at a position in a list, and the id of the
// open card before it.
func (tx *Tx) NewCardRank(ctx context.Context, listID string, at board.Position) (rank, after string, err error) {
	p, err := tx.findPosition(ctx, cardSiblings(), listID, "", "", at)
	return p.rank, p.after, err
}

// InsertCards writes new open cards with their checklists and comments to a loaded board.
// The caller sets lists, ranks, ids and content. InsertCards sets numbers, counts, URLs,
// item ranks and times, but keeps the times of comments.
func (tx *Tx) InsertCards(ctx context.Context, boardID string, cards []WholeCard) error {
	a := tx.On(boardID)
	for batch := range slices.Chunk(cards, cardBatch) {
		var r rows
		for i := range batch {
			c := &batch[i]
			c.BoardID, c.Number, c.URL = boardID, a.NextNumber, tx.db.opts.BaseURL+"/cards/"+c.ID
			c.SetTimes(tx.now)
			a.NextNumber++
			a.AllCards++
			a.CountOpen(c.Card, 1)
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

// bytes returns the storage that a card and everything on it use, in bytes.
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
	for _, a := range c.AttachmentList {
		n += sizeOf(attachmentTexts(a)...) + sizeOfFile(a)
	}
	return n
}

// insert writes rows with as few statements as possible. Into names the table and its
// columns, in the order of each row's values.
func (tx *Tx) insert(ctx context.Context, into string, rows [][]any) error {
	return sqldb.Batches(rows, func(n int, args []any) error {
		return tx.exec(ctx, "INSERT INTO "+into+" VALUES "+sqldb.Values(n, len(rows[0])), args...)
	})
}
