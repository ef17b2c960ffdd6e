package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// A new board with contents is written as a draft: a small one in one transaction,
// a large one by a job.

const (
	smallBoard  = 500 // maximum number of open cards of a board that one transaction copies
	cardsAtOnce = 250 // maximum number of cards read at a time
)

// draftBoard adds b to a draft as a new board of the caller. It keeps the name,
// description, color, visibility and features of b, but disables the public page.
func draftBoard(ctx context.Context, d *store.Draft, b *board.Board) error {
	v := d.View()
	b.ID, b.CreatedBy, b.CreatedAt, b.UpdatedAt = d.NewID("brd_"), v.Caller().Person(), v.Now(), v.Now()
	b.Features.PublicPage = false // nobody has published the new board
	if err := d.Board(ctx, b); err != nil {
		return err
	}
	return d.Emit(ctx, b.ID, boardCreated(*b))
}

// endBoard completes a board of a draft and flushes the draft. It sets the version and
// the numbers of cards in b.
func endBoard(ctx context.Context, d *store.Draft, b *board.Board) error {
	a := d.On(b.ID)
	b.Version, b.OpenCards, b.Unfinished = a.Version, a.OpenCards, a.Unfinished()
	if err := d.EndBoard(ctx, b.ID, 0); err != nil {
		return err
	}
	return d.Flush(ctx)
}

// draftLabels adds copies of labels to a board of a draft. It overwrites the labels with
// the copies.
func draftLabels(ctx context.Context, d *store.Draft, boardID string, labels []board.Label) error {
	v := d.View()
	if err := board.CheckLimit("labels on a board", 0, len(labels), v.Limits().Labels); err != nil {
		return err
	}
	for i := range labels {
		l := &labels[i]
		l.ID, l.BoardID, l.CreatedAt, l.UpdatedAt = d.NewID("lbl_"), boardID, v.Now(), v.Now()
		if err := d.Label(ctx, l); err != nil {
			return err
		}
		if err := d.Emit(ctx, boardID, board.LabelCreated(*l)); err != nil {
			return err
		}
	}
	return nil
}

// draftOrder adds lists and cards to a board of a draft, each after the previous
// one.
type draftOrder struct {
	lastList, lastListRank string
	lastCard, lastCardRank string // in the last list
}

// list adds a copy of a list. It overwrites l with the copy.
func (o *draftOrder) list(ctx context.Context, d *store.Draft, boardID string, l *board.List) (err error) {
	v := d.View()
	if err := board.CheckLimit("open lists on a board", d.On(boardID).OpenLists, 1, v.Limits().OpenLists); err != nil {
		return err
	}
	l.ID, l.BoardID, l.CreatedAt, l.UpdatedAt, l.OpenCards = d.NewID("lst_"), boardID, v.Now(), v.Now(), 0
	if l.Rank, err = board.RankBetween(o.lastListRank, ""); err != nil {
		return err
	}
	if err := d.List(ctx, l); err != nil {
		return err
	}
	after := o.lastList
	*o = draftOrder{lastList: l.ID, lastListRank: l.Rank}
	return d.Emit(ctx, boardID, board.ListCreated(*l, after))
}

// cards adds copies of cards at the end of the last list. It overwrites the cards with
// the copies.
func (o *draftOrder) cards(ctx context.Context, d *store.Draft, boardID, listID string, cards []store.WholeCard,
	keepDone bool) (err error) {
	v, a := d.View(), d.On(boardID)
	if err := roomForCards(a, v.Limits(), len(cards), len(cards)); err != nil {
		return err
	}
	makeNew(v, cards, listID, keepDone)
	for i := range cards {
		c := &cards[i]
		c.BoardID, c.Number, c.URL = boardID, a.NextNumber, v.Link("/cards/"+c.ID)
		c.SetTimes(v.Now())
		if c.Rank, err = board.RankBetween(o.lastCardRank, ""); err != nil {
			return err
		}
		if err := d.Card(ctx, c); err != nil {
			return err
		}
		if err := d.Emit(ctx, boardID, board.CardCopied(c.CardDetail, o.lastCard)); err != nil {
			return err
		}
		o.lastCard, o.lastCardRank = c.ID, c.Rank
	}
	return nil
}
