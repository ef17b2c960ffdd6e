package store

import (
	"context"
	"database/sql"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// Lead is which term of the query leads on all boards that the caller sees.
func (v *View) Lead(ctx context.Context, q query.Query) (int, error) {
	p, err := v.plan(ctx, CardPage{Query: q})
	return p.lead, err
}

// MostWorkspaces is in how many workspaces a word is looked up at once.
const MostWorkspaces = search.MaxWorkspaces

// Led is how many texts or cards the lead of a page finds; 0 without one.
func (v *View) Led(ctx context.Context, p CardPage) (int, error) {
	out, err := v.plan(ctx, p)
	return out.found, err
}

// CanLead tells whether a term of the query has an index.
func (v *View) CanLead(ctx context.Context, q query.Query, i int) bool {
	p, err := v.plan(ctx, CardPage{Query: q})
	_, ok := search.Compiler{Args: &sqldb.Args{}, Caller: v.caller, Workspaces: p.indexed}.Candidates(p.dialect, p.where[i], false)
	return err == nil && ok
}

// Matching are the cards that satisfy a query, read from the index of one of
// its terms, or for -1 one by one; newest looks for what that index finds among
// the newest cards.
func (v *View) Matching(ctx context.Context, q query.Query, lead int, newest bool) ([]string, error) {
	p, err := v.plan(ctx, CardPage{Query: q})
	if err != nil {
		return nil, err
	}
	p.lead = lead
	if newest {
		p.since = 1
	}
	var a sqldb.Args
	return v.texts(ctx, "SELECT c.id FROM cards c JOIN lists l ON l.id = c.list_id WHERE "+p.condition(&a)+" ORDER BY c.id", a...)
}

// Newest reads a page from about so many of the server's newest cards, board by
// board; few tells whether no more than most of them are of the caller's boards.
func (v *View) Newest(ctx context.Context, p CardPage, newest, most int) (cards []board.Card, since board.Instant, few bool, err error) {
	plan, err := v.plan(ctx, p)
	if err != nil {
		return nil, 0, false, err
	}
	if plan.since, err = v.changedSince(ctx, plan, newest); err != nil {
		return nil, 0, false, err
	}
	plan.byBoard = true
	if few, err = v.fewChanged(ctx, plan, most); err != nil {
		return nil, 0, false, err
	}
	cards, _, err = v.readSorted(ctx, plan)
	return cards, plan.since, few, err
}

// ExplainNewest is the plan of what Newest reads.
func (v *View) ExplainNewest(ctx context.Context, p CardPage, newest int) ([]string, error) {
	spy := &explainer{Runner: v.run, postgres: v.db.dialect().RowLocks}
	other := *v
	other.run = spy
	_, _, _, err := other.Newest(ctx, p, newest, 0)
	return spy.plans, err
}

// Looks are the parts of the newest cards in which a page is looked for whose
// lead finds so many, or that has none: of the server's, and at most of the caller's.
func (v *View) Looks(ctx context.Context, p CardPage, found int) (parts [][2]int, err error) {
	plan, err := v.plan(ctx, p)
	if err != nil {
		return nil, err
	}
	if plan.lead, plan.found = -1, found; found > 0 {
		plan.lead = 0
	}
	all, err := v.recent(ctx, plan)
	for _, part := range all {
		parts = append(parts, [2]int{part.newest, part.most})
	}
	return parts, err
}

// Explain is the plan of the page's query.
func (v *View) Explain(ctx context.Context, p CardPage) (plans []string, err error) {
	spy := &explainer{Runner: v.run, postgres: v.db.dialect().RowLocks}
	other := *v
	other.run = spy
	_, _, err = other.Cards(ctx, p)
	return spy.plans, err
}

type explainer struct {
	sqldb.Runner
	postgres bool
	plans    []string
}

func (e *explainer) Query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	explain, columns := "EXPLAIN QUERY PLAN ", 4
	if e.postgres {
		explain, columns = "EXPLAIN (ANALYZE, COSTS OFF) ", 1
	}
	rows, err := e.Runner.Query(ctx, explain+text, args...)
	if err != nil {
		return nil, err
	}
	plan := text + "\n"
	for rows.Next() {
		var line string
		var n [3]any
		dest := []any{&n[0], &n[1], &n[2], &line}
		if err := rows.Scan(dest[4-columns:]...); err != nil {
			return nil, err
		}
		plan += "    " + line + "\n"
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	e.plans = append(e.plans, plan)
	return e.Runner.Query(ctx, text, args...)
}
