package store_test

import (
	"testing"
	"testing/synctest"
	"time"

	"cardwall/internal/store"
)

func TestSteadyClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var offset time.Duration // difference between the wall clock and the true time
		now := store.SteadyClock(func() time.Time { return time.Now().Add(offset) })
		start := time.Now()
		check := func(want time.Duration) {
			t.Helper()
			if got := now().Sub(start); got != want {
				t.Errorf("after %v, the clock has advanced by %v, want %v", time.Since(start), got, want)
			}
		}
		check(0)
		time.Sleep(time.Hour)
		check(time.Hour)
		offset = 3 * time.Hour // the steady clock follows a step forward
		check(4 * time.Hour)
		offset = 0 // after a step back, the steady clock runs at half speed
		check(4 * time.Hour)
		time.Sleep(time.Minute)
		check(4*time.Hour + 30*time.Second)
		time.Sleep(2*time.Hour - time.Minute)
		check(5 * time.Hour)
		time.Sleep(4 * time.Hour) // until the wall clock has caught up
		check(7 * time.Hour)
		time.Sleep(time.Hour)
		check(8 * time.Hour)
		offset = -25 * time.Hour // the steady clock follows a step back of more than a day
		check(-17 * time.Hour)
	})
}
