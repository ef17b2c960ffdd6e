//go:build torture

package main

import (
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// wallClock returns the clock of the machine, shifted by the duration in the
// file that CARDWALL_TORTURE_CLOCK names, such as -2h. It rereads the file every
// 10 ms. Only programs built with `go build -tags torture` read the file, and only
// perf/torture runs them.
func wallClock() func() time.Time {
	path := os.Getenv("CARDWALL_TORTURE_CLOCK")
	if path == "" {
		return time.Now
	}
	var offset atomic.Int64
	read := func() {
		if text, err := os.ReadFile(path); err == nil {
			if d, err := time.ParseDuration(strings.TrimSpace(string(text))); err == nil {
				offset.Store(int64(d))
			}
		}
	}
	read()
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			read()
		}
	}()
	// Round(0) strips the monotonic reading, so that comparisons use the shifted wall clock.
	return func() time.Time { return time.Now().Round(0).Add(time.Duration(offset.Load())) }
}

// pauseOf returns the duration in CARDWALL_TORTURE_PAUSE, so that a trial does not wait
// minutes for background work. Without it, pauseOf returns the normal pause.
func pauseOf(normal time.Duration) time.Duration {
	if d, err := time.ParseDuration(os.Getenv("CARDWALL_TORTURE_PAUSE")); err == nil && d > 0 {
		return d
	}
	return normal
}
