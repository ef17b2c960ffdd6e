//go:build torture

package main

import (
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// wallClock is the machine's, moved by what the file that CARDWALL_TORTURE_CLOCK
// names says, such as -2h: `go build -tags torture` makes a program whose clock
// can be set, which no one but the trials runs.
func wallClock() func() time.Time {
	path := os.Getenv("CARDWALL_TORTURE_CLOCK")
	if path == "" {
		return time.Now
	}
	var offset atomic.Int64
	look := func() {
		if text, err := os.ReadFile(path); err == nil {
			if d, err := time.ParseDuration(strings.TrimSpace(string(text))); err == nil {
				offset.Store(int64(d))
			}
		}
	}
	look()
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			look()
		}
	}()
	// Round takes the monotonic reading away, as a step of the machine's own clock would not move it.
	return func() time.Time { return time.Now().Round(0).Add(time.Duration(offset.Load())) }
}
