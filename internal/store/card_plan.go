package store

import (
	"context"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

// plan is how a page of cards is read: its query with names resolved, and the
// way to the cards that costs least.
type plan struct {
	CardPage
	caller  board.Caller
	dialect dialect
	where   query.And
	indexed []string      // what the index of words is asked for, see indexedIn
	lead    int           // the term whose index the cards are read from; -1 for none
	found   int           // how many cards or texts the lead finds
	bySpan  bool          // the cards are read by their due times, board by board
	since   board.Instant // only cards that changed then or later, newest first; 0 for all
}

// plan prepares a page.
func (v *View) plan(ctx context.Context, p CardPage) (plan, error) {
	where, err := v.resolve(ctx, p, p.Query.Where)
	if err != nil {
		return plan{}, err
	}
	out := plan{CardPage: p, caller: v.caller, dialect: v.db.engine.dialect(), where: where.(query.And)}
	if out.indexed, err = v.indexedIn(ctx, p, out.where); err != nil {
		return plan{}, fmt.Errorf("read workspaces: %w", err)
	}
	err = v.lead(ctx, &out)
	return out, err
}

// condition is the SQL of the query over the card alias c.
func (p plan) condition(a *arguments) string {
	c := compiler{a, p.caller, p.indexed}
	text := c.archived(p.Query.Archived)
	for i, n := range p.where {
		if i != p.lead {
			text += " AND " + c.node(n)
			continue
		}
		candidates, _ := c.candidates(p.dialect, n, false)
		if p.since > 0 { // in the order of their change, see recent
			text += " AND (c.id IN (" + candidates + ")) IS TRUE"
		} else {
			text += " AND c.id " + p.dialect.among(candidates)
		}
	}
	return text
}

// scope is the SQL of the boards that the page is of. IS TRUE keeps a database
// from reading the cards board by board where the plan has a better way.
func (p plan) scope(v *View, a *arguments) string {
	if p.BoardID != "" {
		return "c.board_id = " + a.add(p.BoardID)
	}
	boards, text := v.boardsOf(p.CardPage, a), ""
	switch {
	case p.bySpan:
		text = "c.board_id " + p.dialect.among(boards)
	case p.Assigned || p.lead >= 0 || p.since > 0:
		text = "(c.board_id IN (" + boards + ")) IS TRUE"
	default:
		text = "c.board_id IN (" + boards + ")"
	}
	if p.Assigned {
		text += " AND c.id " + p.dialect.among("SELECT k.card_id FROM card_assignees k WHERE k.user_id = "+a.add(p.caller.UserID))
	}
	if p.OpenLists {
		text += " AND l.archived_at IS NULL"
	}
	if p.since > 0 {
		text += " AND c.updated_at >= " + a.add(int64(p.since))
	}
	return text
}

const (
	// manyCards is from how many cards on the caller's boards on it pays to look
	// through the newest of the server.
	manyCards = 5000
	// newestCards is how many of those are looked through before the caller's
	// boards are read after all.
	newestCards = 20000
	// manyFound is from how many candidates of a lead on it costs less to look
	// for them among the newest cards than to read and sort them all.
	manyFound = 500
)

// recent is since when newestCards cards of the server changed, behind the
// mark; 0 when the page is not one of the newest cards of many, or when its
// lead finds so few that the page may well not be full then.
func (v *View) recent(ctx context.Context, p plan) (board.Instant, error) {
	if p.BoardID != "" || p.Assigned || p.bySpan || p.lead >= 0 && p.found < manyFound || p.Query.Sort != (query.Sort{By: query.SortUpdated, Desc: true}) {
		return 0, nil
	}
	var a arguments
	text := "SELECT CAST(COALESCE(sum(n.all_cards), 0) AS BIGINT) FROM boards n WHERE n.id IN (" + v.boardsOf(p.CardPage, &a) + ")"
	seen, err := v.count(ctx, text, a...)
	if err != nil || seen < manyCards || p.lead >= 0 && p.found*newestCards < 2*p.Limit*seen {
		return 0, err
	}
	upTo := int64(1) << 62
	if len(p.Mark.Values) > 0 {
		if at, ok := p.Mark.Values[0].(float64); ok {
			upTo = int64(at)
		}
	}
	var since board.Instant
	_, err = v.one(ctx, "SELECT updated_at FROM cards WHERE updated_at <= $1 ORDER BY updated_at DESC, id DESC LIMIT 1 OFFSET $2", []any{upTo, newestCards}, &since)
	return since, err
}
