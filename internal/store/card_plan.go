package store

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// plan is how a page of cards is read: its query with names resolved, and the
// way to the cards that costs least.
type plan struct {
	CardPage
	caller  board.Caller
	dialect sqldb.Dialect
	where   query.And
	indexed []string      // what the index of words is asked for, see indexedIn
	lead    int           // the term whose index the cards are read from; -1 for none
	found   int           // how many cards or texts the lead finds
	bySpan  bool          // the cards are read by their due times, board by board
	since   board.Instant // only cards that changed then or later, newest first; 0 for all
	byBoard bool          // those are read board by board
}

// plan prepares a page.
func (v *View) plan(ctx context.Context, p CardPage) (plan, error) {
	where, err := v.resolve(ctx, p, p.Query.Where)
	if err != nil {
		return plan{}, err
	}
	out := plan{CardPage: p, caller: v.caller, dialect: v.db.dialect(), where: where.(query.And)}
	if out.indexed, err = v.indexedIn(ctx, p, out.where); err != nil {
		return plan{}, fmt.Errorf("read workspaces: %w", err)
	}
	err = v.lead(ctx, &out)
	return out, err
}

// condition is the SQL of the query over the card c and its list l.
func (p plan) condition(a *sqldb.Args) string {
	c := search.Compiler{Args: a, Caller: p.caller, Workspaces: p.indexed}
	text := c.Archived(p.Query.Archived)
	for i, n := range p.where {
		if i != p.lead {
			text += " AND " + c.Condition(n)
			continue
		}
		candidates, _ := c.Candidates(p.dialect, n, false)
		if p.since > 0 { // in the order of their change, see recent
			text += " AND (c.id IN (" + candidates + ")) IS TRUE"
		} else {
			text += " AND c.id " + p.dialect.Among(candidates)
		}
	}
	return text
}

// scope is the SQL of the boards that the page is of. IS TRUE keeps a database
// from reading the cards board by board where the plan has a better way.
func (p plan) scope(v *View, a *sqldb.Args) string {
	if p.BoardID != "" {
		return "c.board_id = " + a.Add(p.BoardID)
	}
	boards, text := v.boardsOf(p.CardPage, a), ""
	switch {
	case p.bySpan:
		text = "c.board_id " + p.dialect.Among(boards)
	case p.byBoard:
		text = "c.board_id IN (" + boards + ")"
	case p.Assigned || p.lead >= 0 || p.since > 0:
		text = "(c.board_id IN (" + boards + ")) IS TRUE"
	default:
		text = "c.board_id IN (" + boards + ")"
	}
	if p.Assigned {
		text += " AND c.id " + p.dialect.Among("SELECT k.card_id FROM card_assignees k WHERE k.user_id = "+a.Add(p.caller.UserID))
	}
	if p.since > 0 {
		text += " AND c.updated_at >= " + a.Add(int64(p.since))
	}
	return text
}

const (
	// manyCards is from how many cards on the caller's boards on it pays to look
	// through the newest of the server.
	manyCards = 5000
	// manyFound is from how many candidates of a lead on it costs less to look
	// for them among the newest cards than to read and sort them all.
	manyFound = 500
	// mostNewest is how many of the server's newest cards are looked through at
	// most. Those of others are passed by in the index.
	mostNewest = 200000
)

// looks are how many of the newest cards of the caller's boards are looked
// through, one after the other, before the boards are read after all.
func looks() []int { return []int{400, 2000, 20000} }

// look is a part of the cards that may well fill a page of the newest.
type look struct {
	newest int // so many cards of the server, or some more
	most   int // of them the caller's boards may have so many, which are read board by board; 0 to read them all
}

// recent are the parts of the server's newest cards to look through, so that about
// as many of them as looks says are of the caller's boards; none when the page is
// not one of the newest cards of many, and none in which what the lead finds may
// well not fill the page. The caller's share in all cards is reckoned with.
func (v *View) recent(ctx context.Context, p plan) (parts []look, err error) {
	if p.BoardID != "" || p.Assigned || p.bySpan || p.lead >= 0 && p.found < manyFound || p.Query.Sort != (query.Sort{By: query.SortUpdated, Desc: true}) {
		return nil, nil
	}
	var a sqldb.Args
	text := "SELECT CAST(COALESCE(sum(n.all_cards), 0) AS BIGINT) FROM boards n WHERE n.id IN (" + v.boardsOf(p.CardPage, &a) + ")"
	seen, err := v.count(ctx, text, a...)
	if err != nil || seen < manyCards {
		return nil, err
	}
	all, err := v.allCards(ctx)
	if err != nil {
		return nil, err
	}
	share := func(own int) int { return own * max(all, seen) / seen }
	for _, own := range looks() {
		if share(own) > mostNewest || own > seen/2 {
			break
		}
		if p.lead < 0 || p.found*own >= 2*p.Limit*seen {
			parts = append(parts, look{newest: share(own)})
		}
	}
	// Where most cards are of others, those of the caller's boards are fewer to look
	// through than what the lead finds is to read: a find costs as much as five of them.
	if len(parts) == 0 && p.lead >= 0 && !p.dialect.RowLocks {
		if own := 4 * p.Limit * seen / (3 * p.found); share(own) <= mostNewest && own <= 5*p.found {
			parts = append(parts, look{newest: share(own), most: 2 * own})
		}
	}
	return parts, nil
}

