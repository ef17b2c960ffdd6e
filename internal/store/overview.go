package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// An overview shows a few of many assigned cards. For a board with an exact summary (see
// View.exact), it takes the counts from the summary, and reads cards only if the board
// may contain one of the first cards.

// recentSlack is how far before its counting time a summary lists assignments. No
// overview asks for older ones.
const recentSlack = clockSlack + 7*day

// maxOutdated is the maximum number of boards without an exact summary for which an
// overview uses summaries at all. If there are more, it reads all cards of the person.
const maxOutdated = 256

// AssignedCards contains what an overview needs to know about the caller's cards.
type AssignedCards struct {
	v        *View
	mine     []assignedBoard // boards with an exact summary on which the caller has assigned cards
	outdated []string        // boards without an exact summary
	counted  bool            // use mine and outdated; otherwise read all cards
}

type assignedBoard struct {
	id string
	*PersonSummary
}

// AssignedCards loads what is needed for an overview of the caller's cards.
func (v *View) AssignedCards(ctx context.Context) (*AssignedCards, error) {
	var a sqldb.Args
	m := &AssignedCards{v: v}
	text := "SELECT r.id, s.people FROM boards r LEFT JOIN board_summaries s ON " + v.exact(&a) + " WHERE r.id IN (" +
		v.boardsOf(CardPage{}, &a) + ")"
	err := v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			id     string
			people []byte
		)
		if err := rows.Scan(&id, &people); err != nil {
			return err
		}
		p, err := findPerson(people, v.caller.UserID)
		switch {
		case people == nil || err != nil: // the doctor reports damaged summaries
			m.outdated = append(m.outdated, id)
		case p == nil:
			m.counted = true
		default:
			m.counted, m.mine = true, append(m.mine, assignedBoard{id, p})
		}
		return nil
	})
	m.counted = m.counted && len(m.outdated) <= maxOutdated
	return m, err
}

// First returns the number of cards that match a query for a range of due times, and at
// most limit of these cards, the earliest due first.
func (m *AssignedCards) First(ctx context.Context, q query.Query, from, to query.Edge, limit int) (int, []board.Card, error) {
	page := CardPage{Assigned: true, Query: q, Limit: limit}
	if !m.counted {
		return m.v.FirstCards(ctx, page)
	}
	plan, err := m.v.plan(ctx, page)
	if err != nil {
		return 0, nil, err
	}
	found, err := m.due(ctx, plan, m.outdated, "", 0)
	if err != nil {
		return 0, nil, err
	}
	count := len(found)
	boards, last, n := m.candidates(from, to, limit)
	some, err := m.due(ctx, plan, boards, last, limit)
	if err != nil {
		return 0, nil, err
	}
	found = append(found, some...)
	slices.SortFunc(found, dueCard.compare)
	ids := make([]string, min(len(found), limit))
	for i := range ids {
		ids[i] = found[i].id
	}
	cards, err := m.v.CardsByID(ctx, ids)
	return count + n, cards, err
}

// candidates returns the boards that may contain one of the first cards in a range, the
// last day on which one of these cards can be due ("" for any), and the number of all
// cards in the range. It considers only boards with an exact summary.
func (m *AssignedCards) candidates(from, to query.Edge, limit int) (boards []string, last string, n int) {
	type candidate struct {
		id    string
		first time.Time // its earliest card is due on this day, or a day before or after
	}
	var all []candidate
	for _, b := range m.mine {
		if in, first := b.within(from, to); in > 0 {
			n += in
			all = append(all, candidate{b.id, dateOfNumber(first)})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return a.first.Compare(b.first) })
	limitDay := time.Time{}
	if len(all) >= limit { // at least limit cards are due on this day or earlier
		limitDay = all[limit-1].first.AddDate(0, 0, 1)
		last = limitDay.Format(board.DateLayout)
	}
	for _, c := range all {
		if last == "" || !c.first.AddDate(0, 0, -1).After(limitDay) {
			boards = append(boards, c.id)
		}
	}
	return boards, last, n
}

