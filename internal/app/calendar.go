package app

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

const (
	calendarDays  = 92   // maximum number of days in a range
	calendarCards = 5000 // maximum number of cards on a page
	// zonesApart is the largest difference in days between the dates in two time
	// zones. Zones are up to 26 hours apart.
	zonesApart = 2
)

// GetWorkspaceCalendarInput is the input of GetWorkspaceCalendar.
type GetWorkspaceCalendarInput struct {
	WorkspaceInput
	From     string `json:"from" doc:"The first day of the range, YYYY-MM-DD." example:"2026-03-01"`
	To       string `json:"to" doc:"The last day of the range, YYYY-MM-DD. A range has at most 92 days." example:"2026-03-31"`
	TimeZone string `json:"timeZone,omitempty" doc:"The time zone of the days, as an IANA name such as Europe/Zurich. Defaults to the caller's time zone." example:"Europe/Zurich"`
	op.Continuation
}

// WorkspaceCalendar holds the cards of a workspace in a range of days.
type WorkspaceCalendar struct {
	From         string         `json:"from" format:"date" doc:"The first day of the range." example:"2026-03-01"`
	To           string         `json:"to" format:"date" doc:"The last day of the range." example:"2026-03-31"`
	TimeZone     string         `json:"timeZone" doc:"The time zone of the days." example:"Europe/London"`
	Cards        []CalendarCard `json:"cards" doc:"Every card, done or not, whose span from start to due date overlaps the range, sorted by first day, last day and id. If there are more than 5,000, each page contains the cards of some boards."`
	UndatedCount int            `json:"undatedCount" doc:"The number of cards that are not done and have neither a due date nor a start date." example:"20"`

	next *calendarCursor
}

// calendarCursor is the position at which a page of a calendar begins. Boards are in the
// order of their ids.
type calendarCursor struct {
	BoardID string `json:"b"`
	CardID  string `json:"c,omitempty"` // the last card of the board on earlier pages, by id; empty if there is none
}

// Next returns the cursor of the next page, or nil on the last page.
func (w WorkspaceCalendar) Next() any {
	if w.next == nil {
		return nil
	}
	return w.next
}

// CalendarCard is an encoded card of the response. Cards are encoded one by one as they
// are read, because a month of a large workspace has thousands of them.
type CalendarCard = op.Written[board.CalendarCard]

// AppendJSON appends the calendar as the generic encoder would.
func (w WorkspaceCalendar) AppendJSON(b []byte) (_ []byte, err error) {
	for _, member := range []struct{ name, value string }{{`{"from":`, w.From}, {`,"to":`, w.To}, {`,"timeZone":`, w.TimeZone}} {
		if b, err = jsontext.AppendQuote(append(b, member.name...), member.value); err != nil {
			return nil, err
		}
	}
	b = op.AppendArray(append(b, `,"cards":`...), w.Cards)
	return append(strconv.AppendInt(append(b, `,"undatedCount":`...), int64(w.UndatedCount), 10), '}'), nil
}

// GetWorkspaceCalendar returns the cards whose span overlaps a range of days.
func GetWorkspaceCalendar(ctx context.Context, v *store.View, in GetWorkspaceCalendarInput) (WorkspaceCalendar, error) {
	var out WorkspaceCalendar
	if _, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
		return out, err
	}
	first, last, err := in.days()
	if err != nil {
		return out, err
	}
	var from calendarCursor
	if err := in.After(&from); err != nil {
		return out, err
	}
	days, err := reportDays(ctx, v, in.TimeZone)
	if err != nil {
		return out, err
	}
	out = WorkspaceCalendar{From: in.From, To: in.To, TimeZone: days.zone.String()}
	after := last.AddDate(0, 0, zonesApart+1)
	window := store.CalendarWindow{
		From: query.DayEdge(first, days.zone), To: query.DayEdge(last.AddDate(0, 0, 1), days.zone),
		Earliest: first.AddDate(0, 0, -zonesApart).Format(board.DateLayout), After: after.Format(board.DateLayout),
		MonthBefore: after.AddDate(0, -1, 1-after.Day()).Format(board.DateLayout),
	}
	var (
		cards  = make([]calendarEntry, 0, 1000)
		writer = op.Writer[board.CalendarCard]{Append: appendCalendarCard}
	)
	write := func(c board.CalendarCard) error {
		c.FirstDay, c.LastDay = days.span(c.Due)
		text, err := writer.Write(&c)
		cards = append(cards, calendarEntry{dayNumber(c.FirstDay)<<32 | dayNumber(c.LastDay), c.ID, text})
		return err
	}
	if err := pipeline(func(submit func(func() error)) (err error) {
		if out.next, err = calendarPage(ctx, v, in.WorkspaceID, window, from, func(b store.CalendarBoard) {
			submit(func() error { return b.Each(write) })
		}); err != nil {
			return err
		}
		out.UndatedCount, err = v.CountUndated(ctx, in.WorkspaceID)
		return err
	}); err != nil {
		return out, err
	}
	out.Cards = inOrder(cards)
	return out, nil
}

