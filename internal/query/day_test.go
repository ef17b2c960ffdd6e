package query_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

// edges parses a query that must consist of one range, and returns the edges of the range.
func edges(t testing.TB, text string, e query.Env) (from, to query.Edge) {
	t.Helper()
	q, err := query.ParseSearch(text, e)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := q.Where[0].(query.Range)
	if !ok || len(q.Where) != 1 {
		t.Fatalf("%s: got %s, want one range", text, show(q))
	}
	return r.From, r.To
}

// The zone determines the current date and the start of a day.
func TestDayInZone(t *testing.T) {
	for _, c := range []struct{ zone, now, text, from, to string }{
		{"Asia/Tokyo", "2026-03-11T15:30:00Z", "due:today", "2026-03-11T15:00:00.000Z", "2026-03-12T15:00:00.000Z"},
		{"America/Los_Angeles", "2026-03-11T05:30:00Z", "due:today", "2026-03-10T07:00:00.000Z", "2026-03-11T07:00:00.000Z"},
		{"UTC", "2026-03-15T23:59:59Z", "due:calendarweek", "2026-03-09T00:00:00.000Z", "2026-03-16T00:00:00.000Z"}, // a Sunday
		{"UTC", "2026-03-16T00:00:00Z", "due:calendarweek", "2026-03-16T00:00:00.000Z", "2026-03-23T00:00:00.000Z"}, // a Monday
		{"UTC", "2024-02-29T12:00:00Z", "due:month", "2024-02-01T00:00:00.000Z", "2024-03-01T00:00:00.000Z"},
		{"UTC", "2026-12-31T12:00:00Z", "due:month", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"},
		// midnight is skipped: the day begins at one o'clock
		{"America/Sao_Paulo", "2018-01-01T00:00:00Z", "due:2018-11-04", "2018-11-04T03:00:00.000Z", "2018-11-05T02:00:00.000Z"},
		{"Asia/Beirut", "2018-01-01T00:00:00Z", "due:2018-03-25", "2018-03-24T22:00:00.000Z", "2018-03-25T21:00:00.000Z"},
		// midnight occurs twice: the day begins at the first one
		{"America/Havana", "2018-01-01T00:00:00Z", "due:2018-11-04", "2018-11-04T04:00:00.000Z", "2018-11-05T05:00:00.000Z"},
		{"Asia/Amman", "2018-01-01T00:00:00Z", "due:2018-10-26", "2018-10-25T21:00:00.000Z", "2018-10-26T22:00:00.000Z"},
		// midnight is inside a gap: 23:30 was followed by 00:30
		{"America/Toronto", "2018-01-01T00:00:00Z", "due:1919-03-31", "1919-03-31T04:30:00.000Z", "1919-04-01T04:00:00.000Z"},
		// the hour before midnight occurs twice
		{"America/Sao_Paulo", "2018-01-01T00:00:00Z", "due:2018-02-18", "2018-02-18T03:00:00.000Z", "2018-02-19T03:00:00.000Z"},
		{"Pacific/Kiritimati", "2018-01-01T00:00:00Z", "due:1995-01-01", "1994-12-31T10:00:00.000Z", "1995-01-01T10:00:00.000Z"},
		// the whole date is skipped
		{"Pacific/Apia", "2018-01-01T00:00:00Z", "due:2011-12-30", "2011-12-30T10:00:00.000Z", "2011-12-30T10:00:00.000Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		from, to := edges(t, c.text, query.Env{Now: now, Zone: zone(t, c.zone)})
		if from.At.String() != c.from || to.At.String() != c.to {
			t.Errorf("%s in %s at %s: got [%s, %s), want [%s, %s)", c.text, c.zone, c.now, from.At, to.At, c.from, c.to)
		}
	}
	from, _ := edges(t, "due:today", query.Env{Now: time.Date(2026, 3, 11, 23, 0, 0, 0, time.FixedZone("", 3600))})
	if from.Day != "2026-03-11" || from.At.String() != "2026-03-11T00:00:00.000Z" {
		t.Errorf("without a zone: got a start of %s at %s, want 2026-03-11 at midnight UTC", from.Day, from.At)
	}
}

// A day's edge is the first instant whose local date is that day or later.
func TestStartOfDay(t *testing.T) {
	names := []string{"Europe/Zurich", "America/Havana", "America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo", "Asia/Tehran",
		"Pacific/Apia", "Pacific/Kwajalein", "America/St_Johns", "Asia/Gaza", "Australia/Lord_Howe", "Asia/Kathmandu",
		"America/Asuncion", "Asia/Amman", "America/Toronto", "Pacific/Kiritimati"}
	rapid.Check(t, func(r *rapid.T) {
		z := zone(t, rapid.SampledFrom(names).Draw(r, "zone"))
		day := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 60000).Draw(r, "days"))
		e := query.Env{Now: time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC), Zone: z}
		from, to := edges(t, "due:"+day.Format(board.DateLayout), e)
		if local := from.At.Time().In(z).Format(board.DateLayout); local < from.Day {
			r.Fatalf("%s begins at %s, which is still on %s", from.Day, from.At, local)
		}
		// If midnight occurs twice, the day begins at the first one. So the
		// preceding millisecond is always on an earlier date.
		if local := (from.At - 1).Time().In(z).Format(board.DateLayout); local >= from.Day {
			r.Fatalf("%s begins at %s, but one millisecond earlier the date is already %s", from.Day, from.At, local)
		}
		if length := to.At - from.At; length < 0 || length > 49*3600_000 {
			r.Fatalf("%s is %d ms long, want from 0 to 49 hours", from.Day, length)
		}
	})
}
