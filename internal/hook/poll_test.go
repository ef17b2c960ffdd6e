package hook

import (
	"testing"
	"time"
)

// A poll that hung because the database was unreachable delayed the next poll by twenty times
// its duration, and with it the deliveries that other servers wrote.
func TestHungPollDelaysTheNextOneOnlyBriefly(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		0:                     pollShared,
		time.Millisecond:      pollShared,
		50 * time.Millisecond: time.Second,
		15 * time.Second:      maxPollPause,
	} {
		if got := pollPause(pollShared, took); got != want {
			t.Errorf("after a poll of %v the next one is due in %v, want %v", took, got, want)
		}
	}
	if got := pollPause(pollEvery, 15*time.Second); got != pollEvery {
		t.Errorf("a single server polls again in %v, want %v", got, pollEvery)
	}
}
