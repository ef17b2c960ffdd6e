package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestGCPercent(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 200, 30 << 20: 200, 64 << 20: 200, 128 << 20: 100, 170 << 20: 75,
		256 << 20: 50, 8 << 30: 50} {
		if got := gcPercent(live); got != want {
			t.Errorf("gcPercent(%d MiB) = %d, want %d", live>>20, got, want)
		}
	}
}

// GOGC falls when the live heap grows, and rises when it shrinks.
func TestGCPercentFollowsTheLiveHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(maxGCPercent)
	defer debug.SetGCPercent(before)
	tuneGC()
	percent := func() int {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample) // reads the value without changing it, unlike SetGCPercent
		return int(sample[0].Value.Uint64())
	}
	waitFor := func(heap string, reached func(percent int) bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !reached(percent()); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("with a %s heap: timed out waiting for GOGC to change from %d", heap, percent())
			}
			runtime.GC()
		}
	}
	large := make([]byte, 512<<20)
	waitFor("large", func(percent int) bool { return percent == minGCPercent })
	runtime.KeepAlive(large)
	large = nil
	waitFor("small", func(percent int) bool { return percent > minGCPercent })
}
