package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
)

// CardPage selects a page of cards of one board, or of all boards that the caller
// sees.
type CardPage struct {
	BoardID         string // a board that a loader has loaded; empty for all that the caller sees
	WorkspaceID     string // without a board: only this workspace; empty for all
	Assigned        bool   // without a board: only cards assigned to the caller
	IncludeArchived bool   // without a board: cards of archived boards too
	Query           query.Query
	Compact         bool // without descriptions
	Cursor          CardCursor
	Limit           int
}

// CardCursor is where the previous page ended. On one board in the order of its
// lists it is a list and ranks; in every other order it is the sort values of the
// last card.
type CardCursor struct {
	ListID string     `json:"l,omitzero"`
	List   RankCursor `json:"ls,omitzero"`
	Card   RankCursor `json:"cs,omitzero"`
	Values []any      `json:"v,omitempty"`
}

// Cards returns a page of cards with a cursor for each. Only the cursor of the
// second-to-last card is complete. The last card of a full page only shows that
// there are more.
func (v *View) Cards(ctx context.Context, p CardPage) ([]board.Card, []CardCursor, error) {
	var (
		cards   []board.Card
		cursors []CardCursor
		err     error
	)
	if by := p.Query.Sort.By; p.BoardID != "" && (by == query.SortNone || by == query.SortPosition) {
		cards, cursors, err = v.cardsByPosition(ctx, p)
	} else {
		cards, cursors, err = v.sortedCards(ctx, p)
	}
	if err != nil {
		return nil, nil, err
	}
	return cards, cursors, v.hydrate(ctx, cards)
}

// columns returns the columns of a page. A query may append its own.
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

// cardsByPosition reads one board list by list. The rest of the list in which the
// previous page ended, and the lists after it, are read from their indexes, so
// every page costs the same.
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
	if plan.dialect.RowLocks { // PostgreSQL would sort all cards of the board for their first ones
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
		// Only the cursor of the second-to-last card is used.
		last := &cursors[n-2]
		last.Card.Epoch, err = v.rankEpoch(ctx, last.ListID)
	}
	return cards, cursors, err
}

// sortDirection is the SQL of a sort direction.
type sortDirection struct{ order, beyond string }

func direction(desc bool) sortDirection {
	if desc {
		return sortDirection{" DESC", "< "}
	}
	return sortDirection{"", "> "}
}

// sortKeys returns the expressions of a sort order, the id last. Cards without a
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

// sortedCards reads cards in any order, of one board or of all that the caller
// sees, after the cursor. For the newest cards of all boards it first scans the
// newest cards of the server, a few and then more, unless another index or a
// small number of cards makes that unnecessary.
func (v *View) sortedCards(ctx context.Context, p CardPage) ([]board.Card, []CardCursor, error) {
	plan, err := v.plan(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if n := len(p.Cursor.Values); n > 0 && n != len(sortKeys(p.Query.Sort)) {
		return nil, nil, board.Invalid("cursor is not one of this order.").In("cursor", board.RuleValue)
	}
	scans, err := v.newestScans(ctx, plan)
	if err != nil {
		return nil, nil, err
	}
	for _, scan := range scans {
		if plan.since, err = v.changedSince(ctx, plan, scan.cards); err != nil {
			return nil, nil, err
		}
		if plan.since == 0 {
			break
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
		if cards, cursors, err := v.readSorted(ctx, plan); err != nil || len(cards) == p.Limit {
			return cards, cursors, err
		}
	}
	plan.since, plan.byBoard = 0, false
	return v.readSorted(ctx, plan)
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