// days returns the first and the last day of the range. It returns an error if the range
// is empty or too long.
func (in *GetWorkspaceCalendarInput) days() (first, last time.Time, err error) {
	if first, err = board.ParseDate("from", in.From); err != nil {
		return first, last, err
	}
	if last, err = board.ParseDate("to", in.To); err != nil {
		return first, last, err
	}
	switch days := int(last.Sub(first)/(24*time.Hour)) + 1; {
	case days < 1:
		err = board.Invalid("to must not be before from.").In("to", board.RuleValue)
	case days > calendarDays:
		err = board.Invalid("to must be at most %d days after from. A range has at most %d days, including "+
			"both ends.", calendarDays-1, calendarDays).In("to", board.RuleValue)
	}
	return first, last, err
}

// calendarPage reads the boards of the page that begins at a cursor, and calls fn with the
// cards of each board. It returns the cursor of the next page, or nil after the last board.
// A board is divided only if its cards alone exceed a page.
func calendarPage(ctx context.Context, v *store.View, workspaceID string, window store.CalendarWindow, from calendarCursor,
	fn func(store.CalendarBoard)) (*calendarCursor, error) {
	ids, err := v.CalendarBoards(ctx, workspaceID, from.BoardID)
	if err != nil {
		return nil, err
	}
	for found, read := 0, 0; len(ids) > 0; {
		some := ids[:min(len(ids), store.CalendarAtOnce)]
		if found > 0 { // estimate how many boards the page still needs
			some = some[:min(len(some), 1+read*(calendarCards-found)/found)]
		}
		ids = ids[len(some):]
		read += len(some)
		boards, err := v.Calendar(ctx, window, some)
		if err != nil {
			return nil, err
		}
		for _, b := range boards {
			if b.ID == from.BoardID && from.CardID != "" {
				b.After(from.CardID)
			}
			switch {
			case found+b.Len() <= calendarCards:
				found += b.Len()
				fn(b)
			case found > 0:
				return &calendarCursor{BoardID: b.ID}, nil
			default:
				b.After("")
				next := &calendarCursor{b.ID, b.Cut(calendarCards)}
				fn(b)
				return next, nil
			}
		}
	}
	return nil, nil
}

// calendarEntry is a card of a calendar with its sort key.
type calendarEntry struct {
	days uint64 // dayNumber of the first day in the upper half, of the last day in the lower half
	id   string
	card CalendarCard
}

// dayNumber returns a date as a number, such as 20260301 for 2026-03-01.
func dayNumber(day string) (n uint64) {
	for _, c := range day {
		if c != '-' {
			n = 10*n + uint64(c-'0')
		}
	}
	return n
}

// inOrder returns the cards sorted by first day, last day and id.
func inOrder(entries []calendarEntry) []CalendarCard {
	slices.SortFunc(entries, func(a, b calendarEntry) int {
		if a.days != b.days {
			return cmp.Compare(a.days, b.days)
		}
		return cmp.Compare(a.id, b.id)
	})
	cards := make([]CalendarCard, len(entries))
	for i, e := range entries {
		cards[i] = e.card
	}
	return cards
}

// days holds the time zone and the current day of a report.
type days struct {
	zone  *time.Location
	today time.Time // midnight UTC of the current date
}

// reportDays returns the days for a time zone, or for the caller's own if name
// is "".
func reportDays(ctx context.Context, v *store.View, name string) (days, error) {
	if name == "" {
		me, err := v.User(ctx)
		if err != nil {
			return days{}, err
		}
		name = me.TimeZone
	}
	zone, err := board.LoadZone("timeZone", name)
	if err != nil {
		return days{}, err
	}
	return days{zone, dateOf(v.Time(), zone)}, nil
}

func dateOf(t time.Time, zone *time.Location) time.Time {
	y, m, d := t.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// edge returns the start of the day that is n days after today.
func (d days) edge(n int) query.Edge { return query.DayEdge(d.today.AddDate(0, 0, n), d.zone) }

// cut returns the times that separate the groups of a report, such as cards that are
// overdue and cards that are due within seven days.
func (d days) cut(now board.Instant) store.ReportCut {
	return store.ReportCut{Now: now, Today: d.edge(0), In7: d.edge(7), Stale: now - staleAfter}
}

// span returns the first and the last day of a card that has a date.
func (d days) span(due board.Due) (first, last string) {
	day := func(date *string, at *board.Instant) string {
		switch {
		case at != nil:
			return dateOf(at.Time(), d.zone).Format(board.DateLayout)
		case date != nil:
			return *date
		}
		return ""
	}
	first, last = day(due.StartDate, due.StartAt), day(due.DueDate, due.DueAt)
	first, last = cmp.Or(first, last), cmp.Or(last, first)
	return min(first, last), max(first, last)
}
