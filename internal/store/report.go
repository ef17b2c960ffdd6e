package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// Reports read many cards for a few numbers. The cards of a list are read as one
// aggregated text from a covering index, and the card ids of each person and label
// as another; package app combines them. This saves SQLite a lookup for every
// card, assignee and label, and a sort for every GROUP BY.

// ReportCut contains the times by which a report classifies cards.
type ReportCut struct {
	Now        board.Instant
	Today, In7 query.Edge    // the start of today, and of the day in seven days
	Stale      board.Instant // cards without a change since are stale
}

// ReportCard is a card as reports count it.
type ReportCard struct {
	ID        string
	UpdatedAt board.Instant
	board.Standing
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

// standing returns the meaning of a letter of state.
func standing(state byte) board.Standing {
	return board.Standing{
		Done: state == 'd', Undated: state == 'u', Overdue: state == 'o' || state == 'b', // b is both: earlier today
		Soon: state == 's' || state == 'b',
	}
}

// card parses the text of a card: its state, the instant of its last change, a colon
// and its id.
func (cut ReportCut) card(text string) (ReportCard, error) {
	updated, id, _ := strings.Cut(text[1:], ":")
	at, err := strconv.ParseInt(updated, 10, 64)
	c := ReportCard{id, board.Instant(at), standing(text[0])}
	c.Stale = !c.Done && c.UpdatedAt < cut.Stale
	return c, err
}

// ReportBoard is a board of a report.
type ReportBoard struct {
	ID, Name string
	Features board.Features
}

// ReportBoards returns the open boards of a workspace that the caller can see.
func (v *View) ReportBoards(ctx context.Context, workspaceID string) ([]ReportBoard, error) {
	var (
		a   sqldb.Args
		out []ReportBoard
	)
	text := "SELECT r.id, r.name, r.features FROM boards r WHERE r.id IN (" + v.boardsOf(CardPage{WorkspaceID: workspaceID}, &a) + ")"
	err := v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			b    ReportBoard
			bits int64
		)
		err := rows.Scan(&b.ID, &b.Name, &bits)
		b.Features = board.FeaturesOf(bits)
		out = append(out, b)
		return err
	})
	return out, err
}

// ReportList is an open list of a report.
type ReportList struct {
	ID, BoardID, Name string
	WIPLimit          *int
	WIPMode           board.WIPMode

	cut   ReportCut
	cards string // the texts of the cards, see ReportCut.card, separated by spaces
}

// Cards returns the list's cards that are not archived.
func (l *ReportList) Cards() ([]ReportCard, error) {
	out := make([]ReportCard, 0, strings.Count(l.cards, " ")+1)
	for text := range each(l.cards) {
		card, err := l.cut.card(text)
		if err != nil {
			return nil, fmt.Errorf("parse cards of %s: %w", l.ID, err)
		}
		out = append(out, card)
	}
	return out, nil
}

// Between returns the ids of the oldest and the newest card of the list, or "" if
// it has no cards.
func (l *ReportList) Between() (oldest, newest string) {
	for text := range each(l.cards) {
		_, id, _ := strings.Cut(text, ":")
		if oldest == "" || id < oldest {
			oldest = id
		}
		newest = max(newest, id)
	}
	return oldest, newest
}

// ReportLists calls fn for every open list of the report's boards.
func (v *View) ReportLists(ctx context.Context, workspaceID string, cut ReportCut, fn func(ReportList)) error {
	var a sqldb.Args
	text := "SELECT l.id, l.board_id, l.name, l.wip_limit, l.wip_mode, (SELECT string_agg(concat(" + cut.state(&a) +
		", c.updated_at, ':', c.id), ' ') FROM cards c" +
		" WHERE c.list_id = l.id AND " + search.OpenCard + ") FROM lists l WHERE l.archived_at IS NULL" +
		" AND l.board_id IN (" + v.boardsOf(CardPage{WorkspaceID: workspaceID}, &a) + ")"
	return v.each(ctx, text, a, func(rows *sql.Rows) error {
		l := ReportList{cut: cut}
		var cards sql.NullString
		if err := rows.Scan(&l.ID, &l.BoardID, &l.Name, &l.WIPLimit, &l.WIPMode, &cards); err != nil {
			return err
		}
		l.cards = cards.String
		fn(l)
		return nil
	})
}

