package store

import (
	"context"
	"database/sql"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// Lead returns the term whose index is read for a query on all of the caller's
// boards.
func (v *View) Lead(ctx context.Context, q query.Query) (int, error) {
	p, err := v.plan(ctx, CardPage{Query: q})
	return p.lead, err
}

// MostWorkspaces is how many workspaces one lookup in the search index covers.
const MostWorkspaces = search.MaxWorkspaces

// Led returns the number of texts or cards that the leading term of a page
// finds, or 0 if it has none.
func (v *View) Led(ctx context.Context, p CardPage) (int, error) {
	out, err := v.plan(ctx, p)
	return out.found, err
}

// CanLead reports whether a term of the query has an index.
func (v *View) CanLead(ctx context.Context, q query.Query, i int) bool {
	p, err := v.plan(ctx, CardPage{Query: q})
	_, ok := search.Compiler{Args: &sqldb.Args{}, Caller: v.caller, Workspaces: p.indexed}.Candidates(p.dialect, p.where[i], false)
	return err == nil && ok
}

// Matching returns the cards that satisfy a query, read from the index of one of
// its terms, or one by one if lead is -1. With newest it scans the newest cards
// for the candidates of that index.
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

// Newest reads a page from about this many of the server's newest cards, board by
// board. Few reports whether at most this many of them are on the caller's boards.
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

// ExplainNewest returns the query plans of Newest.
func (v *View) ExplainNewest(ctx context.Context, p CardPage, newest int) ([]string, error) {
	spy := &explainer{Runner: v.run, postgres: v.db.dialect().RowLocks}
	other := *v
	other.run = spy
	_, _, _, err := other.Newest(ctx, p, newest, 0)
	return spy.plans, err
}

// NewestScans returns the scans for a page whose lead finds this many cards, 0
// for a page without a lead. Each is the number of the server's cards and the
// most cards of the caller's boards.
func (v *View) NewestScans(ctx context.Context, p CardPage, found int) (scans [][2]int, err error) {
	plan, err := v.plan(ctx, p)
	if err != nil {
		return nil, err
	}
	if plan.lead, plan.found = -1, found; found > 0 {
		plan.lead = 0
	}
	all, err := v.newestScans(ctx, plan)
	for _, scan := range all {
		scans = append(scans, [2]int{scan.cards, scan.maxOwn})
	}
	return scans, err
}

// Explain returns the plans of a page's queries.
func (v *View) Explain(ctx context.Context, p CardPage) (plans []string, err error) {
	spy := &explainer{Runner: v.run, postgres: v.db.dialect().RowLocks}
	other := *v
	other.run = spy
	_, _, err = other.Cards(ctx, p)
	return spy.plans, err
}

// explainer records the plan of each query before it runs it.
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
