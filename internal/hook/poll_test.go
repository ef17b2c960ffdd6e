package hook

import (
	"testing"
	"time"
)

// A poll that hangs because the database is unreachable must not delay the next poll by twenty
// times its duration. That would delay the deliveries that other servers write.
func TestHungPollDelaysTheNextOneOnlyBriefly(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		0:                     sharedPollInterval,
		time.Millisecond:      sharedPollInterval,
		50 * time.Millisecond: time.Second,
		15 * time.Second:      maxPollPause,
	} {
		if got := pollPause(sharedPollInterval, took); got != want {
			t.Errorf("after a poll of %v: got a pause of %v, want %v", took, got, want)
		}
	}
	if got := pollPause(pollInterval, 15*time.Second); got != pollInterval {
		t.Errorf("single server: got a pause of %v, want %v", got, pollInterval)
	}
}
