package store

import (
	"context"
	"database/sql"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

// Siblings describes a table whose rows are ordered within a parent: lists on a board,
// cards in a list, or items in a checklist.
type Siblings struct {
	Table  string
	Parent string // the column with the parent's id
	Noun   string // the name of a row in messages
	open   string // SQL condition for rows that are not archived, including AND
	lock   string // the query that locks a parent's board
}

// AllSiblings returns all tables with ordered rows.
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

// row is a row of a table with ordered rows.
type row struct{ id, parentID, rank string }

// Placement says where a row was and is now. From and To are the ids of the open siblings
// before it; "" at the top. If the row already had the position, Moved is false.
type Placement struct {
	From, To string
	Moved    bool
}

// place finds a position for a row within a parent on the same board, and returns the rank
// that the caller must store if the row moves.
func (tx *Tx) place(ctx context.Context, s Siblings, r row, parentID string, at board.Position) (Placement, string, error) {
	current := r.rank
	if parentID != r.parentID {
		current = ""
	}
	tx.run.Expect(beforeOf(s), r.parentID, r.rank)
	p, err := tx.findPosition(ctx, s, parentID, r.id, current, at)
	if err != nil || p.same {
		return Placement{To: p.after}, "", err
	}
	from, err := tx.before(ctx, s, r.parentID, r.rank)
	return Placement{From: from, To: p.after, Moved: true}, p.rank, err
}

// before returns the id of the last open child of a parent before the given rank, or "" if
// there is none.
func (tx *Tx) before(ctx context.Context, s Siblings, parentID, rank string) (id string, err error) {
	_, err = tx.one(ctx, beforeOf(s), []any{parentID, rank}, &id)
	return id, err
}

func beforeOf(s Siblings) string {
	return "SELECT id FROM " + s.Table + " WHERE " + s.Parent + " = $1 AND rank < $2" + s.open + " ORDER BY rank DESC LIMIT 1"
}

// position is the position of a row among its siblings.
type position struct {
	rank  string
	after string // id of the open sibling before it; "" at the top
	same  bool   // the row already has this position
}

// findPosition returns a position for a row within a parent, whose board must be locked.
// If the rank would be too long, it first gives all children of the parent new ranks.
// Self is the id of a row that is already on the board, or "" for a new row. Current is
// the rank of the row, or "" if the row has another parent or is new.
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

// gap is the space between two adjacent siblings.
type gap struct {
	lo, hi string // the ranks on both sides; "" for no sibling
	end    bool   // the gap is at the top or the bottom
	after  string // if end is set: id of the open sibling before the gap, or ""
}

// gap returns the gap at a position. It takes archived rows into account, because they
// keep their ranks.
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
		if g.hi, err = tx.neighbor(ctx, s, parentID, self, at.Before); err == nil {
			err = edge("max", " AND rank < $3", g.hi)
		}
		g.lo = rank.String
	case at.After != "":
		if g.lo, err = tx.neighbor(ctx, s, parentID, self, at.After); err == nil {
			err = edge("min", " AND rank > $3", g.lo)
		}
		g.hi = rank.String
	default:
		text, args := lastOf(s, parentID, self)
		_, err = tx.one(ctx, text, args, &rank, &last)
		g = gap{lo: rank.String, end: true, after: last.String}
	}
	return g, err
}

// lastOf returns the query for the last rank within a parent, and for the id of the last
// open sibling, both ignoring the row self.
func lastOf(s Siblings, parentID, self string) (text string, args []any) {
	siblings := " FROM " + s.Table + " WHERE " + s.Parent + " = $1 AND id <> $2"
	return "SELECT (SELECT max(rank)" + siblings + "), (SELECT id" + siblings + s.open + " ORDER BY rank DESC LIMIT 1)", []any{parentID, self}
}

// neighbor returns the rank of an open sibling that a position refers to.
func (tx *Tx) neighbor(ctx context.Context, s Siblings, parentID, self, id string) (rank string, err error) {
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

// rerank replaces the ranks of all rows within a parent with short ranks in the same
// order. It records the new rank for each old rank, so that cursors in use stay valid. It
// does not change the board's version, because ranks are not visible.
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
	// (parent, rank) must be unique after every statement, so the first pass writes
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

// rankEpoch returns the rank epoch of a parent: how many times the ranks of its children
// have been rewritten.
func (v *View) rankEpoch(ctx context.Context, parentID string) (int64, error) {
	var epoch sql.NullInt64
	_, err := v.one(ctx, "SELECT max(epoch) FROM reranks WHERE parent_id = $1", []any{parentID}, &epoch)
	return epoch.Int64, err
}

// carryRank translates a cursor of an earlier epoch to the current ranks.
func (v *View) carryRank(ctx context.Context, parentID string, c RankCursor) (RankCursor, error) {
	current, err := v.rankEpoch(ctx, parentID)
	if err != nil {
		return c, err
	}
	for c.Epoch < current {
		c.Epoch++
		// Older records may be incomplete, because they are deleted in slices.
		known, err := v.count(ctx, "SELECT count(*) FROM (SELECT 1 FROM reranks WHERE parent_id = $1 AND epoch = $2 "+
			"AND at >= $3 LIMIT 1) AS e", parentID, c.Epoch, int64(v.now)-rerankLifetime.Milliseconds())
		if err != nil {
			return c, err
		}
		if known == 0 {
			return c, board.Invalid("cursor is too old. Start again without a cursor.").In("cursor", board.RuleValue)
		}
		old := c.Rank
		c.Rank = "" // before all rows
		if _, err := v.one(ctx, "SELECT new_rank FROM reranks WHERE parent_id = $1 AND epoch = $2 AND old_rank <= $3 "+
			"ORDER BY old_rank DESC LIMIT 1",
			[]any{parentID, c.Epoch, old}, &c.Rank); err != nil {
			return c, err
		}
	}
	return c, nil
}

// RankCursor is the position after a page of siblings.
type RankCursor struct {
	Rank  string `json:"r"`          // of the last row of the page
	Epoch int64  `json:"e,omitzero"` // how many times the ranks had been rewritten when the page was read
}

// CurrentCursor translates a cursor to the current ranks within a parent. The zero cursor
// is the beginning. CurrentCursor returns an invalid_request error if the cursor is too
// old.
func (v *View) CurrentCursor(ctx context.Context, parentID string, c RankCursor) (RankCursor, error) {
	if c == (RankCursor{}) {
		epoch, err := v.rankEpoch(ctx, parentID)
		return RankCursor{Epoch: epoch}, err
	}
	return v.carryRank(ctx, parentID, c)
}