// ReportPeople calls fn for every person who may be assigned to cards of the lists:
// the members of the workspace and its former members without an email address.
// (IS TRUE keeps SQLite from reading all people without an address.) Cards
// contains the ids of the person's cards between the oldest and the newest card,
// including cards of other workspaces.
func (v *View) ReportPeople(ctx context.Context, workspaceID, oldest, newest string, fn func(u board.UserRef, cards string)) error {
	return v.each(ctx, `SELECT u.id, u.name, (SELECT string_agg(k.card_id, ' ') FROM card_assignees k WHERE k.user_id = u.id
		AND k.card_id >= $2 AND k.card_id <= $3)
		FROM users u WHERE u.id IN (SELECT m.user_id FROM workspace_members m WHERE m.workspace_id = $1 UNION
			SELECT p.id FROM former_members f JOIN users p ON p.id = f.user_id WHERE f.workspace_id = $1 AND (p.email IS NULL) IS TRUE)`,
		[]any{workspaceID, oldest, newest}, func(rows *sql.Rows) error {
			var (
				u     board.UserRef
				cards sql.NullString
			)
			if err := rows.Scan(&u.ID, &u.Name, &cards); err != nil {
				return err
			}
			fn(u, cards.String)
			return nil
		})
}

// ReportLabels calls fn for every label of the report's boards, with the ids of
// the cards that have it.
func (v *View) ReportLabels(ctx context.Context, workspaceID string, fn func(name string, color board.Color, cards string)) error {
	var a sqldb.Args
	text := `SELECT a.name, a.color, (SELECT string_agg(k.card_id, ' ') FROM card_labels k WHERE k.label_id = a.id) FROM labels a
		WHERE a.board_id IN (` + v.boardsOf(CardPage{WorkspaceID: workspaceID}, &a) + ")"
	return v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			name  string
			color board.Color
			cards sql.NullString
		)
		if err := rows.Scan(&name, &color, &cards); err != nil {
			return err
		}
		fn(name, color, cards.String)
		return nil
	})
}

// ReportFlow contains the cards of a list that were created or done since an instant.
type ReportFlow struct{ cards string }

// Each calls fn for every card. Done is 0 if the card was not done since the instant.
// Moved is the time at which the card first left its first list, or 0.
func (f ReportFlow) Each(fn func(created, done, moved board.Instant)) error {
	for text := range each(f.cards) {
		created, rest, _ := strings.Cut(text, ":")
		done, moved, _ := strings.Cut(rest, ":")
		var at [3]board.Instant
		for i, number := range [...]string{created, done, moved} {
			if number == "" {
				continue
			}
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				return fmt.Errorf("parse flow of cards: %w", err)
			}
			at[i] = board.Instant(n)
		}
		fn(at[0], at[1], at[2])
	}
	return nil
}

// ReportFlows calls fn for every list of the report's boards with its cards. Both
// include archived ones.
func (v *View) ReportFlows(ctx context.Context, workspaceID string, since board.Instant, fn func(ReportFlow)) error {
	var a sqldb.Args
	from := a.Add(int64(since))
	text := "SELECT (SELECT string_agg(CASE WHEN c.done_at >= " + from + ` THEN concat_ws(':', c.created_at, c.done_at, c.moved_at)
		ELSE CAST(c.created_at AS TEXT) END, ' ')
		FROM cards c WHERE c.list_id = l.id AND (c.created_at >= ` + from + " OR c.done_at >= " + from + `))
		FROM lists l WHERE ` + search.ShownList + " AND l.board_id IN (" + v.boardsOf(CardPage{WorkspaceID: workspaceID}, &a) + ")"
	return v.each(ctx, text, a, func(rows *sql.Rows) error {
		var cards sql.NullString
		if err := rows.Scan(&cards); err != nil {
			return err
		}
		fn(ReportFlow{cards.String})
		return nil
	})
}