// upTo is the change up to which a page reads; first tells that it is the newest.
func (p plan) upTo() (at int64, first bool) {
	if len(p.Cursor.Values) > 0 {
		if at, ok := p.Cursor.Values[0].(float64); ok {
			return int64(at), false
		}
	}
	return 1 << 62, true
}

// fewChanged tells whether no more than so many cards of the caller's boards are
// newer than the plan's horizon: its share may be another than that of all cards.
func (v *View) fewChanged(ctx context.Context, p plan, most int) (bool, error) {
	var a sqldb.Args
	upTo, _ := p.upTo()
	text := "SELECT 1 FROM cards c WHERE c.board_id IN (" + v.boardsOf(p.CardPage, &a) + ") AND c.updated_at BETWEEN " + a.Add(int64(p.since)) + " AND " + a.Add(upTo)
	n, err := v.count(ctx, fmt.Sprintf("SELECT count(*) FROM (%s LIMIT %d) AS n", text, most+1), a...)
	return n <= most, err
}

// changedSince is since when so many cards of the server changed, or some more,
// behind the page's mark; 0 when there are fewer.
func (v *View) changedSince(ctx context.Context, p plan, newest int) (since board.Instant, err error) {
	upTo, first := p.upTo()
	if first {
		newest = roughly(newest)
		if since, ok := v.db.horizons.get(newest, v.now); ok {
			return since, nil
		}
	}
	_, err = v.one(ctx, "SELECT updated_at FROM cards WHERE updated_at <= $1 ORDER BY updated_at DESC, id DESC LIMIT 1 OFFSET $2", []any{upTo, newest}, &since)
	if first && err == nil {
		v.db.horizons.put(newest, since, v.now)
	}
	return since, err
}

// roughly rounds a number up to four binary digits, so that there are few of them.
func roughly(n int) int {
	step := 1 << max(0, bits.Len(uint(n))-4)
	return (n + step - 1) / step * step
}

// horizons remember since when so many cards of the server changed: to pass by
// thousands in the index takes longer than to look for a word among them. What is
// old by a minute only lets a page look at some more.
type horizons struct {
	mu sync.Mutex
	of map[int]horizon // by the number of cards
}

type horizon struct {
	since board.Instant // 0 when the server has fewer cards
	at    board.Instant // when that was found
}

func (h *horizons) get(newest int, now board.Instant) (since board.Instant, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known, ok := h.of[newest]
	return known.since, ok && known.at <= now && now < known.at+countLifetime
}

func (h *horizons) put(newest int, since, now board.Instant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = map[int]horizon{}
	}
	h.of[newest] = horizon{since, now}
}

// countLifetime is how long the count of all cards is believed: it only tells
// which way to cards costs less.
const countLifetime = board.Instant(60 * 1000)

// cardCount is about how many cards the server holds.
type cardCount struct {
	cards int
	at    board.Instant // when that was counted
}

func (v *View) allCards(ctx context.Context) (int, error) {
	if known := v.db.cards.Load(); known != nil && known.at <= v.now && v.now < known.at+countLifetime {
		return known.cards, nil
	}
	n, err := v.count(ctx, "SELECT CAST(COALESCE(sum(all_cards), 0) AS BIGINT) FROM boards")
	if err == nil {
		v.db.cards.Store(&cardCount{n, v.now})
	}
	return n, err
}

// indexedIn returns the keys of a page's workspaces in the search index; nil if the
// index cannot serve the page.
func (v *View) indexedIn(ctx context.Context, p CardPage, where query.And) ([]string, error) {
	isText := func(n query.Node) bool { _, ok := n.(query.Text); return ok }
	if !slices.ContainsFunc(slices.Collect(query.Leaves(where)), isText) {
		return nil, nil
	}
	var a sqldb.Args
	text := "SELECT b.workspace_id FROM boards b WHERE b.id = "
	if p.BoardID != "" {
		text += a.Add(p.BoardID)
	} else {
		text = "SELECT m.workspace_id FROM workspace_members m WHERE m.user_id = " + a.Add(v.caller.UserID)
		for _, w := range []string{p.WorkspaceID, v.caller.WorkspaceID} {
			if w != "" {
				text += " AND m.workspace_id = " + a.Add(w)
			}
		}
	}
	in, err := v.texts(ctx, fmt.Sprintf("%s LIMIT %d", text, search.MaxWorkspaces+1), a...)
	if err != nil || len(in) > search.MaxWorkspaces {
		return nil, err
	}
	for i, id := range in {
		var ok bool
		if in[i], ok = search.WorkspaceKey(id); !ok {
			return nil, nil
		}
	}
	return in, nil
}
