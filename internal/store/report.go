package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

// Reports read many cards to tell a few numbers. A list's cards come as one
// text that its index alone makes up, and who is assigned and what is labelled
// as one text for each person and label: app puts them together. SQLite would
// need a look-up in a tree for every card and each of its people and labels,
// and a sort for every GROUP BY; so it needs neither.

// ReportCut are the edges in time that a report counts by.
type ReportCut struct {
	Now        board.Instant
	Today, In7 query.Edge    // the beginning of today, and of the day seven days on
	Stale      board.Instant // what did not change since is stale
}

// ReportCard is what a report counts of a card.
type ReportCard struct {
	ID string
	board.Standing
}

// state is a text of two letters that says where the card c stands in time.
func (cut ReportCut) state(a *arguments) string {
	today, in7, todayAt := a.add(cut.Today.Day), a.add(cut.In7.Day), a.add(int64(cut.Today.At))
	now, in7At, stale := a.add(int64(cut.Now)), a.add(int64(cut.In7.At)), a.add(int64(cut.Stale))
	return "CASE WHEN c.done_at IS NOT NULL THEN 'd' WHEN c.due_date IS NULL THEN 'u'" +
		" WHEN c.due_at IS NULL THEN CASE WHEN c.due_date < " + today + " THEN 'o' WHEN c.due_date < " + in7 + " THEN 's' ELSE 'l' END" +
		" WHEN c.due_at < " + todayAt + " THEN 'o' WHEN c.due_at < " + now + " THEN 'b' WHEN c.due_at < " + in7At + " THEN 's' ELSE 'l' END" +
		" || CASE WHEN c.updated_at < " + stale + " THEN 's' ELSE '-' END"
}

// reportCard reads what state wrote before an id.
func reportCard(text string) ReportCard {
	due, stale, id := text[0], text[1], text[2:]
	return ReportCard{id, board.Standing{
		Done: due == 'd', Undated: due == 'u', Overdue: due == 'o' || due == 'b', // b is both: earlier today
		Soon: due == 's' || due == 'b', Stale: stale == 's' && due != 'd',
	}}
}

// ReportBoard is a board of a report.
type ReportBoard struct {
	ID, Name string
	Features board.Features
}

// ReportBoards are the open boards of a workspace that the caller sees.
func (v *View) ReportBoards(ctx context.Context, workspaceID string) ([]ReportBoard, error) {
	var (
		a   arguments
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

// ReportList is an open list of a report, with its cards that are not archived.
type ReportList struct {
	ID, BoardID, Name string
	WIPLimit          *int
	WIPMode           board.WIPMode
	Cards             []ReportCard
}

// ReportLists are the open lists of those boards.
func (v *View) ReportLists(ctx context.Context, workspaceID string, cut ReportCut) ([]ReportList, error) {
	var (
		a   arguments
		out []ReportList
	)
	text := "SELECT l.id, l.board_id, l.name, l.wip_limit, l.wip_mode, (SELECT string_agg(" + cut.state(&a) + " || c.id, ' ') FROM cards c" +
		" WHERE c.list_id = l.id AND c.archived_at IS NULL) FROM lists l WHERE l.archived_at IS NULL" +
		" AND l.board_id IN (" + v.boardsOf(CardPage{WorkspaceID: workspaceID}, &a) + ")"
	err := v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			l     ReportList
			cards sql.NullString
		)
		if err := rows.Scan(&l.ID, &l.BoardID, &l.Name, &l.WIPLimit, &l.WIPMode, &cards); err != nil {
			return err
		}
		for card := range strings.FieldsSeq(cards.String) {
			l.Cards = append(l.Cards, reportCard(card))
		}
		out = append(out, l)
		return nil
	})
	return out, err
}

// ReportPeople calls fn for everybody who may be assigned to a card of the
// workspace, with the ids of the cards, on whatever board: its members, and
// those who have no address any more or never had one.
func (v *View) ReportPeople(ctx context.Context, workspaceID string, fn func(u board.UserRef, cards string)) error {
	return v.each(ctx, `SELECT u.id, u.name, (SELECT string_agg(k.card_id, ' ') FROM card_assignees k WHERE k.user_id = u.id) FROM users u
		WHERE u.id IN (SELECT m.user_id FROM workspace_members m WHERE m.workspace_id = $1 UNION SELECT p.id FROM users p WHERE p.email IS NULL)`,
		[]any{workspaceID}, func(rows *sql.Rows) error {
			var (
				u     board.UserRef
				cards sql.NullString
			)
			err := rows.Scan(&u.ID, &u.Name, &cards)
			fn(u, cards.String)
			return err
		})
}

