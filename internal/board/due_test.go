package board_test

import (
	"strings"
	"testing"
	"time"

	"cardwall/internal/board"
)

func TestDueInstants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, date, clock, zone, want string }{
		{"a plain time", "2026-03-14", "09:30", "Europe/Berlin", "2026-03-14T08:30:00.000Z"},
		{"UTC", "2026-03-14", "00:00", "UTC", "2026-03-14T00:00:00.000Z"},
		{"a time in a gap moves forward", "2026-03-29", "02:30", "Europe/Berlin", "2026-03-29T01:30:00.000Z"},
		{"the first minute of a gap", "2026-03-29", "02:00", "Europe/Berlin", "2026-03-29T01:00:00.000Z"},
		{"before a gap", "2026-03-29", "01:59", "Europe/Berlin", "2026-03-29T00:59:00.000Z"},
		{"after a gap", "2026-03-29", "03:00", "Europe/Berlin", "2026-03-29T01:00:00.000Z"},
		{"a time in a fold means its first instant", "2026-10-25", "02:30", "Europe/Berlin", "2026-10-25T00:30:00.000Z"},
		{"the first minute of a fold", "2026-10-25", "02:00", "Europe/Berlin", "2026-10-25T00:00:00.000Z"},
		{"after a fold", "2026-10-25", "03:00", "Europe/Berlin", "2026-10-25T02:00:00.000Z"},
		{"a gap in the west", "2026-03-08", "02:30", "America/New_York", "2026-03-08T07:30:00.000Z"},
		{"a fold in the west", "2026-11-01", "01:30", "America/New_York", "2026-11-01T05:30:00.000Z"},
		{"a fold in the south", "2026-04-05", "02:30", "Australia/Sydney", "2026-04-04T15:30:00.000Z"},
		{"a gap of half an hour", "2026-10-04", "02:15", "Australia/Lord_Howe", "2026-10-03T15:45:00.000Z"},
		{"a fold of half an hour", "2026-04-05", "01:45", "Australia/Lord_Howe", "2026-04-04T14:45:00.000Z"},
		{"a gap at midnight", "2018-11-04", "00:30", "America/Sao_Paulo", "2018-11-04T03:30:00.000Z"},
		{"a day that was skipped", "2011-12-30", "12:00", "Pacific/Apia", "2011-12-30T22:00:00.000Z"},
		{"the day before a skipped day", "2011-12-29", "12:00", "Pacific/Apia", "2011-12-29T22:00:00.000Z"},
		{"the day after a skipped day", "2011-12-31", "12:00", "Pacific/Apia", "2011-12-30T22:00:00.000Z"},
		{"a quarter-hour offset", "2026-01-01", "00:00", "Asia/Kathmandu", "2025-12-31T18:15:00.000Z"},
		{"the largest UTC offset", "2026-01-01", "00:00", "Pacific/Kiritimati", "2025-12-31T10:00:00.000Z"},
	} {
		due, err := board.DueInput{DueDate: c.date, DueTime: c.clock, TimeZone: c.zone}.Resolve()
		if err != nil {
			t.Errorf("%s: got error %v, want none", c.what, err)
			continue
		}
		if due.DueAt.String() != c.want || *due.DueDate != c.date || *due.TimeZone != c.zone {
			t.Errorf("%s: %s %s %s: got %s, want %s", c.what, c.date, c.clock, c.zone, due.DueAt, c.want)
		}
		start, err := board.DueInput{StartDate: c.date, StartTime: c.clock, TimeZone: c.zone}.Resolve()
		if err != nil || start.StartAt.String() != c.want {
			t.Errorf("%s as a start: got %v (%v), want %s", c.what, start.StartAt, err, c.want)
		}
	}
}

// On days when clocks change, the zone's clock shows the entered time at the due instant.
// If the entered time falls in a gap, the clock shows that time moved forward by the
// length of the gap.
func TestDueInstantsAgreeWithTheClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, date string }{
		{"Europe/Berlin", "2026-03-29"}, {"Europe/Berlin", "2026-10-25"}, {"America/New_York",
			"2026-03-08"}, {"Australia/Lord_Howe", "2026-10-04"},
		{"Africa/Casablanca", "2026-02-15"}, {"America/Sao_Paulo", "2018-11-04"}, {"Pacific/Apia", "2011-12-30"}, {"Asia/Tehran", "2022-03-22"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		day, _ := time.Parse(time.DateOnly, c.date)
		var gap time.Duration
		for minute := range 24 * 60 {
			wall := day.Add(time.Duration(minute) * time.Minute)
			due, err := board.DueInput{DueDate: c.date, DueTime: wall.Format("15:04"), TimeZone: c.zone}.Resolve()
			if err != nil {
				t.Fatal(err)
			}
			at := due.DueAt.Time()
			_, offset := at.In(zone).Zone()
			shown := at.Add(time.Duration(offset) * time.Second)
			forward := shown.Sub(wall)
			if forward < 0 || forward > 24*time.Hour || forward != 0 && gap != 0 && forward != gap {
				t.Fatalf("%s %s: got an instant at which the clock shows %s, want this time, or this time plus the length of the gap",
					c.zone, wall.Format("2006-01-02 15:04"), shown.Format("2006-01-02 15:04"))
			}
			if forward != 0 {
				gap = forward
				continue
			}
			// The clock must not show the same time at an earlier instant, because a time in a
			// fold means the first of its two instants.
			for _, earlier := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour} {
				before := at.Add(-earlier)
				_, offset := before.In(zone).Zone()
				if before.Add(time.Duration(offset) * time.Second).Equal(wall) {
					t.Fatalf("%s %s: got %s, want the first instant at which the clock shows this time", c.zone,
						wall.Format("2006-01-02 15:04"), at)
				}
			}
		}
	}
}

