package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/query"
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

// cardsAtOnce is how many cards are read or written at a time.
const cardsAtOnce = 256

// CardsOf returns the cards of a list in their order, without comments. The list's
// board must be loaded. Archived cards are included on request.
func (v *View) CardsOf(ctx context.Context, listID string, archived bool) ([]WholeCard, error) {
	text := "SELECT " + cardColumns + ", c.description FROM cards c JOIN lists l ON l.id = c.list_id WHERE c.list_id = $1"
	if !archived {
		text += " AND " + search.OpenCard
	}
	var cards []board.Card
	err := v.each(ctx, text+" ORDER BY c.rank, c.id", []any{listID}, func(rows *sql.Rows) error {
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
		var rows newRows
		for i := range piece {
			c := &piece[i]
			c.BoardID, c.Number, c.URL = boardID, a.NextNumber, tx.db.opts.BaseURL+"/cards/"+c.ID
			c.CreatedAt, c.UpdatedAt = tx.now, tx.now
			a.NextNumber++
			a.AllCards++
			a.OpenCards++
			tx.grow(boardID, c.bytes(), 0)
			if err := rows.add(c, int64(tx.now)); err != nil {
				return err
			}
		}
		if err := rows.write(ctx, tx); err != nil {
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

// newRows collects the rows of new cards by table.
type newRows struct {
	cards, labels, assignees, checklists, items, comments, texts [][]any
}

func (r *newRows) add(c *WholeCard, now int64) error {
	r.text(c.ID, query.InTitle, "", c.Title)
	r.text(c.ID, query.InDescription, "", *c.Description)
	for _, l := range c.Labels {
		r.labels = append(r.labels, []any{c.ID, l.ID})
	}
	for i, u := range c.Assignees { // sorted by the time of assignment
		r.assignees = append(r.assignees, []any{c.ID, u.ID, now + int64(i)})
	}
	c.ChecklistItems = board.ItemCount{}
	for n := range c.Checklists {
		k := &c.Checklists[n]
		k.CardID = c.ID
		r.checklists = append(r.checklists, []any{k.ID, c.ID, k.Title, now, now})
		r.text(c.ID, query.InChecklist, k.ID, k.Title)
		ranks, err := board.RanksAfter("", len(k.Items))
		if err != nil {
			return err
		}
		for n := range k.Items {
			i := &k.Items[n]
			i.ChecklistID, i.Rank = k.ID, ranks[n]
			r.items = append(r.items, []any{i.ID, k.ID, i.Title, i.Rank, null(i.DoneAt), now, now})
			r.text(c.ID, query.InChecklist, i.ID, i.Title)
			c.ChecklistItems.Total++
			if i.Done = i.DoneAt != nil; i.Done {
				c.ChecklistItems.Done++
			}
		}
	}
	c.Comments = len(c.CommentList)
	for n := range c.CommentList {
		m := &c.CommentList[n]
		m.CardID = c.ID
		r.comments = append(r.comments, []any{m.ID, c.ID, null(authorID(m.Author)), m.GuestName, m.Text, int64(m.CreatedAt), null(m.EditedAt)})
		r.text(c.ID, query.InComment, m.ID, m.Text)
	}
	r.cards = append(r.cards, []any{c.ID, c.BoardID, c.ListID, c.Rank, c.Number, c.Title, null(c.DoneAt), c.DueDate,
		null(c.DueAt), c.StartDate, null(c.StartAt),
		c.TimeZone, c.ChecklistItems.Done, c.ChecklistItems.Total, c.Comments, c.CreatedBy, int64(c.CreatedAt),
		int64(c.UpdatedAt), *c.Description})
	return nil
}

func (r *newRows) text(cardID string, place query.Place, ref, text string) {
	if words := search.IndexedText(text); words != "" {
		r.texts = append(r.texts, []any{cardID, string(place), ref, words})
	}
}

func (r *newRows) write(ctx context.Context, tx *Tx) error {
	for _, table := range []struct {
		into string
		rows [][]any
	}{
		{"cards (id, board_id, list_id, rank, number, title, done_at, due_date, due_at, start_date, start_at, time_zone, items_done, " +
			"items_total, comments, created_by, created_at, updated_at, description)", r.cards},
		{"card_labels (card_id, label_id)", r.labels},
		{"card_assignees (card_id, user_id, assigned_at)", r.assignees},
		{"checklists (id, card_id, title, created_at, updated_at)", r.checklists},
		{"checklist_items (id, checklist_id, title, rank, done_at, created_at, updated_at)", r.items},
		{"comments (id, card_id, author_id, guest_name, text, created_at, edited_at)", r.comments},
		{"texts (card_id, place, ref, words)", r.texts},
	} {
		if err := tx.insert(ctx, table.into, table.rows); err != nil {
			name, _, _ := strings.Cut(table.into, " ")
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	return nil
}

// insert writes rows with as few statements as possible. Into names the table and
// its columns, in the order of the values of each row.
func (tx *Tx) insert(ctx context.Context, into string, rows [][]any) error {
	return sqldb.Batches(rows, func(n int, args []any) error {
		return tx.exec(ctx, "INSERT INTO "+into+" VALUES "+sqldb.Values(n, len(rows[0])), args...)
	})
}