// within returns the number of cards that are due in a range, and the day of the first
// one, which may be off by a day. The range starts after the cards in Past, or has no
// start.
func (d *DueCounts) within(from, to query.Edge) (n, first int) {
	start, end := 0, dayNumber(to.Day)
	times := d.Times[:before(d.Times, to.At)]
	if from.Bounded() {
		start, times = dayNumber(from.Day), times[before(d.Times[:len(times)], from.At):]
	} else {
		n, first = d.Past, d.PastFrom
	}
	earliest := func(day int) {
		if first == 0 || day < first {
			first = day
		}
	}
	if n += len(times); len(times) > 0 {
		earliest(dayNumber(times[0].Time().UTC().Format(board.DateLayout)))
	}
	for _, on := range d.Days {
		if on.Day >= start && on.Day < end {
			n += on.Cards
			earliest(on.Day)
		}
	}
	return n, first
}

// dateOfNumber is the inverse of dayNumber.
func dateOfNumber(n int) time.Time {
	return time.Date(n/10000, time.Month(n/100%100), n%100, 0, 0, 0, 0, time.UTC)
}

// dueCard is a card with its due time.
type dueCard struct {
	day string
	at  int64
	id  string
}

// compare orders cards as sortKeys does for query.SortDue.
func (c dueCard) compare(o dueCard) int {
	return cmp.Or(cmp.Compare(c.day, o.day), cmp.Compare(c.at, o.at), cmp.Compare(c.id, o.id))
}

// due reads the caller's cards on the given boards that match a plan and are due on the
// day last or earlier ("" for any). Limit applies to each batch of boards; 0 means no
// limit.
func (m *AssignedCards) due(ctx context.Context, p plan, boardIDs []string, last string, limit int) (found []dueCard, err error) {
	err = sqldb.InChunks(boardIDs, func(in string, args []any) error {
		a := sqldb.Args(args)
		text := "SELECT COALESCE(c.due_date, ''), COALESCE(c.due_at, 9007199254740991), c.id FROM cards c JOIN lists l ON l.id = c.list_id " +
			"WHERE c.board_id IN (" + in + ") AND " + p.condition(&a) + m.assigned(&a)
		if last != "" {
			text += " AND COALESCE(c.due_date, c.start_date) <= " + a.Add(last)
		}
		if limit > 0 {
			text += orderBy(p.Query.Sort) + " LIMIT " + a.Add(limit)
		}
		return m.v.each(ctx, text, a, func(rows *sql.Rows) error {
			var c dueCard
			err := rows.Scan(&c.day, &c.at, &c.id)
			found = append(found, c)
			return err
		})
	})
	return found, err
}

// assigned returns the condition that the card c is assigned to the caller.
func (m *AssignedCards) assigned(a *sqldb.Args) string {
	return " AND EXISTS (SELECT 1 FROM card_assignees k WHERE k.card_id = c.id AND k.user_id = " + a.Add(m.v.caller.UserID) + ")"
}

// Recent returns the number of open cards that are not done and were assigned to the
// caller since the given instant, and at most limit of them, most recently assigned first.
func (m *AssignedCards) Recent(ctx context.Context, since board.Instant, limit int) (int, []board.Card, error) {
	var a sqldb.Args
	text := `SELECT k.card_id FROM card_assignees k JOIN cards c ON c.id = k.card_id JOIN lists l ON l.id = c.list_id
		WHERE k.user_id = ` + a.Add(m.v.caller.UserID) + " AND k.assigned_at >= " + a.Add(int64(since)) + `
		AND ` + search.OpenCard + ` AND c.done_at IS NULL AND (c.board_id IN (` + m.v.boardsOf(CardPage{}, &a) + `)) IS TRUE
		ORDER BY k.assigned_at DESC, k.card_id DESC`
	if m.counted {
		text += " LIMIT " + a.Add(limit)
	}
	ids, err := m.v.texts(ctx, text, a...)
	if err != nil {
		return 0, nil, err
	}
	cards, err := m.v.CardsByID(ctx, ids[:min(len(ids), limit)])
	if !m.counted || err != nil {
		return len(ids), cards, err
	}
	count := 0
	for _, b := range m.mine {
		count += len(b.Assigned) - before(b.Assigned, since)
	}
	err = sqldb.InChunks(m.outdated, func(in string, args []any) error {
		a := sqldb.Args(args)
		n, err := m.v.count(ctx, `SELECT count(*) FROM cards c JOIN lists l ON l.id = c.list_id JOIN card_assignees k ON k.card_id = c.id
			WHERE c.board_id IN (`+in+") AND k.user_id = "+a.Add(m.v.caller.UserID)+" AND k.assigned_at >= "+a.Add(int64(since))+" AND "+
			search.OpenCard+" AND c.done_at IS NULL", a...)
		count += n
		return err
	})
	return count, cards, err
}