// each returns the parts of a text that are separated by spaces; none for "".
func each(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for more := text != ""; more; {
			var part string
			if part, text, more = strings.Cut(text, " "); !yield(part) {
				return
			}
		}
	}
}

// CardsByID returns at most 256 cards in the order of the given ids. It does not
// authorize: the caller must have found the ids in a query that does.
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
	WorkspaceID     string
	From, To        query.Edge // the start of the first day, and of the day after the last one
	Earliest, After string     // a range of dates that contains the window in every time zone
	MonthBefore     string     // the first day of the month before that of After
}

// CalendarBoard contains cards of a board in a calendar, as one line of text for each.
// A row for each card would cost SQLite as much as finding the card.
type CalendarBoard struct{ id, lines string }

// Len returns the number of cards.
func (b CalendarBoard) Len() int {
	if b.lines == "" {
		return 0
	}
	return strings.Count(b.lines, "\n") + 1
}

// Each calls fn for every card. It does not set the days of the card.
func (b CalendarBoard) Each(fn func(board.CalendarCard) error) error {
	if b.lines == "" {
		return nil
	}
	for line := range strings.SplitSeq(b.lines, "\n") {
		c, err := calendarCard(line)
		if err != nil {
			return err
		}
		c.BoardID = b.id
		if err := fn(c); err != nil {
			return err
		}
	}
	return nil
}

// calendarLine is the SQL expression for the line of the card c. The title comes last,
// because only it may contain spaces. It cannot contain a line break.
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

// Calendar calls fn with the open cards whose span overlaps the window, on open
// boards of the workspace that the caller can see and whose calendar is on. The
// cards come in parts and in no order. If a due instant is before the start date
// in the caller's time zone, the span is the time between the two. Calendar stops
// at an error of fn.
func (v *View) Calendar(ctx context.Context, w CalendarWindow, fn func(CalendarBoard) error) error {
	var a sqldb.Args
	touches := func(comparison string, e query.Edge) string {
		at, day := a.Add(int64(e.At)), a.Add(e.Day)
		return fmt.Sprintf("(c.due_at %[1]s %[2]s OR c.due_at IS NULL AND c.due_date %[1]s %[3]s OR c.start_at %[1]s %[2]s "+
			"OR c.start_at IS NULL AND c.start_date %[1]s %[3]s)",
			comparison, at, day)
	}
	earliest, after, monthBefore := a.Add(w.Earliest), a.Add(w.After), a.Add(w.MonthBefore)
	touch := " AND c.archived_at IS NULL AND c.list_id NOT IN (SELECT g.id FROM away g) AND " + touches(">=", w.From) +
		" AND " + touches("<", w.To)
	lines := func(which string) string {
		return "(SELECT string_agg(" + calendarLine + ", " + a.Add("\n") + ") FROM cards c WHERE c.board_id = t.id AND " + which + touch + ")"
	}
	// Three groups of cards, each with an index: those that end in the window
	// (cards_span), those that end after it and began in its last month or the month
	// before (cards_started), and those that began earlier (cards_long).
	ends := "COALESCE(c.due_date, c.start_date) >= " + earliest + " AND COALESCE(c.due_date, c.start_date) < " + after
	outlasts := "c.start_date < " + after + " AND c.due_date >= " + after
	text := v.onCalendar(w.WorkspaceID, &a) + "SELECT t.id, " + lines(ends) + ", " + lines(outlasts+" AND c.start_date >= "+
		monthBefore) + ", " +
		lines(outlasts+" AND c.start_date < "+monthBefore+" AND "+monthsOver+" > 1") + " FROM taking t"
	return v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			id    string
			parts [3]sql.NullString
		)
		if err := rows.Scan(&id, &parts[0], &parts[1], &parts[2]); err != nil {
			return err
		}
		for _, lines := range parts {
			if err := fn(CalendarBoard{id, lines.String}); err != nil {
				return err
			}
		}
		return nil
	})
}

