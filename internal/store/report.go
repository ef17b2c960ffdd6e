package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
)

// ReportCut contains the times by which a report classifies cards.
type ReportCut struct {
	Now        board.Instant
	Today, In7 query.Edge    // the starts of today and of the day seven days from now
	Stale      board.Instant // cards that have not changed since then are stale
}

// state returns an SQL expression that classifies the card c by its times, as one
// letter.
func (cut ReportCut) state(a *sqldb.Args) string {
	today, in7, todayAt := a.Add(cut.Today.Day), a.Add(cut.In7.Day), a.Add(int64(cut.Today.At))
	now, in7At := a.Add(int64(cut.Now)), a.Add(int64(cut.In7.At))
	return "CASE WHEN c.done_at IS NOT NULL THEN 'd' WHEN c.due_date IS NULL THEN 'u'" +
		" WHEN c.due_at IS NULL THEN CASE WHEN c.due_date < " + today + " THEN 'o' WHEN c.due_date < " + in7 + " THEN 's' ELSE 'l' END" +
		" WHEN c.due_at < " + todayAt + " THEN 'o' WHEN c.due_at < " + now + " THEN 'b' WHEN c.due_at < " + in7At + " THEN 's' ELSE 'l' END"
}

// cardState returns the card state for a letter that state selects.
func cardState(state byte) board.CardState {
	return board.CardState{
		Done: state == 'd', Undated: state == 'u', Overdue: state == 'o' || state == 'b', // b is both: due earlier today
		Soon: state == 's' || state == 'b',
	}
}

// ReportPeople calls fn for every person who may be assigned to cards of a workspace: its
// members, and its former members without an email address. (IS TRUE keeps SQLite from
// reading all people without an address.)
func (v *View) ReportPeople(ctx context.Context, workspaceID string, fn func(u board.UserRef)) error {
	return v.each(ctx, `SELECT u.id, u.name
		FROM users u WHERE u.id IN (SELECT m.user_id FROM workspace_members m WHERE m.workspace_id = $1 UNION
			SELECT p.id FROM former_members f JOIN users p ON p.id = f.user_id WHERE f.workspace_id = $1 AND (p.email IS NULL) IS TRUE)`,
		[]any{workspaceID}, func(rows *sql.Rows) error {
			var u board.UserRef
			err := rows.Scan(&u.ID, &u.Name)
			fn(u)
			return err
		})
}

// CardsByID returns the cards with the given ids, in the same order. Callers pass at
// most 256 ids. It does not check permissions: the ids must come from a query that
// does.
func (v *View) CardsByID(ctx context.Context, ids []string) ([]board.Card, error) {
	if len(ids) == 0 {
		return []board.Card{}, nil
	}
	found := map[string]board.Card{}
	var a sqldb.Args
	err := v.each(ctx, "SELECT "+(CardPage{}).columns()+" FROM cards c JOIN lists l ON l.id = c.list_id WHERE c.id IN ("+a.In(ids)+
		")", a, func(rows *sql.Rows) error {
		c, err := CardPage{}.scan(rows)
		found[c.ID] = c
		return err
	})
	out := make([]board.Card, len(ids))
	for i, id := range ids {
		out[i] = found[id]
	}
	if err != nil {
		return nil, err
	}
	return out, v.hydrate(ctx, out)
}

// CalendarWindow is the range of days that a calendar shows.
type CalendarWindow struct {
	From, To        query.Edge // the start of the first day, and of the day after the last one
	Earliest, After string     // a range of dates that contains the window in every time zone
	MonthBefore     string     // the first day of the month before that of After
}

// CalendarBoard contains the cards of a board in a calendar, one line of text per card. In
// SQLite, returning a row per card would cost as much as finding the card.
type CalendarBoard struct {
	ID    string
	lines []string
}

// Len returns the number of cards.
func (b CalendarBoard) Len() int { return len(b.lines) }

// After removes the cards up to and including the given id, and sorts the others by id.
func (b *CalendarBoard) After(cardID string) {
	slices.Sort(b.lines) // a line begins with the id
	b.lines = slices.DeleteFunc(b.lines, func(line string) bool { return line[:strings.IndexByte(line, ' ')] <= cardID })
}

// Cut keeps only the first n cards and returns the id of the last of them.
func (b *CalendarBoard) Cut(n int) (cardID string) {
	b.lines = b.lines[:n]
	last := b.lines[n-1]
	return strings.Clone(last[:strings.IndexByte(last, ' ')])
}

// Each calls fn for every card. It does not set FirstDay and LastDay.
func (b CalendarBoard) Each(fn func(board.CalendarCard) error) error {
	for _, line := range b.lines {
		c, err := calendarCard(line)
		if err != nil {
			return err
		}
		c.BoardID = b.ID
		if err := fn(c); err != nil {
			return err
		}
	}
	return nil
}