func TestInvalidDue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   board.DueInput
		want string // substring of the error
	}{
		{board.DueInput{}, "dueDate or startDate is required"},
		{board.DueInput{TimeZone: "UTC"}, "dueDate or startDate is required"},
		{board.DueInput{DueTime: "10:00", TimeZone: "UTC"}, "required"},
		{board.DueInput{DueTime: "10:00", StartDate: "2026-01-01", TimeZone: "UTC"}, "dueDate is required"},
		{board.DueInput{DueDate: "2026-01-01", StartTime: "10:00", TimeZone: "UTC"}, "startDate is required"},
		{board.DueInput{DueDate: "2026-01-01", DueTime: "10:00"}, "timeZone is required"},
		{board.DueInput{DueDate: "2026-02-30"}, "dueDate"}, {board.DueInput{DueDate: "2026-1-1"},
			"dueDate"}, {board.DueInput{DueDate: "1899-12-31"}, "dueDate"},
		{board.DueInput{DueDate: "3000-01-01"}, "dueDate"}, {board.DueInput{DueDate: "2026-01-01T00:00"},
			"dueDate"}, {board.DueInput{StartDate: "x"}, "startDate"},
		{board.DueInput{DueDate: "2026-01-01", DueTime: "24:00", TimeZone: "UTC"}, "dueTime"}, {board.DueInput{DueDate: "2026-01-01",
			DueTime: "9:30", TimeZone: "UTC"}, "dueTime"},
		{board.DueInput{DueDate: "2026-01-01", DueTime: "10:60", TimeZone: "UTC"},
			"dueTime"}, {board.DueInput{StartDate: "2026-01-01", StartTime: "noon!", TimeZone: "UTC"}, "startTime"},
		{board.DueInput{DueDate: "2026-01-01", StartDate: "2026-01-02"}, "startDate must not be after"},
		{board.DueInput{DueDate: "2026-01-01", DueTime: "10:00", StartDate: "2026-01-01", StartTime: "10:01", TimeZone: "UTC"},
			"startDate must not be after"},
	} {
		_, err := c.in.Resolve()
		if !board.IsCode(err, board.CodeInvalidRequest) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got error %v, want one that contains %q", c.in, err, c.want)
		}
	}
	for _, good := range []board.DueInput{
		{DueDate: "2026-01-01", StartDate: "2026-01-01"}, {DueDate: "2026-01-01", DueTime: "00:00", StartDate: "2026-01-01", TimeZone: "UTC"},
		{DueDate: "2024-02-29", TimeZone: "Europe/Berlin"}, {DueDate: "1900-01-01"}, {StartDate: "2999-12-31"},
		{DueDate: "2026-01-01", DueTime: "10:00", StartDate: "2026-01-01", StartTime: "10:00", TimeZone: "UTC"},
	} {
		if _, err := good.Resolve(); err != nil {
			t.Errorf("%+v: got error %v, want none", good, err)
		}
	}
}

func TestZones(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "Local", "local", "localtime", "posixrules", "Factory", "+02:00", "-05:00", "GMT+2", "UTC+2", "02:00", "Etc/Unknown",
		"europe/berlin", "EUROPE/BERLIN", "Europe/berlin",
		"utc", "Z", "CEST", "posix/Europe/Berlin", "right/Europe/Berlin", "../../etc/passwd", "/etc/localtime",
		"Europe/../Europe/Berlin", "Europe", "Europe/", "Europe//Berlin", "Europe/./Berlin", "Europe/Berlin/", "Europe/Berlin/.",
		" UTC", "UTC ", "UTC\x00", "Mars/Olympus", "tzdata.zi", "zone.tab", strings.Repeat("E", 65), "Ärger",
	} {
		if zone, err := board.LoadZone("timeZone", bad); !board.IsCode(err, board.CodeInvalidRequest) ||
			!strings.HasPrefix(err.(*board.Fault).Message, "timeZone") {
			t.Errorf("%q: got %v (%v), want an error about timeZone", bad, zone, err)
		}
	}
	for _, good := range []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "Asia/Calcutta",
		"America/Port-au-Prince"} {
		if zone, err := board.LoadZone("timeZone", good); err != nil || zone.String() != good {
			t.Errorf("%q: got %v (%v), want the zone", good, zone, err)
		}
	}
}