// CountUndated returns the number of cards of the calendar's boards that are not done
// and have neither a due date nor a start date.
func (v *View) CountUndated(ctx context.Context, workspaceID string) (int, error) {
	var a sqldb.Args
	undated := "c.archived_at IS NULL AND COALESCE(c.due_date, c.start_date) IS NULL AND COALESCE(c.start_date, c.due_date) IS NULL " +
		"AND c.done_at IS NULL"
	text := v.onCalendar(workspaceID, &a) + "SELECT (SELECT count(*) FROM cards c WHERE c.board_id " +
		v.db.dialect().Among("SELECT t.id FROM taking t") + " AND " + undated +
		") - (SELECT count(*) FROM away g JOIN cards c ON c.list_id = g.id WHERE " + undated + ")"
	return v.count(ctx, text, a...)
}

// onCalendar returns the beginning of a query, which defines taking (the boards of a
// calendar) and away (their archived lists).
func (v *View) onCalendar(workspaceID string, a *sqldb.Args) string {
	return "WITH taking AS MATERIALIZED (" + v.boardsOf(CardPage{WorkspaceID: workspaceID}, a) + " AND (b.features & " +
		a.Add(board.Features{Calendar: true}.Bits()) + `) <> 0),
		away AS MATERIALIZED (SELECT l.id FROM lists l WHERE l.archived_at IS NOT NULL AND l.board_id IN (SELECT t.id FROM taking t)) `
}

// FirstCards returns the cards of a page, and the number of cards of this and all
// following pages.
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

// RecentlyAssigned returns the number of open cards that were assigned to the caller
// since an instant, and at most limit of them, latest first.
func (v *View) RecentlyAssigned(ctx context.Context, since board.Instant, limit int) (int, []board.Card, error) {
	var a sqldb.Args
	text := `SELECT k.card_id FROM card_assignees k JOIN cards c ON c.id = k.card_id JOIN lists l ON l.id = c.list_id
		WHERE k.user_id = ` + a.Add(v.caller.UserID) + " AND k.assigned_at >= " + a.Add(int64(since)) + `
		AND ` + search.OpenCard + ` AND c.done_at IS NULL AND (c.board_id IN (` + v.boardsOf(CardPage{}, &a) + `)) IS TRUE
		ORDER BY k.assigned_at DESC, k.card_id DESC`
	ids, err := v.texts(ctx, text, a...)
	if err != nil {
		return 0, nil, err
	}
	cards, err := v.CardsByID(ctx, ids[:min(len(ids), limit)])
	return len(ids), cards, err
}

// BoardStates returns the number of open boards that the caller can see, and at most
// limit of them with their latest status, the last changed first.
func (v *View) BoardStates(ctx context.Context, limit int) (int, []board.BoardState, error) {
	var a sqldb.Args
	boards := v.boardsOf(CardPage{}, &a)
	count, err := v.count(ctx, "SELECT count(*) FROM boards r WHERE r.id IN ("+boards+")", a...)
	if err != nil {
		return 0, nil, err
	}
	out := []board.BoardState{}
	text := `SELECT r.id, r.workspace_id, r.name, r.open_cards, r.updated_at, s.id, s.status, s.title, s.created_at FROM boards r
		LEFT JOIN status_updates s ON s.id = (SELECT x.id FROM status_updates x WHERE x.board_id = r.id
		ORDER BY x.created_at DESC, x.id DESC LIMIT 1)
		WHERE r.id IN (` + boards + ") ORDER BY r.updated_at DESC, r.id DESC LIMIT " + a.Add(limit)
	err = v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			b                 board.BoardState
			id, status, title sql.NullString
			at                sql.NullInt64
		)
		err := rows.Scan(&b.ID, &b.WorkspaceID, &b.Name, &b.OpenCards, &b.UpdatedAt, &id, &status, &title, &at)
		b.URL = v.db.opts.BaseURL + "/boards/" + b.ID
		if id.Valid {
			b.Status = &board.StatusRef{ID: id.String, Status: board.Status(status.String), Title: title.String, CreatedAt: board.Instant(at.Int64)}
		}
		out = append(out, b)
		return err
	})
	return count, out, err
}