// calendarLine is the SQL expression for the line of the card c. The title comes last,
// because it is the only field that may contain spaces. It cannot contain a line break.
const (
	calendarLine = `concat_ws(' ', c.id, c.list_id, c.number, CASE WHEN c.done_at IS NULL THEN '' ELSE 'd' END, COALESCE(c.due_date, ''),
		COALESCE(CAST(c.due_at AS TEXT), ''), COALESCE(c.start_date, ''), COALESCE(CAST(c.start_at AS TEXT), ''),
		COALESCE(c.time_zone, ''), c.title)`
	calendarParts = 10
)

func calendarCard(line string) (c board.CalendarCard, err error) {
	var parts [calendarParts]string
	rest := line
	for i := range parts[:calendarParts-1] {
		parts[i], rest, _ = strings.Cut(rest, " ")
	}
	c.ID, c.ListID, c.Done, c.Title = parts[0], parts[1], parts[3] != "", rest
	if c.Number, err = strconv.Atoi(parts[2]); err != nil {
		return c, fmt.Errorf("parse number of %s: %w", c.ID, err)
	}
	for _, text := range []struct {
		part string
		to   **string
	}{{parts[4], &c.DueDate}, {parts[6], &c.StartDate}, {parts[8], &c.TimeZone}} {
		if text.part != "" {
			*text.to = &text.part
		}
	}
	for _, instant := range []struct {
		part string
		to   **board.Instant
	}{{parts[5], &c.DueAt}, {parts[7], &c.StartAt}} {
		if instant.part == "" {
			continue
		}
		n, err := strconv.ParseInt(instant.part, 10, 64)
		if err != nil {
			return c, fmt.Errorf("parse date of %s: %w", c.ID, err)
		}
		at := board.Instant(n)
		*instant.to = &at
	}
	return c, nil
}

// monthsOver is the number of months from the start date's month to the due date's.
// The index cards_long contains the same expression.
const monthsOver = "12 * CAST(substr(c.due_date, 1, 4) AS INTEGER) + CAST(substr(c.due_date, 6, 2) AS INTEGER)" +
	" - 12 * CAST(substr(c.start_date, 1, 4) AS INTEGER) - CAST(substr(c.start_date, 6, 2) AS INTEGER)"

// CalendarBoards returns the ids of the open boards in a workspace that the caller can see
// and that have the calendar enabled. They are sorted and start at the id from.
func (v *View) CalendarBoards(ctx context.Context, workspaceID, from string) ([]string, error) {
	var a sqldb.Args
	text := "WITH " + v.taking(workspaceID, &a)
	return v.texts(ctx, text+" SELECT t.id FROM taking t WHERE t.id >= "+a.Add(from)+" ORDER BY t.id", a...)
}

// CalendarAtOnce is the number of boards that one calendar statement should read.
const CalendarAtOnce = 64

// Calendar returns the open cards whose spans overlap the window, board by board in the
// order of the boards' ids. The boards must come from CalendarBoards, which checks
// permissions. If a due instant is before the start date in the caller's time zone, the
// span is the time between the two.
func (v *View) Calendar(ctx context.Context, w CalendarWindow, boardIDs []string) (out []CalendarBoard, err error) {
	var a sqldb.Args
	touches := func(comparison string, e query.Edge) string {
		at, day := a.Add(int64(e.At)), a.Add(e.Day)
		return fmt.Sprintf("(c.due_at %[1]s %[2]s OR c.due_at IS NULL AND c.due_date %[1]s %[3]s OR c.start_at %[1]s %[2]s "+
			"OR c.start_at IS NULL AND c.start_date %[1]s %[3]s)",
			comparison, at, day)
	}
	boards := a.In(boardIDs)
	earliest, after, monthBefore := a.Add(w.Earliest), a.Add(w.After), a.Add(w.MonthBefore)
	touch := " AND c.archived_at IS NULL AND c.list_id NOT IN (SELECT g.id FROM away g) AND " + touches(">=", w.From) +
		" AND " + touches("<", w.To)
	lines := func(which string) string {
		return "(SELECT string_agg(" + calendarLine + ", " + a.Add("\n") + ") FROM cards c WHERE c.board_id = t.id AND " + which + touch + ")"
	}
	// There are three groups of cards, each with its own index: cards that end in the
	// window (cards_span), cards that end after it and start in its last month or the
	// month before (cards_started), and cards that start earlier (cards_long).
	ends := "COALESCE(c.due_date, c.start_date) >= " + earliest + " AND COALESCE(c.due_date, c.start_date) < " + after
	outlasts := "c.start_date < " + after + " AND c.due_date >= " + after
	text := "WITH away AS MATERIALIZED (SELECT l.id FROM lists l WHERE l.archived_at IS NOT NULL AND l.board_id IN (" + boards +
		")) SELECT t.id, " + lines(ends) + ", " + lines(outlasts+" AND c.start_date >= "+monthBefore) + ", " +
		lines(outlasts+" AND c.start_date < "+monthBefore+" AND "+monthsOver+" > 1") + " FROM boards t WHERE t.id IN (" + boards +
		") ORDER BY t.id"
	err = v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			b     CalendarBoard
			parts [3]sql.NullString
		)
		if err := rows.Scan(&b.ID, &parts[0], &parts[1], &parts[2]); err != nil {
			return err
		}
		for _, part := range parts {
			if part.String != "" {
				b.lines = append(b.lines, strings.Split(part.String, "\n")...)
			}
		}
		out = append(out, b)
		return nil
	})
	return out, err
}

