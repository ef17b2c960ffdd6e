package main

import (
	"runtime"
	"testing"
)

// A server adds threads once, even if it runs several times in one process.
func TestThreads(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	runtime.GOMAXPROCS(runtime.NumCPU())
	t.Setenv("GOMAXPROCS", "3")
	addThreads()
	if got := runtime.GOMAXPROCS(0); got != runtime.NumCPU() {
		t.Errorf("with the environment variable, there are %d threads, want %d", got, runtime.NumCPU())
	}
	t.Setenv("GOMAXPROCS", "")
	for range 2 {
		addThreads()
		if got, want := runtime.GOMAXPROCS(0), threads(runtime.NumCPU()); got != want {
			t.Errorf("there are %d threads, want %d", got, want)
		}
	}
	runtime.GOMAXPROCS(max(1, runtime.NumCPU()-1)) // as Go does in a container with a limit
	addThreads()
	if got := runtime.GOMAXPROCS(0); runtime.NumCPU() > 1 && got != runtime.NumCPU()-1 {
		t.Errorf("under a limit, there are %d threads, want %d", got, runtime.NumCPU()-1)
	}
	for cores, want := range map[int]int{1: 5, 2: 6, 8: 16} {
		if got := threads(cores); got != want {
			t.Errorf("%d threads for %d cores, want %d", got, cores, want)
		}
	}
}