// ReportLabels calls fn for every label of the report's boards, with the ids of
// the cards that carry it.
func (v *View) ReportLabels(ctx context.Context, workspaceID string, fn func(name string, color board.Color, cards string)) error {
	var a arguments
	text := `SELECT a.name, a.color, (SELECT string_agg(k.card_id, ' ') FROM card_labels k WHERE k.label_id = a.id) FROM labels a
		WHERE a.board_id IN (` + v.boardsOf(CardPage{WorkspaceID: workspaceID}, &a) + ")"
	return v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			name  string
			color board.Color
			cards sql.NullString
		)
		err := rows.Scan(&name, &color, &cards)
		fn(name, color, cards.String)
		return err
	})
}

// ReportFlow calls fn for every card of the report's boards that was created or
// done since, archived or not, and in an archived list too. Moved is when a
// card that was done since first left the list it was made in.
func (v *View) ReportFlow(ctx context.Context, workspaceID string, since board.Instant, fn func(created board.Instant, done, moved *board.Instant)) error {
	var a arguments
	from := a.add(int64(since))
	text := "SELECT c.created_at, c.done_at, CASE WHEN c.done_at >= " + from + ` THEN
		(SELECT min(m.at) FROM activity m WHERE m.card_id = c.id AND m.type = 'card.moved') END
		FROM lists l JOIN cards c ON c.list_id = l.id WHERE (c.created_at >= ` + from + " OR c.done_at >= " + from + `)
		AND l.board_id IN (` + v.boardsOf(CardPage{WorkspaceID: workspaceID}, &a) + ")"
	return v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			created     board.Instant
			done, moved *board.Instant
		)
		err := rows.Scan(&created, &done, &moved)
		fn(created, done, moved)
		return err
	})
}

// StaleCards are the open cards of the report's lists that did not change since
// an instant, longest unchanged first.
func (v *View) StaleCards(ctx context.Context, workspaceID string, since board.Instant, limit int) ([]board.Card, error) {
	var a arguments
	text := `SELECT c.id FROM lists l JOIN cards c ON c.list_id = l.id WHERE l.archived_at IS NULL AND c.archived_at IS NULL AND c.done_at IS NULL
		AND c.updated_at < ` + a.add(int64(since)) + " AND l.board_id IN (" + v.boardsOf(CardPage{WorkspaceID: workspaceID}, &a) + `)
		ORDER BY c.updated_at, c.id LIMIT ` + a.add(limit)
	ids, err := v.texts(ctx, text, a...)
	if err != nil {
		return nil, err
	}
	return v.cardsByID(ctx, ids)
}

