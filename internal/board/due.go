package board

import "time"

// Due holds the due date and the start of a card. Dates are calendar dates. An
// instant is set only if a time of day was given. It stays the same if only the time
// zone of the card changes later.
type Due struct {
	DueDate   *string  `json:"dueDate" format:"date" doc:"The due date, in the card's time zone; null if there is none." example:"2026-03-14"`
	DueAt     *Instant `json:"dueAt" format:"date-time" doc:"The due time; null if no time of day was given." example:"2026-03-14T08:30:00.000Z"`
	StartDate *string  `json:"startDate" format:"date" doc:"The start date; null if there is none." example:"2026-03-10"`
	StartAt   *Instant `json:"startAt" format:"date-time" doc:"The start time; null if no time of day was given." example:"2026-03-10T08:00:00.000Z"`
	TimeZone  *string  `json:"timeZone" doc:"The IANA time zone in which the times were given; null if there is none." example:"Europe/Berlin"`
}

// DueInput is a due date and a start as given in a request. An empty string means that
// the value is absent.
type DueInput struct {
	DueDate, DueTime, StartDate, StartTime, TimeZone string
}

// Resolve validates a due date and computes its instants. It returns an error if both
// dates are missing, or if a date or time is malformed. It also returns an error for a
// time without a date, a time without a time zone, a time zone that is not an IANA
// name, and a start after the due date. A local time that daylight saving time skips
// moves forward by the length of the gap. A local time that occurs twice means its
// first instant.
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

// Resolve applies the change to a card's due date. A time that does not change keeps
// its instant, even in another time zone. Resolve returns the errors of
// DueInput.Resolve, and an error if the start would be after the due date.
func (in DueChange) Resolve(was Due) (Due, error) {
	keepsDue, keepsStart := in.DueDate == "" && !in.ClearDue, in.StartDate == "" && !in.ClearStart
	if keepsDue && keepsStart {
		return in.DueInput.Resolve() // returns an error, because a date is missing
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
// unchanged if at or the time zone is nil.
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
		return nil, nil, InvalidValue(timeField, "a time of day in the form HH:MM, from 00:00 to 23:59")
	}
	at := InstantOf(wallTime(day.Add(time.Duration(t.Hour())*time.Hour+time.Duration(t.Minute())*time.Minute), zone))
	return &date, &at, nil
}

// wallTime returns the instant at which clocks in zone show wall, a time in UTC.
// time.Date does not define the result for gaps and repeated hours. For a repeated
// time, wallTime returns the first instant. It moves a time in a gap forward by the
// length of the gap.
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
