package apptest

import (
	"testing"
	"time"
)

// Eventually waits until done returns true, because of another goroutine or process. It fails the
// test after a quarter of the time that -timeout leaves for the run, so that other tests still run.
// what completes the message "timed out waiting until …".
func Eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	Await(t, what, func() (struct{}, bool) { return struct{}{}, done() })
}

// Await is like Eventually, but returns the value that get returned when it was done. A failure shows
// the last value.
func Await[T any](t testing.TB, what string, get func() (seen T, done bool)) T {
	t.Helper()
	end := waitLimit(t)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		seen, done := get()
		if done {
			return seen
		}
		if !end.IsZero() && time.Now().After(end) {
			if _, nothing := any(seen).(struct{}); nothing {
				t.Fatalf("timed out waiting until %s", what)
			}
			t.Fatalf("timed out waiting until %s; last saw %+v", what, seen)
		}
		time.Sleep(pause)
	}
}

// Receive returns the next value of a channel, and whether the channel is open. It fails the test like
// Eventually.
func Receive[T any](t testing.TB, what string, from <-chan T) (next T, open bool) {
	t.Helper()
	var late <-chan time.Time
	if end := waitLimit(t); !end.IsZero() {
		timer := time.NewTimer(time.Until(end))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case next, open = <-from:
	case <-late:
		t.Fatalf("timed out waiting until %s", what)
	}
	return next, open
}

// waitLimit returns the time at which a test stops waiting, or zero if the run has no limit.
func waitLimit(t testing.TB) (end time.Time) {
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := limited.Deadline(); ok {
			end = time.Now().Add(time.Until(deadline) / 4)
		}
	}
	return end
}
