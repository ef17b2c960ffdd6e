package store

import (
	"context"
	"database/sql"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// Siblings describe a table whose rows are ordered below a parent: lists on a
// board, cards in a list, items in a checklist.
type Siblings struct {
	Table  string
	Parent string // the column of the parent's id
	Noun   string // what messages call a row
	open   string // the condition of a row that people see
	lock   string // locks the board of a parent
}

// AllSiblings returns all tables with an order.
func AllSiblings() []Siblings { return []Siblings{listSiblings(), cardSiblings(), itemSiblings()} }

func listSiblings() Siblings {
	return Siblings{Table: "lists", Parent: "board_id", Noun: "list", open: " AND archived_at IS NULL", lock: boardLock}
}

func cardSiblings() Siblings {
	return Siblings{Table: "cards", Parent: "list_id", Noun: "card", open: " AND archived_at IS NULL", lock: listLock}
}

func itemSiblings() Siblings {
	return Siblings{Table: "checklist_items", Parent: "checklist_id", Noun: "item", lock: checklistLock}
}

// position is where a row belongs among its siblings.
type position struct {
	rank  string
	after string // the open sibling before it; "" at the top
	same  bool   // the row is there already
}

// findPosition returns the position of a row below a parent, whose board must be
// locked. Self is the row that moves and current its rank below this parent; both
// are empty for a new row.
func (tx *Tx) findPosition(ctx context.Context, s Siblings, parentID, self, current string, at board.Position) (position, error) {
	g, err := tx.gap(ctx, s, parentID, self, at)
	if err != nil {
		return position{}, err
	}
	p := position{rank: current, after: g.after}
	if current != "" && g.lo < current && (g.hi == "" || current < g.hi) {
		p.same = true
	} else if p.rank, err = board.RankBetween(g.lo, g.hi); err != nil {
		return position{}, fmt.Errorf("rank in %s %s: %w", s.Table, parentID, err)
	}
	if len(p.rank) > board.RankLimit && !p.same {
		if err := tx.rerank(ctx, s, parentID); err != nil {
			return position{}, err
		}
		if g, err = tx.gap(ctx, s, parentID, self, at); err != nil {
			return position{}, err
		}
		if p.rank, err = board.RankBetween(g.lo, g.hi); err != nil {
			return position{}, fmt.Errorf("rank in %s %s: %w", s.Table, parentID, err)
		}
	}
	if g.end {
		return p, nil
	}
	_, err = tx.one(ctx, "SELECT id FROM "+s.Table+" WHERE "+s.Parent+" = $1 AND rank < $2 AND id <> $3"+s.open+" ORDER BY rank DESC LIMIT 1",
		[]any{parentID, p.rank, self}, &p.after)
	return p, err
}

// gap is the place between two siblings.
type gap struct {
	lo, hi string // the ranks on both sides; "" for none
	end    bool   // the top or the bottom
	after  string // at an end: the open sibling before it, "" for none
}

// gap returns the gap at a position. Archived rows count, because they keep their
// ranks.
func (tx *Tx) gap(ctx context.Context, s Siblings, parentID, self string, at board.Position) (g gap, err error) {
	var rank, last sql.NullString
	edge := func(aggregate, condition string, args ...any) error {
		_, err := tx.one(ctx, "SELECT "+aggregate+"(rank) FROM "+s.Table+" WHERE "+s.Parent+" = $1 AND id <> $2"+condition,
			append([]any{parentID, self}, args...), &rank)
		return err
	}
	switch {
	case at.Top:
		err = edge("min", "")
		g.hi, g.end = rank.String, true
	case at.Before != "":
		if g.hi, err = tx.neighbour(ctx, s, parentID, self, at.Before); err == nil {
			err = edge("max", " AND rank < $3", g.hi)
		}
		g.lo = rank.String
	case at.After != "":
		if g.lo, err = tx.neighbour(ctx, s, parentID, self, at.After); err == nil {
			err = edge("min", " AND rank > $3", g.lo)
		}
		g.hi = rank.String
	default:
		siblings := " FROM " + s.Table + " WHERE " + s.Parent + " = $1 AND id <> $2"
		_, err = tx.one(ctx, "SELECT (SELECT max(rank)"+siblings+"), (SELECT id"+siblings+s.open+" ORDER BY rank DESC LIMIT 1)",
			[]any{parentID, self}, &rank, &last)
		g = gap{lo: rank.String, end: true, after: last.String}
	}
	return g, err
}

func (tx *Tx) neighbour(ctx context.Context, s Siblings, parentID, self, id string) (rank string, err error) {
	found, err := tx.one(ctx, "SELECT rank FROM "+s.Table+" WHERE id = $1 AND "+s.Parent+" = $2"+s.open, []any{id, parentID}, &rank)
	if err != nil {
		return "", err
	}
	if !found || id == self {
		return "", board.Invalid("position must name another open %s with the same parent; %q is not one.", s.Noun, id).
			In("position", board.RuleValue)
	}
	return rank, nil
}

// rerank rewrites the ranks of all rows below a parent with short ones in the same
// order. It records the new rank of each old one for cursors that are in use. The
// board's version stays, because ranks are not visible.
func (tx *Tx) rerank(ctx context.Context, s Siblings, parentID string) error {
	var ids, old []string
	err := tx.each(ctx, "SELECT id, rank FROM "+s.Table+" WHERE "+s.Parent+" = $1 ORDER BY rank", []any{parentID}, func(rows *sql.Rows) error {
		var id, rank string
		err := rows.Scan(&id, &rank)
		ids, old = append(ids, id), append(old, rank)
		return err
	})
	if err != nil {
		return err
	}
	ranks, err := board.RanksAfter("", len(ids))
	if err != nil {
		return err
	}
	epoch, err := tx.rankEpoch(ctx, parentID)
	if err != nil {
		return err
	}
	// (parent, rank) is unique after every statement, so the first pass writes
	// each rank with a prefix that no rank begins with.
	changed, records := make([][]any, len(ids)), make([][]any, len(ids))
	for i, id := range ids {
		changed[i] = []any{id, "!" + ranks[i]}
		records[i] = []any{parentID, epoch + 1, old[i], ranks[i], int64(tx.now)}
	}
	if err := sqldb.Batches(changed, func(n int, args []any) error {
		return tx.exec(ctx, "WITH q (id, rank) AS ("+typedValues(n, "TEXT", "TEXT")+") UPDATE "+s.Table+
			" SET rank = q.rank FROM q WHERE q.id = "+s.Table+".id", args...)
	}); err != nil {
		return fmt.Errorf("rerank: %w", err)
	}
	if err := tx.insert(ctx, "reranks (parent_id, epoch, old_rank, new_rank, at)", records); err != nil {
		return fmt.Errorf("rerank: %w", err)
	}
	return tx.exec(ctx, "UPDATE "+s.Table+" SET rank = substr(rank, 2) WHERE "+s.Parent+" = $1", parentID)
}

// rankEpoch returns how often the ranks below a parent were rewritten.
func (v *View) rankEpoch(ctx context.Context, parentID string) (int64, error) {
	var epoch sql.NullInt64
	_, err := v.one(ctx, "SELECT max(epoch) FROM reranks WHERE parent_id = $1", []any{parentID}, &epoch)
	return epoch.Int64, err
}

// carryRank translates a cursor of an earlier epoch to the current ranks.
func (v *View) carryRank(ctx context.Context, parentID string, m RankCursor) (RankCursor, error) {
	now, err := v.rankEpoch(ctx, parentID)
	if err != nil {
		return m, err
	}
	for m.Epoch < now {
		m.Epoch++
		known, err := v.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM reranks WHERE parent_id = $1 AND epoch = $2 "+
			"LIMIT 1) AS e", parentID, m.Epoch)
		if err != nil {
			return m, err
		}
		if known == 0 {
			return m, board.Invalid("cursor is too old. Start again without a cursor.").In("cursor", board.RuleValue)
		}
		old := m.Rank
		m.Rank = "" // before all rows
		if _, err := v.one(ctx, "SELECT new_rank FROM reranks WHERE parent_id = $1 AND epoch = $2 AND old_rank <= $3 "+
			"ORDER BY old_rank DESC LIMIT 1",
			[]any{parentID, m.Epoch, old}, &m.Rank); err != nil {
			return m, err
		}
	}
	return m, nil
}

// RankCursor is where a page of siblings ended.
type RankCursor struct {
	Rank  string `json:"r"`          // of the last row
	Epoch int64  `json:"e,omitzero"` // how often the ranks had been rewritten when it was read
}

// CurrentCursor translates a cursor to the current ranks below a parent. The zero
// cursor is the beginning. It returns board.CodeInvalidRequest for a
// cursor that is too old.
func (v *View) CurrentCursor(ctx context.Context, parentID string, m RankCursor) (RankCursor, error) {
	if m == (RankCursor{}) {
		epoch, err := v.rankEpoch(ctx, parentID)
		return RankCursor{Epoch: epoch}, err
	}
	return v.carryRank(ctx, parentID, m)
}
