package apptest

import (
	"testing"
	"time"
)

// Eventually waits until done returns true, for what another goroutine or process does. It fails the
// test if that takes a quarter of the time that is left of the run, as set by -timeout, so that
// other tests still run. what completes "waited in vain until …".
func Eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	Await(t, what, func() (struct{}, bool) { return struct{}{}, done() })
}

// Await is like Eventually, but returns what get returned when it was done. A failure shows the value
// that get returned last.
func Await[T any](t testing.TB, what string, get func() (seen T, done bool)) T {
	t.Helper()
	end := patienceEnd(t)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		seen, done := get()
		if done {
			return seen
		}
		if !end.IsZero() && time.Now().After(end) {
			if _, nothing := any(seen).(struct{}); nothing {
				t.Fatalf("waited in vain until %s", what)
			}
			t.Fatalf("waited in vain until %s; last saw %+v", what, seen)
		}
		time.Sleep(pause)
	}
}

// Receive returns the next value of a channel, and whether the channel is open. It fails the test like
// Eventually.
func Receive[T any](t testing.TB, what string, from <-chan T) (next T, open bool) {
	t.Helper()
	var late <-chan time.Time
	if end := patienceEnd(t); !end.IsZero() {
		timer := time.NewTimer(time.Until(end))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case next, open = <-from:
	case <-late:
		t.Fatalf("waited in vain until %s", what)
	}
	return next, open
}

// patienceEnd returns when a test that waits gives up, or zero if the run has no limit.
func patienceEnd(t testing.TB) (end time.Time) {
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := limited.Deadline(); ok {
			end = time.Now().Add(time.Until(deadline) / 4)
		}
	}
	return end
}
