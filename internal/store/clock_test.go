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
		var set time.Duration // by which the machine's clock is wrong
		now := store.SteadyClock(func() time.Time { return time.Now().Add(set) })
		begun := time.Now()
		want := func(since time.Duration) {
			t.Helper()
			if got := now().Sub(begun); got != since {
				t.Errorf("%v after the begin the clock says %v, want %v", time.Since(begun), got, since)
			}
		}
		want(0)
		time.Sleep(time.Hour)
		want(time.Hour)
		set = 3 * time.Hour // forward it is followed
		want(4 * time.Hour)
		set = 0 // back it is not, but goes on, at half the pace
		want(4 * time.Hour)
		time.Sleep(time.Minute)
		want(4*time.Hour + 30*time.Second)
		time.Sleep(2*time.Hour - time.Minute)
		want(5 * time.Hour)
		time.Sleep(4 * time.Hour) // until the other has caught up
		want(7 * time.Hour)
		time.Sleep(time.Hour)
		want(8 * time.Hour)
		set = -25 * time.Hour // more than a day is believed
		want(-17 * time.Hour)
	})
}
