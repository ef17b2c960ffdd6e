package store

import (
	"sort"

	"cardwall/internal/board"
)

// A Summary holds everything that reports count on a board, at one version of the board.
// Every change to a board increases the board's version, so a stored summary is exact if
// its version equals the board's version. See ADR 29.
//
// A summary is valid for any time zone and for any time after it was counted. It keeps due
// dates, due instants and recent changes individually. It only counts older dates and
// changes, because they are on the same side of every later threshold.
type Summary struct {
	CountedAt  board.Instant
	Unassigned int // open cards without an assignee
	Unplanned  int // open cards with neither a due date nor a start date
	Lists      []ListSummary
	People     []PersonSummary // people with assigned cards
	Labels     []LabelSummary  // labels that are on cards
	Oldest     []OldCard       // the least recently changed open cards, at most OldestCards
	LongStale  int             // open cards last changed more than staleSlack before CountedAt
	Updated    []board.Instant // times of the last changes to all other open cards, in order
	Created    []board.Instant // creation times of cards, starting flowSlack before CountedAt, in order
	Finished   []FinishedCard  // cards completed since flowSlack before CountedAt, in order
}

// ListSummary holds the counts of an open list.
type ListSummary struct {
	ID, Name string
	WIPLimit *int
	WIPMode  board.WIPMode
	DueCounts
}

// PersonSummary holds the counts of an assignee.
type PersonSummary struct {
	UserID   string
	Assigned []board.Instant // assignment times of open cards, starting recentSlack before CountedAt, in order
	DueCounts
}

// LabelSummary holds the counts of a label.
type LabelSummary struct {
	Name  string
	Color board.Color
	DueCounts
}

// OldCard is an open card with the time of its last change.
type OldCard struct {
	UpdatedAt board.Instant
	ID        string
}

// FinishedCard is a completed card. The durations are in milliseconds.
type FinishedCard struct {
	At    board.Instant
	Lead  int64 // from creation to completion
	Cycle int64 // from the first move to another list to completion; -1 if there was no such move
}

// DueCounts counts cards by their due times.
type DueCounts struct {
	Done     int
	Undated  int             // open cards without a due date
	Past     int             // open cards due more than dueSlack before the summary was counted
	PastFrom int             // earliest due day of these cards, in UTC for due instants; 0 for none
	Days     []DayCount      // due days of all other open cards that are due on a day, in order
	Times    []board.Instant // due instants of all other open cards that are due at an instant, in order
}

// DayCount is the number of cards due on a day.
type DayCount struct{ Day, Cards int } // such as 20260301 for 2026-03-01

const (
	// OldestCards is the number of least recently changed cards that a summary lists. A
	// report shows no more.
	OldestCards = 5

	day = board.Instant(24 * 60 * 60 * 1000)
	// clockSlack is the maximum difference between the clocks of servers. A report does
	// not use a summary that was counted more than clockSlack after the report's own time.
	clockSlack = day
	// The maximum distances between now and the thresholds of reports: a day that has
	// ended in every time zone, 14 days without a change, and the Monday of the first of
	// the last twelve weeks. Each includes clockSlack.
	dueSlack   = clockSlack + 2*day
	staleSlack = clockSlack + 14*day
	flowSlack  = clockSlack + 86*day
)

// Cards returns the number of cards.
func (d *DueCounts) Cards() int { return d.Done + d.open() }

func (d *DueCounts) open() int {
	n := d.Undated + d.Past + len(d.Times)
	for _, on := range d.Days {
		n += on.Cards
	}
	return n
}

// Tally returns the counts at a point in time.
func (d *DueCounts) Tally(cut ReportCut) board.Tally {
	t := board.Tally{Open: d.open(), Done: d.Done, Overdue: d.Past + before(d.Times, cut.Now)}
	today := dayNumber(cut.Today.Day)
	for _, on := range d.Days {
		if on.Day >= today {
			break
		}
		t.Overdue += on.Cards
	}
	return t
}

// Soon returns the number of cards that are due today or in the next six days.
func (d *DueCounts) Soon(cut ReportCut) int {
	n := before(d.Times, cut.In7.At) - before(d.Times, cut.Today.At)
	from, to := dayNumber(cut.Today.Day), dayNumber(cut.In7.Day)
	for _, on := range d.Days {
		if on.Day >= from && on.Day < to {
			n += on.Cards
		}
	}
	return n
}

// Stale returns the number of stale cards.
func (s *Summary) Stale(cut ReportCut) int { return s.LongStale + before(s.Updated, cut.Stale) }

// CreatedBefore returns the number of times in Created that are before the limit.
func (s *Summary) CreatedBefore(limit board.Instant) int { return before(s.Created, limit) }

// before returns the number of ordered instants that are before the limit.
func before(ordered []board.Instant, limit board.Instant) int {
	return sort.Search(len(ordered), func(i int) bool { return ordered[i] >= limit })
}

// dayNumber returns a date as a number, such as 20260301 for 2026-03-01.
func dayNumber(date string) (n int) {
	for _, c := range date {
		if c != '-' {
			n = 10*n + int(c-'0')
		}
	}
	return n
}
