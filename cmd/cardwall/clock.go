//go:build !torture

package main

import "time"

// wallClock is the machine's.
func wallClock() func() time.Time { return time.Now }
