package query

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"cardwall/internal/board"
)

// calendar resolves relative days. A day is represented as midnight UTC of its
// date.
type calendar struct {
	now   time.Time
	zone  *time.Location
	today time.Time
}

func newCalendar(env Env) calendar {
	zone := env.Zone
	if zone == nil {
		zone = time.UTC
	}
	y, m, d := env.Now.In(zone).Date()
	return calendar{now: env.Now, zone: zone, today: time.Date(y, m, d, 0, 0, 0, 0, time.UTC)}
}

// edge returns the start of the day.
func (c calendar) edge(day time.Time) Edge {
	return Edge{Day: day.Format(board.DateLayout), At: board.InstantOf(dayStart(day, c.zone))}
}

// dayStart returns the first instant of a date in a zone. If the zone skips
// midnight, it returns the first instant after the gap. If midnight occurs twice,
// it returns the first one. If the zone skips the entire date, it returns the
// start of the next date.
func dayStart(day time.Time, zone *time.Location) time.Time {
	y, m, d := day.Date()
	t := time.Date(y, m, d, 0, 0, 0, 0, zone)
	if dateIn(t, zone).Before(day) {
		_, end := t.ZoneBounds()
		return end
	}
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		return t
	}
	_, offset := start.Add(-time.Nanosecond).Zone()
	if twin := day.Add(-time.Duration(offset) * time.Second); twin.Before(start) && twin.Before(t) {
		return twin.In(zone)
	}
	return t
}

func dateIn(t time.Time, zone *time.Location) time.Time {
	y, m, d := t.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// days returns the range from first to last, both included.
func (c calendar) days(f Field, first, last time.Time) Range {
	return Range{Field: f, From: c.edge(first), To: c.edge(last.AddDate(0, 0, 1))}
}

// point parses a single day: a date, or yesterday, today or tomorrow.
func (c calendar) point(s string) (day time.Time, ok bool) {
	switch s {
	case "yesterday":
		return c.today.AddDate(0, 0, -1), true
	case "today":
		return c.today, true
	case "tomorrow":
		return c.today.AddDate(0, 0, 1), true
	}
	day, err := board.ParseDate("", s)
	return day, err == nil
}

// date normalizes a value of a date key and reports whether it is valid.
func (v *value) date(k kind) bool {
	v.text, v.to, v.quoted = strings.ToLower(v.text), strings.ToLower(v.to), false
	var c calendar // whether a word is a day does not depend on the current day
	from, fromOK := c.point(v.text)
	switch v.op {
	case "..":
		to, toOK := c.point(v.to)
		if !fromOK && v.text != "*" || !toOK && v.to != "*" {
			return false
		}
		return !isDate(v.text) || !isDate(v.to) || !to.Before(from)
	case "":
		if fromOK || k == kindPlan && slices.Contains(planWords, v.text) {
			return true
		}
		n, ok := count(v.text)
		if ok {
			v.text = strconv.Itoa(n)
		}
		return ok
	default:
		return fromOK
	}
}

func isDate(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// count parses the N in due:N. It returns false unless N is from 1 to MaxDays.
func count(s string) (n int, ok bool) {
	if s == "" || len(s) > 9 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 1 && n <= MaxDays
}

// node returns the condition for a validated value of a date key.
func (c calendar) node(v value, f Field, k kind) Node {
	from, _ := c.point(v.text)
	after := from.AddDate(0, 0, 1)
	switch v.op {
	case ">":
		return Range{Field: f, From: c.edge(after)}
	case ">=":
		return Range{Field: f, From: c.edge(from)}
	case "<":
		return Range{Field: f, To: c.edge(from)}
	case "<=":
		return Range{Field: f, To: c.edge(after)}
	case "..":
		r := Range{Field: f}
		if v.text != "*" {
			r.From = c.edge(from)
		}
		if v.to != "*" {
			to, _ := c.point(v.to)
			r.To = c.edge(to.AddDate(0, 0, 1))
		}
		if !r.From.Bounded() && !r.To.Bounded() {
			return present(f)
		}
		return r
	}
	switch v.text {
	case "overdue":
		return c.overdue(f)
	case "none":
		return negate(present(f))
	case "any":
		return present(f)
	case "week", "next7":
		return c.days(f, c.today, c.today.AddDate(0, 0, 6))
	case "calendarweek":
		monday := c.today.AddDate(0, 0, -(int(c.today.Weekday())+6)%7)
		return c.days(f, monday, monday.AddDate(0, 0, 6))
	case "month":
		first := c.today.AddDate(0, 0, 1-c.today.Day())
		return c.days(f, first, first.AddDate(0, 1, -1))
	}
	if n, ok := count(v.text); ok {
		if k == kindPast {
			return Range{Field: f, From: c.edge(c.today.AddDate(0, 0, 1-n))}
		}
		return c.days(f, c.today, c.today.AddDate(0, 0, n-1))
	}
	return c.days(f, from, from)
}

// overdue returns the condition for cards that are not done and whose field is before
// today or, with a time, before now.
func (c calendar) overdue(f Field) Node {
	now := Edge{Day: c.today.Format(board.DateLayout), At: board.InstantOf(c.now)}
	return And{Range{Field: f, To: now}, Not{IsDone{}}}
}

// present returns the condition that the card has the field.
func present(f Field) Node {
	switch f {
	case FieldDue:
		return Has{ThingDue}
	case FieldStart:
		return Has{ThingStart}
	case FieldCompleted:
		return IsDone{}
	default:
		return And{}
	}
}
