//go:build !torture

package main

import "time"

// wallClock returns the clock of the machine.
func wallClock() func() time.Time { return time.Now }

// pauseOf returns a pause between runs of background work.
func pauseOf(normal time.Duration) time.Duration { return normal }
