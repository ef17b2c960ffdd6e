package store_test

import (
	"testing"
	"testing/synctest"
	"time"

	"cardwall/internal/store"
)

func TestTheClockNeverGoesBackAndCatchesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var set time.Duration // the error of the machine's clock
		now := store.SteadyClock(func() time.Time { return time.Now().Add(set) })
		begun := time.Now()
		want := func(since time.Duration) {
			t.Helper()
			if got := now().Sub(begun); got != since {
				t.Errorf("%v after the start, %v have passed by the clock, want %v", time.Since(begun), got, since)
			}
		}
		want(0)
		time.Sleep(time.Hour)
		want(time.Hour)
		set = 3 * time.Hour // a step forward is followed
		want(4 * time.Hour)
		set = 0 // a step back is not; time continues at half speed
		want(4 * time.Hour)
		time.Sleep(time.Minute)
		want(4*time.Hour + 30*time.Second)
		time.Sleep(2*time.Hour - time.Minute)
		want(5 * time.Hour)
		time.Sleep(4 * time.Hour) // until the machine's clock has caught up
		want(7 * time.Hour)
		time.Sleep(time.Hour)
		want(8 * time.Hour)
		set = -25 * time.Hour // a step back of more than a day is followed
		want(-17 * time.Hour)
	})
}
