package board_test

import (
	"testing"
	"time"

	"cardwall/internal/board"
)

func TestZoneOffsetsAgreeWithTheClock(t *testing.T) {
	from, until := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2029, 5, 1, 0, 0, 0, 0, time.UTC)
	for name, want := range map[string]int{
		"UTC": 1, "Asia/Kathmandu": 1, "Europe/Berlin": 11, "Australia/Lord_Howe": 11, "Africa/Casablanca": 11,
	} {
		zone, err := board.LoadZone("timeZone", name)
		if err != nil {
			t.Fatal(err)
		}
		all := board.ZoneOffsets(zone, from, until)
		if len(all) != want {
			t.Errorf("%s: got %d offsets in five years, want %d", name, len(all), want)
		}
		at := from
		for _, o := range all {
			if !o.From.Time().Equal(at) {
				t.Errorf("%s: a period starts at %v, want %v", name, o.From, at)
			}
			for ; at.Before(o.Until.Time()); at = at.Add(30 * time.Minute) {
				if _, seconds := at.In(zone).Zone(); seconds != o.Seconds {
					t.Fatalf("%s: got %d seconds at %v, want %d", name, o.Seconds, at, seconds)
				}
			}
		}
		if !at.Equal(until) {
			t.Errorf("%s: the last period ends at %v, want %v", name, at, until)
		}
	}
}
