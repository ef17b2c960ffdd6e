package main

import (
	"runtime"
	"testing"
)

// addThreads respects the environment variable and the limits of a container. Calling it again has no
// effect.
func TestThreads(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	runtime.GOMAXPROCS(runtime.NumCPU())
	t.Setenv("GOMAXPROCS", "3")
	addThreads()
	if got := runtime.GOMAXPROCS(0); got != runtime.NumCPU() {
		t.Errorf("with GOMAXPROCS in the environment: got %d threads, want %d", got, runtime.NumCPU())
	}
	t.Setenv("GOMAXPROCS", "")
	for range 2 {
		addThreads()
		if got, want := runtime.GOMAXPROCS(0), threads(runtime.NumCPU()); got != want {
			t.Errorf("without a limit: got %d threads, want %d", got, want)
		}
	}
	runtime.GOMAXPROCS(max(1, runtime.NumCPU()-1)) // Go does the same in a container with a limit
	addThreads()
	if got := runtime.GOMAXPROCS(0); runtime.NumCPU() > 1 && got != runtime.NumCPU()-1 {
		t.Errorf("with a CPU limit: got %d threads, want %d", got, runtime.NumCPU()-1)
	}
	for cores, want := range map[int]int{1: 5, 2: 6, 8: 16} {
		if got := threads(cores); got != want {
			t.Errorf("threads(%d) = %d, want %d", cores, got, want)
		}
	}
}
