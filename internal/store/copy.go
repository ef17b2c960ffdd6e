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

// A copy and a move to another board read and write many cards at once, each
// with all that hangs on it.

// WholeCard is a card with all that hangs on it.
type WholeCard struct {
	board.CardDetail
	CommentList []board.Comment // oldest first; nil when the comments were not asked for
}

// cardsAtOnce is how many cards are read and written at a time.
const cardsAtOnce = 256

// CardsOf are the cards of a list on a board that a loader has loaded, whole
// but for their comments, in their order; archived ones only when asked for.
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

// WholeCard is a card that a loader has loaded, with its checklists and, when
// asked for, its comments.
func (v *View) WholeCard(ctx context.Context, c board.Card, comments bool) (w WholeCard, err error) {
	w.Card = c
	if w.Checklists, err = v.Checklists(ctx, c.ID); err != nil || !comments {
		return w, err
	}
	w.CommentList, err = v.Comments(ctx, c.ID, "", c.Comments)
	return w, err
}

// addChecklists reads the checklists of many cards.
func (v *View) addChecklists(ctx context.Context, cards []WholeCard) error {
	at := make(map[string]int, len(cards))
	ids := make([]string, len(cards))
	for i := range cards {
		cards[i].Checklists = []board.Checklist{}
		at[cards[i].ID], ids[i] = i, cards[i].ID
	}
	type place struct{ card, checklist int }
	places := map[string]place{}
	return sqldb.InChunks(ids, func(in string, args []any) error {
		err := v.each(ctx, "SELECT "+checklistColumns+" FROM checklists k WHERE k.card_id IN ("+in+") ORDER BY k.card_id, k.id", args, func(rows *sql.Rows) error {
			k := board.Checklist{Items: []board.ChecklistItem{}}
			if err := rows.Scan(checklistDest(&k)...); err != nil {
				return err
			}
			c := &cards[at[k.CardID]]
			places[k.ID] = place{at[k.CardID], len(c.Checklists)}
			c.Checklists = append(c.Checklists, k)
			return nil
		})
		if err != nil {
			return fmt.Errorf("read checklists: %w", err)
		}
		return v.each(ctx, "SELECT "+itemColumns+" FROM checklist_items i JOIN checklists k ON k.id = i.checklist_id WHERE k.card_id IN ("+in+") ORDER BY i.checklist_id, i.rank, i.id",
			args, func(rows *sql.Rows) error {
				var i board.ChecklistItem
				if err := rows.Scan(itemDest(&i)...); err != nil {
					return err
				}
				i.Done = i.DoneAt != nil
				p := places[i.ChecklistID]
				k := &cards[p.card].Checklists[p.checklist]
				k.Items = append(k.Items, i)
				return nil
			})
	})
}

// NewCardRank is the rank of a new card at a position of a list, and the open
// card that it will stand behind.
func (tx *Tx) NewCardRank(ctx context.Context, listID string, at board.Position) (rank, after string, err error) {
	p, err := tx.findPosition(ctx, cardSiblings(), listID, "", "", at)
	return p.rank, p.after, err
}

// InsertCards writes new open cards with all that hangs on them to a board
// that a loader has loaded. List, rank, ids and contents are the caller's, the
// ranks of items excepted; numbers, counts, addresses and times are made here,
// but for those of comments, which stay.
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

// newRows are the rows of new cards, table by table.
type newRows struct {
	cards, labels, assignees, checklists, items, comments, texts [][]any
}

func (r *newRows) add(c *WholeCard, now int64) error {
	r.text(c.ID, query.InTitle, "", c.Title)
	r.text(c.ID, query.InDescription, "", *c.Description)
	for _, l := range c.Labels {
		r.labels = append(r.labels, []any{c.ID, l.ID})
	}
	for i, u := range c.Assignees { // their order is that of being assigned
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
			r.items = append(r.items, []any{i.ID, k.ID, i.Title, i.Rank, instant(i.DoneAt), now, now})
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
		var author any
		if m.Author != nil {
			author = m.Author.ID
		}
		r.comments = append(r.comments, []any{m.ID, c.ID, author, m.GuestName, m.Text, int64(m.CreatedAt), instant(m.EditedAt)})
		r.text(c.ID, query.InComment, m.ID, m.Text)
	}
	r.cards = append(r.cards, []any{c.ID, c.BoardID, c.ListID, c.Rank, c.Number, c.Title, instant(c.DoneAt), c.DueDate, instant(c.DueAt), c.StartDate, instant(c.StartAt),
		c.TimeZone, c.ChecklistItems.Done, c.ChecklistItems.Total, c.Comments, c.CreatedBy, int64(c.CreatedAt), int64(c.UpdatedAt), *c.Description})
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
		{"cards (id, board_id, list_id, rank, number, title, done_at, due_date, due_at, start_date, start_at, time_zone, items_done, items_total, comments, created_by, created_at, updated_at, description)", r.cards},
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

// insert writes rows into a table, many with one statement. Into is the table
// and its columns, in the order of the values of each row.
func (tx *Tx) insert(ctx context.Context, into string, rows [][]any) error {
	return sqldb.Batches(rows, func(n int, args []any) error {
		return tx.exec(ctx, "INSERT INTO "+into+" VALUES "+sqldb.Values(n, len(rows[0])), args...)
	})
}
