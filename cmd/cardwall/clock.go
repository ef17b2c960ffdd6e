//go:build !torture

package main

import "time"

// wallClock returns the clock of the machine.
func wallClock() func() time.Time { return time.Now }