// CountUndated returns the number of open cards on the calendar's boards that are not
// done and have neither a due date nor a start date. It reads the cards only of boards
// without an exact summary.
func (v *View) CountUndated(ctx context.Context, workspaceID string) (int, error) {
	var a sqldb.Args
	undated := "c.archived_at IS NULL AND COALESCE(c.due_date, c.start_date) IS NULL AND COALESCE(c.start_date, c.due_date) IS NULL " +
		"AND c.done_at IS NULL"
	text := "WITH " + v.taking(workspaceID, &a) + ", counted AS MATERIALIZED (SELECT r.id, s.unplanned FROM boards r " +
		"JOIN board_summaries s ON " + v.exact(&a) + " WHERE r.id IN (SELECT t.id FROM taking t)), " +
		"others AS MATERIALIZED (SELECT t.id FROM taking t WHERE t.id NOT IN (SELECT n.id FROM counted n)) " +
		"SELECT CAST(COALESCE((SELECT sum(n.unplanned) FROM counted n), 0) AS BIGINT) + (SELECT count(*) FROM cards c WHERE c.board_id " +
		v.db.dialect().Among("SELECT t.id FROM others t") + " AND " + undated +
		") - (SELECT count(*) FROM lists g JOIN cards c ON c.list_id = g.id WHERE g.archived_at IS NOT NULL AND " +
		"g.board_id IN (SELECT t.id FROM others t) AND " + undated + ")"
	return v.count(ctx, text, a...)
}

// taking returns a common table expression, named taking, that selects the boards of a
// calendar.
func (v *View) taking(workspaceID string, a *sqldb.Args) string {
	return "taking AS MATERIALIZED (" + v.boardsOf(CardPage{WorkspaceID: workspaceID}, a) + " AND (b.features & " +
		a.Add(board.Features{Calendar: true}.Bits()) + ") <> 0)"
}

// FirstCards returns the number of cards on a page and all following pages, and the
// cards of the page.
func (v *View) FirstCards(ctx context.Context, p CardPage) (int, []board.Card, error) {
	plan, err := v.plan(ctx, p)
	if err != nil {
		return 0, nil, err
	}
	var a sqldb.Args
	text := "SELECT c.id FROM cards c JOIN lists l ON l.id = c.list_id WHERE " + plan.scope(v, &a) + " AND " + plan.condition(&a)
	ids, err := v.texts(ctx, text+orderBy(p.Query.Sort), a...)
	if err != nil {
		return 0, nil, err
	}
	cards, err := v.CardsByID(ctx, ids[:min(len(ids), p.Limit)])
	return len(ids), cards, err
}

// BoardStates returns the number of open boards that the caller can see, and at most limit
// of these boards with their latest status, most recently changed first.
func (v *View) BoardStates(ctx context.Context, limit int) (int, []board.BoardState, error) {
	var a sqldb.Args
	boards := v.boardsOf(CardPage{}, &a)
	count, err := v.count(ctx, "SELECT count(*) FROM boards r WHERE r.id IN ("+boards+")", a...)
	if err != nil {
		return 0, nil, err
	}
	out := []board.BoardState{}
	text := `SELECT b.id, b.workspace_id, b.name, b.open_cards, b.open_cards - b.done_cards, b.updated_at,
		s.id, s.status, s.title, s.created_at FROM boards b
		LEFT JOIN status_updates s ON s.id = (SELECT x.id FROM status_updates x WHERE x.board_id = b.id
		ORDER BY x.created_at DESC, x.id DESC LIMIT 1)
		WHERE b.id IN (` + boards + ") ORDER BY b.updated_at DESC, b.id DESC LIMIT " + a.Add(limit)
	err = v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			b                 board.BoardState
			id, status, title sql.NullString
			at                sql.NullInt64
		)
		err := rows.Scan(&b.ID, &b.WorkspaceID, &b.Name, &b.OpenCards, &b.Unfinished, &b.UpdatedAt, &id, &status, &title, &at)
		b.URL = v.db.opts.BaseURL + "/boards/" + b.ID
		if id.Valid {
			b.Status = &board.StatusRef{ID: id.String, Status: board.Status(status.String), Title: title.String, CreatedAt: board.Instant(at.Int64)}
		}
		out = append(out, b)
		return err
	})
	return count, out, err
}
