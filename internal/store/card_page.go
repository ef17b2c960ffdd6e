package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
)

// CardPage selects a page of cards of one board, or of all boards that the caller can see.
type CardPage struct {
	BoardID         string // a loaded board; empty for all boards that the caller can see
	WorkspaceID     string // without BoardID: only this workspace; empty for all
	Assigned        bool   // without BoardID: only cards assigned to the caller
	IncludeArchived bool   // without BoardID: also cards of archived boards
	Query           query.Query
	Compact         bool // omit descriptions
	Cursor          CardCursor
	Limit           int
}

// CardCursor marks the end of the previous page. For one board in list order, the cursor
// contains a list and two ranks. For any other order, it contains the sort values of the
// last card.
type CardCursor struct {
	ListID string     `json:"l,omitzero"`
	List   RankCursor `json:"ls,omitzero"`
	Card   RankCursor `json:"cs,omitzero"`
	Values []any      `json:"v,omitempty"`
	Rest   bool       `json:"r,omitzero"` // in order of relevance: the cards whose titles match precede the cursor
}

// Cards returns a page of cards with a cursor for each. Callers request one more card
// than they need, to learn whether there is another page. They continue after the
// second-to-last card, so only the cursor of that card must be complete.
func (v *View) Cards(ctx context.Context, p CardPage) ([]board.Card, []CardCursor, error) {
	var (
		cards   []board.Card
		cursors []CardCursor
		err     error
	)
	switch by := p.Query.Sort.By; {
	case by == query.SortRelevance:
		cards, cursors, err = v.relevantCards(ctx, p)
	case p.BoardID != "" && (by == query.SortNone || by == query.SortPosition):
		cards, cursors, err = v.cardsByPosition(ctx, p)
	default:
		cards, cursors, err = v.sortedCards(ctx, p)
	}
	if err != nil {
		return nil, nil, err
	}
	return cards, cursors, v.hydrate(ctx, cards)
}

// relevantCards reads the cards whose titles match the text of the query, and then the others.
func (v *View) relevantCards(ctx context.Context, p CardPage) ([]board.Card, []CardCursor, error) {
	p.Query.Sort = query.Sort{By: query.SortUpdated, Desc: true}
	where, titles := p.Query.Where, p.Query.InTitles()
	if titles == nil {
		return v.sortedCards(ctx, p)
	}
	var (
		cards   []board.Card
		cursors []CardCursor
		err     error
	)
	if !p.Cursor.Rest {
		p.Query.Where = slices.Concat(where, titles)
		cards, cursors, err = v.sortedCards(ctx, p)
		if p.Limit -= len(cards); err != nil || p.Limit == 0 {
			return cards, cursors, err
		}
		p.Cursor = CardCursor{}
	}
	elsewhere := query.Or{}
	for _, n := range titles {
		elsewhere = append(elsewhere, query.Not{Node: n})
	}
	p.Query.Where = append(slices.Clone(where), elsewhere)
	rest, restCursors, err := v.sortedCards(ctx, p)
	for i := range restCursors {
		restCursors[i].Rest = true
	}
	return append(cards, rest...), append(cursors, restCursors...), err
}

// columns returns the card columns that a query for the page selects.
func (p CardPage) columns() string {
	if p.Compact {
		return cardColumns
	}
	return cardColumns + ", c.description"
}

func (p CardPage) scan(rows *sql.Rows, extra ...any) (board.Card, error) {
	var c board.Card
	dest := cardDest(&c)
	if p.Compact {
		dest = dest[:len(dest)-1]
	}
	err := rows.Scan(append(dest, extra...)...)
	return c, err
}

