package board

import "time"

// Due holds when a card is due and when its work starts. A date is a calendar
// date. The instant next to it is set only if a time of day was given, and is
// independent of the time zone in which it was given.
type Due struct {
	DueDate   *string  `json:"dueDate" format:"date" doc:"The due date, in the card's time zone." example:"2026-03-14"`
	DueAt     *Instant `json:"dueAt" format:"date-time" doc:"The due time; null if the card is due all day." example:"2026-03-14T08:30:00.000Z"`
	StartDate *string  `json:"startDate" format:"date" doc:"The start date." example:"2026-03-10"`
	StartAt   *Instant `json:"startAt" format:"date-time" doc:"The start time; null if the work starts all day." example:"2026-03-10T08:00:00.000Z"`
	TimeZone  *string  `json:"timeZone" doc:"The IANA time zone in which the times were given." example:"Europe/Berlin"`
}

// DueInput is a due date as a caller gives it. Empty strings are absent values.
type DueInput struct {
	DueDate, DueTime, StartDate, StartTime, TimeZone string
}

// Resolve validates a due date and computes its instants. It refuses a time
// without a date, a time without a time zone, a time zone that is not an IANA
// name, and a start after the due date. A local time that daylight saving skips
// moves forward by the gap; a local time that occurs twice is the first of the
// two.
func (in DueInput) Resolve() (Due, error) {
	if in.DueDate == "" && in.StartDate == "" {
		return Due{}, Invalid("dueDate or startDate is required. Use clear_card_due to clear both.")
	}
	return in.resolve()
}

func (in DueInput) resolve() (Due, error) {
	var out Due
	if in.TimeZone == "" && (in.DueTime != "" || in.StartTime != "") {
		return out, Invalid("timeZone is required with dueTime or startTime. Use an IANA name such as Europe/Berlin.").
			In("timeZone", RuleRequired)
	}
	zone := time.UTC
	if in.TimeZone != "" {
		var err error
		if zone, err = LoadZone("timeZone", in.TimeZone); err != nil {
			return out, err
		}
		out.TimeZone = &in.TimeZone
	}
	var err error
	if out.DueDate, out.DueAt, err = resolveDay("dueDate", "dueTime", in.DueDate, in.DueTime, zone); err != nil {
		return Due{}, err
	}
	if out.StartDate, out.StartAt, err = resolveDay("startDate", "startTime", in.StartDate, in.StartTime, zone); err != nil {
		return Due{}, err
	}
	if out.startsLate() {
		return Due{}, Invalid("startDate must not be after the due date.").In("startDate", RuleValue)
	}
	return out, nil
}

// DueChange changes a due date and a start. Absent values stay unchanged unless
// they are cleared.
type DueChange struct {
	DueInput
	ClearDue, ClearStart bool
}

// Resolve applies the change to a card's due date. A time that stays keeps its
// instant, even in another time zone. It refuses what DueInput.Resolve refuses,
// and a change after which the start would be later than the due date.
func (in DueChange) Resolve(was Due) (Due, error) {
	keepsDue, keepsStart := in.DueDate == "" && !in.ClearDue, in.StartDate == "" && !in.ClearStart
	if keepsDue && keepsStart {
		return in.DueInput.Resolve() // its error says what is missing
	}
	out, err := in.resolve()
	if err != nil {
		return Due{}, err
	}
	keepsDue, keepsStart = keepsDue && was.DueDate != nil, keepsStart && was.StartDate != nil
	if out.TimeZone == nil && (keepsDue || keepsStart) {
		out.TimeZone = was.TimeZone
	}
	if keepsDue {
		out.DueDate, out.DueAt = out.dayOf(was.DueDate, was.DueAt), was.DueAt
	}
	if keepsStart {
		out.StartDate, out.StartAt = out.dayOf(was.StartDate, was.StartAt), was.StartAt
	}
	switch {
	case !out.startsLate():
		return out, nil
	case keepsStart:
		return Due{}, Invalid("The start of the card, %s, would be after the new due date. Send another startDate, "+
			"or null to clear it.", *out.StartDate)
	}
	return Due{}, Invalid("The new start would be after the due date of the card, %s. Send another dueDate, or null "+
		"to clear it.", *out.DueDate)
}

// dayOf returns the date of an instant in the time zone of d. It returns date
// unchanged if at is nil.
func (d Due) dayOf(date *string, at *Instant) *string {
	if at == nil || d.TimeZone == nil {
		return date
	}
	zone, err := time.LoadLocation(*d.TimeZone)
	if err != nil {
		return date
	}
	day := at.Time().In(zone).Format(DateLayout)
	return &day
}

func (d Due) startsLate() bool {
	if d.DueDate == nil || d.StartDate == nil {
		return false
	}
	if *d.StartDate != *d.DueDate {
		return *d.StartDate > *d.DueDate
	}
	return d.DueAt != nil && d.StartAt != nil && *d.StartAt > *d.DueAt
}

// Equal reports whether two due dates are equal.
func (d Due) Equal(o Due) bool {
	return same(d.DueDate, o.DueDate) && same(d.DueAt, o.DueAt) && same(d.StartDate, o.StartDate) &&
		same(d.StartAt, o.StartAt) && same(d.TimeZone, o.TimeZone)
}

func same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func resolveDay(dateField, timeField, date, clock string, zone *time.Location) (*string, *Instant, error) {
	if date == "" {
		if clock != "" {
			return nil, nil, Invalid("%s is required with %s.", dateField, timeField).In(dateField, RuleRequired)
		}
		return nil, nil, nil
	}
	day, err := ParseDate(dateField, date)
	if err != nil {
		return nil, nil, err
	}
	if clock == "" {
		return &date, nil, nil
	}
	t, err := time.Parse("15:04", clock)
	if err != nil || len(clock) != len("15:04") {
		return nil, nil, Invalid("%s must be a time of day of the form HH:MM, from 00:00 to 23:59.", timeField).
			In(timeField, RuleValue)
	}
	at := InstantOf(wallTime(day.Add(time.Duration(t.Hour())*time.Hour+time.Duration(t.Minute())*time.Minute), zone))
	return &date, &at, nil
}

// wallTime returns the instant at which clocks in zone show wall, whose own
// zone is UTC. time.Date does not define the result for gaps and repeated
// hours. Here a repeated time is its first instant, and a time in a gap moves
// forward by the length of the gap.
func wallTime(wall time.Time, zone *time.Location) time.Time {
	offset := func(t time.Time) time.Duration {
		_, seconds := t.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	before, after := offset(wall.Add(-24*time.Hour)), offset(wall.Add(24*time.Hour))
	first, second := wall.Add(-before), wall.Add(-after)
	if second.Before(first) {
		first, second = second, first
	}
	for _, t := range []time.Time{first, second} {
		if t.Add(offset(t)).Equal(wall) {
			return t.UTC()
		}
	}
	return wall.Add(-before).UTC()
}