// cardsByID are at most 256 cards that a query has found for the caller, in the
// order of their ids in the list, without descriptions.
func (v *View) cardsByID(ctx context.Context, ids []string) ([]board.Card, error) {
	if len(ids) == 0 {
		return []board.Card{}, nil
	}
	found := map[string]board.Card{}
	var a arguments
	err := v.each(ctx, "SELECT "+cardColumns+" FROM cards c WHERE c.id IN ("+a.list(ids)+")", a, func(rows *sql.Rows) error {
		c, err := CardPage{Compact: true}.scan(rows)
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
	return out, v.dress(ctx, out)
}

// CalendarWindow is a window of days, and how many cards it may hold.
type CalendarWindow struct {
	WorkspaceID     string
	From, To        query.Edge // the beginning of the first day, and of the day behind the last
	Earliest, After string     // the window's dates in whatever zone: wider by what zones differ
	Limit           int
}

// Calendar are the cards whose span touches the window, in no order: not
// archived, in open lists, on open boards of the workspace that the caller sees
// and whose feature calendar is on. Where a due instant lies before the date
// of the start in the caller's zone, the span is that between the two.
func (v *View) Calendar(ctx context.Context, w CalendarWindow) ([]board.CalendarCard, error) {
	var a arguments
	out := []board.CalendarCard{}
	touches := func(comparison string, e query.Edge) string {
		at, day := a.add(int64(e.At)), a.add(e.Day)
		return fmt.Sprintf("(c.due_at %[1]s %[2]s OR c.due_at IS NULL AND c.due_date %[1]s %[3]s OR c.start_at %[1]s %[2]s OR c.start_at IS NULL AND c.start_date %[1]s %[3]s)",
			comparison, at, day)
	}
	text := `SELECT c.id, c.board_id, c.list_id, c.number, c.title, c.done_at IS NOT NULL, c.due_date, c.due_at, c.start_date, c.start_at, c.time_zone
		FROM cards c JOIN lists l ON l.id = c.list_id WHERE c.board_id IN (` + v.calendarBoards(w.WorkspaceID, &a) + `)
		AND c.archived_at IS NULL AND l.archived_at IS NULL
		AND COALESCE(c.due_date, c.start_date) >= ` + a.add(w.Earliest) + " AND COALESCE(c.start_date, c.due_date) < " + a.add(w.After) +
		" AND " + touches(">=", w.From) + " AND " + touches("<", w.To) + " LIMIT " + a.add(w.Limit)
	err := v.each(ctx, text, a, func(rows *sql.Rows) error {
		var c board.CalendarCard
		err := rows.Scan(&c.ID, &c.BoardID, &c.ListID, &c.Number, &c.Title, &c.Done, &c.DueDate, &c.DueAt, &c.StartDate, &c.StartAt, &c.TimeZone)
		out = append(out, c)
		return err
	})
	return out, err
}

// CountUndated counts the cards of the calendar's boards that are not done and
// have neither due date nor start.
func (v *View) CountUndated(ctx context.Context, workspaceID string) (int, error) {
	var a arguments
	text := "SELECT count(*) FROM cards c WHERE c.board_id IN (" + v.calendarBoards(workspaceID, &a) + `) AND c.archived_at IS NULL
		AND COALESCE(c.due_date, c.start_date) IS NULL AND c.done_at IS NULL
		AND c.list_id NOT IN (SELECT l.id FROM lists l WHERE l.archived_at IS NOT NULL AND l.board_id IN (` + v.calendarBoards(workspaceID, &a) + "))"
	return v.count(ctx, text, a...)
}

func (v *View) calendarBoards(workspaceID string, a *arguments) string {
	return v.boardsOf(CardPage{WorkspaceID: workspaceID}, a) + " AND (b.features & " + a.add(board.Features{Calendar: true}.Bits()) + ") <> 0"
}

// CountCards counts the cards of a page and of all that follow it.
func (v *View) CountCards(ctx context.Context, p CardPage) (int, error) {
	plan, err := v.plan(ctx, p)
	if err != nil {
		return 0, err
	}
	var a arguments
	text := "SELECT count(*) FROM cards c JOIN lists l ON l.id = c.list_id WHERE " + plan.scope(v, &a)
	return v.count(ctx, text+" AND "+plan.condition(&a), a...)
}

// RecentlyAssigned are the first few of the open cards that were assigned to
// the caller since an instant, latest first, and how many there are.
func (v *View) RecentlyAssigned(ctx context.Context, since board.Instant, limit int) (int, []board.Card, error) {
	var a arguments
	text := `SELECT k.card_id FROM card_assignees k JOIN cards c ON c.id = k.card_id JOIN lists l ON l.id = c.list_id
		WHERE k.user_id = ` + a.add(v.caller.UserID) + " AND k.assigned_at >= " + a.add(int64(since)) + `
		AND c.archived_at IS NULL AND c.done_at IS NULL AND l.archived_at IS NULL AND (c.board_id IN (` + v.boardsOf(CardPage{}, &a) + `)) IS TRUE
		ORDER BY k.assigned_at DESC, k.card_id DESC`
	ids, err := v.texts(ctx, text, a...)
	if err != nil {
		return 0, nil, err
	}
	cards, err := v.cardsByID(ctx, ids[:min(len(ids), limit)])
	return len(ids), cards, err
}

// BoardStates are the first few of the open boards that the caller sees, with
// their latest status, what changed last first, and how many there are.
func (v *View) BoardStates(ctx context.Context, limit int) (int, []board.BoardState, error) {
	var a arguments
	boards := v.boardsOf(CardPage{}, &a)
	count, err := v.count(ctx, "SELECT count(*) FROM boards r WHERE r.id IN ("+boards+")", a...)
	if err != nil {
		return 0, nil, err
	}
	out := []board.BoardState{}
	text := `SELECT r.id, r.workspace_id, r.name, r.open_cards, r.updated_at, s.id, s.status, s.title, s.created_at FROM boards r
		LEFT JOIN status_updates s ON s.id = (SELECT x.id FROM status_updates x WHERE x.board_id = r.id ORDER BY x.created_at DESC, x.id DESC LIMIT 1)
		WHERE r.id IN (` + boards + ") ORDER BY r.updated_at DESC, r.id DESC LIMIT " + a.add(limit)
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
