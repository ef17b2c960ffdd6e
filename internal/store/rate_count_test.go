package store_test

import (
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Servers add their counts to a shared one-minute window, although their clocks differ
// and their windows do not begin at the same time.
func TestCountRatesAssignsCountsToWindows(t *testing.T) {
	t.Parallel()
	db := apptest.OpenStore(t, apptest.PostgresURL(t))
	start := board.InstantOf(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	at := func(d time.Duration) board.Instant { return start + board.Instant(d.Milliseconds()) }
	for _, c := range []struct {
		name      string
		now, ends board.Instant
		used      int
		want      int
		wantEnds  board.Instant
	}{
		{"the first count", at(10 * time.Second), at(time.Minute), 3, 3, at(time.Minute)},
		{"a count in the same window", at(59 * time.Second), at(time.Minute), 2, 5, at(time.Minute)},
		{"the first count of the next window", at(time.Minute), at(2 * time.Minute), 1, 1, at(2 * time.Minute)},
		{"a late count of the first window", at(59 * time.Second), at(time.Minute), 4, 1, at(2 * time.Minute)},
		{"a late count from the start of the first window", at(0), at(time.Minute), 4, 1, at(2 * time.Minute)},
		{"a window that another server begins a second earlier", at(59 * time.Second), at(2*time.Minute - time.Second), 1, 2,
			at(2 * time.Minute)},
		{"a window that another server begins later", at(90 * time.Second), at(150 * time.Second), 1, 3, at(2 * time.Minute)},
	} {
		sums, err := db.CountRates(t.Context(), c.now, []store.RateCount{{Key: "key", Used: c.used, Ends: c.ends}})
		if err != nil {
			t.Fatal(err)
		}
		if want := (store.RateCount{Key: "key", Used: c.want, Ends: c.wantEnds}); sums[0] != want {
			t.Errorf("%s: got sum %+v, want %+v", c.name, sums[0], want)
		}
	}
}
