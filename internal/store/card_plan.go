package store

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// plan describes how to read a page of cards: the query with names resolved, and
// the cheapest index to read the cards from.
type plan struct {
	CardPage
	caller  board.Caller
	dialect sqldb.Dialect
	where   query.And
	indexed []string      // keys of the workspaces in the search index, see indexedIn
	lead    int           // position in where of the term whose index the cards are read from; -1 for none
	found   int           // number of entries that the index of the lead returns
	bySpan  bool          // read the cards by their due times, board by board
	newest  bool          // scan the cards of the server, newest first
	since   board.Instant // if > 0, read only cards that last changed then or later
	until   board.Instant // if > 0, read only cards that last changed before then
	byBoard bool          // read the range from since to until board by board
}

// plan resolves the query of a page and chooses how to read it.
func (v *View) plan(ctx context.Context, p CardPage) (plan, error) {
	where, err := v.resolve(ctx, p, p.Query.Where)
	if err != nil {
		return plan{}, err
	}
	out := plan{CardPage: p, caller: v.caller, dialect: v.db.dialect(), where: where.(query.And)}
	if out.indexed, err = v.indexedIn(ctx, p, out.where); err != nil {
		return plan{}, fmt.Errorf("read workspaces: %w", err)
	}
	err = v.chooseLead(ctx, &out, fewCards, fewSpans)
	return out, err
}

// condition returns the SQL condition of the query over the card c and its list l.
func (p plan) condition(a *sqldb.Args) string {
	c := search.Compiler{Args: a, Caller: p.caller, Workspaces: p.indexed}
	text := c.Archived(p.Query.Archived)
	for i, n := range p.where {
		if i != p.lead {
			text += " AND " + c.Condition(n)
			continue
		}
		candidates, _ := c.Candidates(p.dialect, n, false)
		if p.newest { // looks up each scanned card among the candidates, see newestScans
			text += " AND (c.id IN (" + candidates + ")) IS TRUE"
		} else {
			text += " AND c.id " + p.dialect.Among(candidates)
		}
	}
	return text
}

// scope returns the SQL condition for the boards of the page. IS TRUE keeps the
// database from reading the cards board by board if the plan has a cheaper index.
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
	case p.Assigned || p.lead >= 0 || p.newest:
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
	if p.until > 0 {
		text += " AND c.updated_at < " + a.Add(int64(p.until))
	}
	return text
}

const (
	// manyCards is the minimum number of cards on the caller's boards for which scanning
	// the newest cards of the server costs less than reading the boards.
	manyCards = 5000
	// manyFound is the minimum number of candidates of a lead for which scanning the
	// newest cards costs less than reading and sorting all candidates.
	manyFound = 500
	// candidateCost is the cost of reading a candidate of a lead, compared with the cost
	// of reading a card of a scan.
	candidateCost = 5
	// candidateTime is the time that counting and reading a candidate takes on a slow
	// machine.
	candidateTime = 20 * time.Microsecond
	// maxLateCandidates is the maximum number of candidates of a lead that is chosen after
	// some scans. It limits the time that counting the candidates takes.
	maxLateCandidates = 50000
	// maxScan is the maximum number of the server's cards that a scan covers. The scan
	// skips the cards of other boards in the index.
	maxScan = 200000
)

// scanSizes returns how many of the newest cards of the caller's boards are covered after
// the first, second and third scan. If the scans do not fill the page, all cards are
// read.
func scanSizes() []int { return []int{400, 2000, 20000} }

// newestScan is a scan of the newest cards that is likely to fill a page.
type newestScan struct {
	cards  int  // the scan ends after at least this many of the server's newest cards
	maxOwn int  // if > 0, scan board by board, but only if at most this many of the cards are on the caller's boards
	own    int  // about this many of the cards are on the caller's boards
	toEnd  bool // scan all cards of the server
}

// remaining returns about how many of the caller's cards a scan to the end reads before
// the page is full. Scanned is the number of cards that the previous scans read, matched
// the number of matches among them, and missing the number of cards that the page still
// lacks.
func (s newestScan) remaining(scanned, matched, missing int) int {
	rest := s.own - scanned
	if matched > 0 {
		rest = min(rest, scanned*missing/matched)
	}
	return rest
}

