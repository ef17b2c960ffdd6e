package store

import (
	"context"
	"database/sql"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// Lead returns the position of the term whose index drives a query on all of the caller's
// boards, or -1 if there is none.
func (v *View) Lead(ctx context.Context, q query.Query) (int, error) {
	p, err := v.plan(ctx, CardPage{Query: q})
	return p.lead, err
}

// MaxWorkspaces is the maximum number of workspaces in one lookup of the search index.
const MaxWorkspaces = search.MaxWorkspaces

// LeadCount returns the number of index entries or cards that the lead term of a page
// finds, or 0 if the page has no lead term.
func (v *View) LeadCount(ctx context.Context, p CardPage) (int, error) {
	out, err := v.plan(ctx, p)
	return out.found, err
}

// CanLead reports whether term i of the query can be looked up in an index.
func (v *View) CanLead(ctx context.Context, q query.Query, i int) bool {
	p, err := v.plan(ctx, CardPage{Query: q})
	_, ok := search.Compiler{Args: &sqldb.Args{}, Caller: v.caller, Workspaces: p.indexed}.Candidates(p.dialect, p.where[i], false)
	return err == nil && ok
}

// Matching returns the ids of the cards that satisfy a query. It looks up the term with
// the position lead in its index, or checks every card if lead is -1. If newest is true,
// it scans the newest cards for the candidates of that index.
func (v *View) Matching(ctx context.Context, q query.Query, lead int, newest bool) ([]string, error) {
	p, err := v.plan(ctx, CardPage{Query: q})
	if err != nil {
		return nil, err
	}
	p.lead = lead
	if newest {
		p.newest = true
	}
	var a sqldb.Args
	return v.texts(ctx, "SELECT c.id FROM cards c JOIN lists l ON l.id = c.list_id WHERE "+p.condition(&a)+" ORDER BY c.id", a...)
}

// Newest reads a page, board by board, from a scan of the server's newest cards. The
// parameter newest is the approximate number of cards to scan. Since is the time that the
// scan goes back to. Few reports whether at most maxOwn of the cards are on the caller's
// boards.
func (v *View) Newest(ctx context.Context, p CardPage, newest, maxOwn int) (cards []board.Card, since board.Instant, few bool, err error) {
	plan, err := v.plan(ctx, p)
	if err != nil {
		return nil, 0, false, err
	}
	if plan.since, err = v.changedSince(ctx, plan, newest); err != nil {
		return nil, 0, false, err
	}
	plan.newest, plan.byBoard = true, true
	if few, err = v.fewChanged(ctx, plan, maxOwn); err != nil {
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

// NewestScans returns the scans for a page whose lead term finds the given number of
// cards; 0 means that the page has no lead term. Each scan contains the number of the
// server's newest cards to scan, and the maximum number of these cards on the caller's
// boards.
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

// Explain returns the plans of the queries for a page.
func (v *View) Explain(ctx context.Context, p CardPage) (plans []string, err error) {
	spy := &explainer{Runner: v.run, postgres: v.db.dialect().RowLocks}
	other := *v
	other.run = spy
	_, _, err = other.Cards(ctx, p)
	return spy.plans, err
}

// explainer records the plan of each query, and then runs the query.
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