// cardsByPosition reads one board list by list. It first reads the rest of the list in
// which the previous page ended, and then the lists after that list. It reads both from
// indexes, so that later pages cost no more than the first one.
func (v *View) cardsByPosition(ctx context.Context, p CardPage) ([]board.Card, []CardCursor, error) {
	cards := []board.Card{}
	var cursors []CardCursor
	plan, err := v.plan(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	lists, err := v.CurrentCursor(ctx, p.BoardID, p.Cursor.List)
	if err != nil {
		return nil, nil, err
	}
	dir := direction(p.Query.Sort.Desc)
	if p.Cursor.ListID != "" {
		at, err := v.CurrentCursor(ctx, p.Cursor.ListID, p.Cursor.Card)
		if err != nil {
			return nil, nil, err
		}
		var a sqldb.Args
		text := "SELECT " + p.columns() + " FROM cards c JOIN lists l ON l.id = c.list_id WHERE c.list_id = " +
			a.Add(p.Cursor.ListID) + " AND c.board_id = " + a.Add(p.BoardID) +
			" AND c.rank " + dir.beyond + a.Add(at.Rank) + " AND " + plan.condition(&a) +
			" ORDER BY c.rank" + dir.order + ", c.id" + dir.order + " LIMIT " + a.Add(p.Limit)
		err = v.each(ctx, text, a, func(rows *sql.Rows) error {
			c, err := p.scan(rows)
			cards = append(cards, c)
			cursors = append(cursors, CardCursor{ListID: c.ListID, List: lists, Card: RankCursor{c.Rank, at.Epoch}})
			return err
		})
		if err != nil || len(cards) == p.Limit {
			return cards, cursors, err
		}
	}
	var a sqldb.Args
	condition, limit := plan.condition(&a), a.Add(p.Limit-len(cards))
	text := "SELECT " + p.columns() + ", l.rank FROM lists l JOIN cards c ON c.list_id = l.id AND " + condition
	if plan.dialect.RowLocks { // otherwise PostgreSQL sorts all cards of the board to find the first few
		text = "SELECT " + p.columns() + ", l.rank FROM lists l CROSS JOIN LATERAL (SELECT * FROM cards c " +
			"WHERE c.list_id = l.id AND " + condition +
			" ORDER BY c.rank" + dir.order + " LIMIT " + limit + ") AS c"
	}
	text += " WHERE l.board_id = " + a.Add(p.BoardID) + " AND l.id <> " + a.Add(p.Cursor.ListID)
	if p.Cursor.ListID != "" {
		text += " AND l.rank " + dir.beyond + a.Add(lists.Rank)
	}
	text += " ORDER BY l.rank" + dir.order + ", c.rank" + dir.order + " LIMIT " + limit
	err = v.each(ctx, text, a, func(rows *sql.Rows) error {
		m := CardCursor{List: lists}
		c, err := p.scan(rows, &m.List.Rank)
		m.ListID, m.Card.Rank = c.ListID, c.Rank
		cards, cursors = append(cards, c), append(cursors, m)
		return err
	})
	if n := len(cursors); err == nil && n == p.Limit && n > 1 {
		// Callers use only the cursor of the second-to-last card.
		last := &cursors[n-2]
		last.Card.Epoch, err = v.rankEpoch(ctx, last.ListID)
	}
	return cards, cursors, err
}

// sortDirection contains the SQL for a sort direction.
type sortDirection struct{ order, beyond string }

func direction(desc bool) sortDirection {
	if desc {
		return sortDirection{" DESC", "< "}
	}
	return sortDirection{"", "> "}
}

// sortKeys returns the SQL expressions to sort by, ending with the id. Cards without a
// value come last in both directions.
func sortKeys(s query.Sort) []string {
	last, end := "'9999'", "9007199254740991"
	if s.Desc {
		last, end = "''", "-1"
	}
	switch s.By {
	case query.SortDue:
		return []string{"COALESCE(c.due_date, " + last + ")", "COALESCE(c.due_at, " + end + ")", "c.id"}
	case query.SortStart:
		return []string{"COALESCE(c.start_date, " + last + ")", "COALESCE(c.start_at, " + end + ")", "c.id"}
	case query.SortCreated:
		return []string{"c.created_at", "c.id"}
	case query.SortUpdated:
		return []string{"c.updated_at", "c.id"}
	case query.SortTitle:
		return []string{"c.title", "c.id"}
	case query.SortNone, query.SortPosition:
	}
	return []string{"c.board_id", "l.rank", "c.rank", "c.id"}
}

func orderBy(s query.Sort) string {
	order := direction(s.Desc).order
	return " ORDER BY " + strings.Join(sortKeys(s), order+", ") + order
}

// sortedCards reads the cards after the cursor in the query's sort order, of one board or
// of all boards that the caller can see. When it reads the newest cards across boards, it
// first scans the newest cards on the server in growing windows, each starting where the
// previous one ended. It skips the scans if another index is selective enough or there
// are few cards. If the windows contain few matches, it looks for an index again before
// it scans all cards: reading many candidates can then cost less.
func (v *View) sortedCards(ctx context.Context, p CardPage) ([]board.Card, []CardCursor, error) {
	plan, err := v.plan(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if n := len(p.Cursor.Values); n > 0 && n != len(sortKeys(p.Query.Sort)) {
		return nil, nil, board.Invalid("cursor was issued for a different sort order. Omit cursor to start again.").
			In("cursor", board.RuleValue)
	}
	if plan.none() {
		return []board.Card{}, nil, nil
	}
	scans, err := v.newestScans(ctx, plan)
	if err != nil {
		return nil, nil, err
	}
	cards, cursors, scanned, began := []board.Card{}, []CardCursor{}, 0, time.Now()
	for _, scan := range scans {
		if scan.toEnd {
			perCard := time.Since(began) / time.Duration(max(scanned, 1))
			rest := time.Duration(scan.remaining(scanned, len(cards), plan.Limit))
			if err := v.lateLead(ctx, &plan, rest*perCard); err != nil {
				return nil, nil, err
			}
			if plan.lead >= 0 || plan.bySpan {
				break
			}
		}
		scanned = scan.own
		plan.newest, plan.since = true, 0
		if !scan.toEnd {
			if plan.since, err = v.changedSince(ctx, plan, scan.cards); err != nil {
				return nil, nil, err
			}
			scan.toEnd = plan.since == 0 // the scan covers more cards than are left
		}
		if !scan.toEnd && plan.until > 0 && plan.since >= plan.until {
			continue // the previous scan used an older horizon and covered these cards
		}
		if plan.byBoard = scan.maxOwn > 0; plan.byBoard {
			few, err := v.fewChanged(ctx, plan, scan.maxOwn)
			if err != nil {
				return nil, nil, err
			}
			if !few {
				break
			}
		}
		more, moreCursors, err := v.readSorted(ctx, plan)
		if err != nil {
			return nil, nil, err
		}
		cards, cursors = append(cards, more...), append(cursors, moreCursors...)
		if plan.Limit -= len(more); plan.Limit == 0 || scan.toEnd {
			return cards, cursors, nil
		}
		plan.until = plan.since
	}
	plan.newest, plan.since, plan.byBoard = false, 0, false
	more, moreCursors, err := v.readSorted(ctx, plan)
	return append(cards, more...), append(cursors, moreCursors...), err
}

func (v *View) readSorted(ctx context.Context, p plan) ([]board.Card, []CardCursor, error) {
	var a sqldb.Args
	dir := direction(p.Query.Sort.Desc)
	keys := sortKeys(p.Query.Sort)
	text := "SELECT " + p.columns() + ", " + strings.Join(keys, ", ") + " FROM cards c JOIN lists l ON l.id = " +
		"c.list_id WHERE " + p.scope(v, &a)
	if len(p.Cursor.Values) > 0 {
		cursors := make([]string, len(keys))
		for i, value := range p.Cursor.Values {
			if number, ok := value.(float64); ok {
				value = int64(number)
			}
			cursors[i] = a.Add(value)
		}
		text += fmt.Sprintf(" AND (%s) %s(%s)", strings.Join(keys, ", "), dir.beyond, strings.Join(cursors, ", "))
	}
	text += " AND " + p.condition(&a) + orderBy(p.Query.Sort) + " LIMIT " + a.Add(p.Limit)
	cards := []board.Card{}
	var cursors []CardCursor
	err := v.each(ctx, text, a, func(rows *sql.Rows) error {
		m := CardCursor{Values: make([]any, len(keys))}
		dest := make([]any, len(keys))
		for i := range dest {
			dest[i] = &m.Values[i]
		}
		c, err := p.scan(rows, dest...)
		cards, cursors = append(cards, c), append(cursors, m)
		return err
	})
	return cards, cursors, err
}