// newestScans returns the scans to try for a page, in order. The first ones cover about
// as many of the caller's cards as scanSizes says, estimated from the share of these
// cards in all cards. A last scan may cover all cards. For a lead, there may instead be a
// single scan, which reads the caller's boards one by one. newestScans returns none if
// the page is not sorted by the newest change, if it is limited to one board or to the
// caller's assigned cards, or if it can be read at a lower cost.
func (v *View) newestScans(ctx context.Context, p plan) (scans []newestScan, err error) {
	if p.BoardID != "" || p.Assigned || p.bySpan || p.lead >= 0 && p.found < manyFound ||
		p.Query.Sort != (query.Sort{By: query.SortUpdated, Desc: true}) {
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
	for _, own := range scanSizes() {
		if share(own) > maxScan || own > seen/2 {
			break
		}
		if p.lead < 0 || p.found*own >= 2*p.Limit*seen {
			scans = append(scans, newestScan{cards: share(own), own: own})
		}
	}
	// A scan to the end stops when the page is full. If it does not fill the page, it costs
	// as much as reading the boards, unless most cards are on other people's boards.
	if p.lead < 0 && len(scans) > 0 && 2*seen >= all {
		scans = append(scans, newestScan{own: seen, toEnd: true})
	}
	// If most cards are on other people's boards, scanning the caller's boards can cost
	// less than reading all candidates.
	if len(scans) == 0 && p.lead >= 0 && !p.dialect.RowLocks {
		if own := 4 * p.Limit * seen / (3 * p.found); share(own) <= maxScan && own <= candidateCost*p.found {
			scans = append(scans, newestScan{cards: share(own), maxOwn: 2 * own})
		}
	}
	return scans, nil
}

// none reports whether no card can be on the page, because its lead has no candidates.
func (p plan) none() bool { return (p.lead >= 0 || p.bySpan) && p.found == 0 }

// lateLead sets the lead of a plan if reading its candidates is faster than a scan that
// takes the given time. A phrase of common words can be missing from a million cards, but
// an index lookup reads only the cards that contain each pair of its words.
func (v *View) lateLead(ctx context.Context, p *plan, scan time.Duration) error {
	most := min(int(scan/candidateTime), maxLateCandidates)
	if most <= fewCards { // chooseLead has found no lead with that few candidates
		return nil
	}
	return v.chooseLead(ctx, p, most, most)
}

// upTo returns the time of the newest change that a page may contain; first reports
// whether the page is the first one.
func (p plan) upTo() (at int64, first bool) {
	if len(p.Cursor.Values) > 0 {
		if at, ok := p.Cursor.Values[0].(float64); ok {
			return int64(at), false
		}
	}
	return 1 << 62, true
}

// fewChanged reports whether the number of the caller's cards that changed within the
// range of the scan does not exceed most. It counts these cards, because the estimate
// of newestScans may be wrong.
func (v *View) fewChanged(ctx context.Context, p plan, most int) (bool, error) {
	var a sqldb.Args
	upTo, _ := p.upTo()
	text := "SELECT 1 FROM cards c WHERE c.board_id IN (" + v.boardsOf(p.CardPage, &a) + ") AND c.updated_at BETWEEN " +
		a.Add(int64(p.since)) + " AND " + a.Add(upTo)
	n, err := v.count(ctx, fmt.Sprintf("SELECT count(*) FROM (%s LIMIT %d) AS n", text, most+1), a...)
	return n <= most, err
}

// changedSince returns the time since which newest or a few more of the server's cards
// changed, up to the page's cursor. It returns 0 if there are fewer cards.
func (v *View) changedSince(ctx context.Context, p plan, newest int) (since board.Instant, err error) {
	upTo, first := p.upTo()
	if first {
		newest = roundUp(newest)
		if since, ok := v.db.horizons.get(newest, v.now); ok {
			return since, nil
		}
	}
	_, err = v.one(ctx, "SELECT updated_at FROM cards WHERE updated_at <= $1 ORDER BY updated_at DESC, id DESC LIMIT 1 OFFSET $2",
		[]any{upTo, newest}, &since)
	if first && err == nil {
		v.db.horizons.put(newest, since, v.now)
	}
	return since, err
}

// roundUp rounds a number up to four significant binary digits, so that horizons
// stores few different numbers.
func roundUp(n int) int {
	step := 1 << max(0, bits.Len(uint(n))-4)
	return (n + step - 1) / step * step
}

// horizons caches results of changedSince, because skipping thousands of entries in the
// index takes longer than searching the cards for a word. An outdated result only makes
// a scan cover more cards.
type horizons struct {
	mu sync.Mutex
	of map[int]horizon // by the number of cards
}

type horizon struct {
	since board.Instant // 0 if the server has fewer cards
	at    board.Instant // when since was read
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

// countLifetime is how long cached counts and horizons are used, in milliseconds. They
// affect only how cards are read, not the result.
const countLifetime = board.Instant(60 * 1000)

// cardCount is the cached number of cards of the server.
type cardCount struct {
	cards int
	at    board.Instant // when they were counted
}

// allCards returns the approximate number of cards of the server.
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

// indexedIn returns the keys of a page's workspaces in the search index. It returns nil
// if the query contains no text or the index cannot serve the page.
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
