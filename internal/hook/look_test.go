package hook

import (
	"testing"
	"time"
)

// A reading that hung while the database could not be reached put the next one off
// for twenty times as long, and deliveries that other servers wrote with it.
func TestAReadingThatHungDoesNotPutTheNextOneOffForMinutes(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{
		0:                     lookShared,
		time.Millisecond:      lookShared,
		50 * time.Millisecond: time.Second,
		15 * time.Second:      lookMost,
	} {
		if got := lookRest(lookShared, took); got != want {
			t.Errorf("after a reading of %v the next comes in %v, want %v", took, got, want)
		}
	}
	if got := lookRest(lookEvery, 15*time.Second); got != lookEvery {
		t.Errorf("a server alone looks again in %v, want %v", got, lookEvery)
	}
}
