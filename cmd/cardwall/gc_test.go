package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"cardwall/internal/apptest"
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
	await := func(heap string, reached func(percent int) bool) {
		t.Helper()
		apptest.Await(t, "GOGC follows a "+heap+" heap", func() (now int, done bool) {
			runtime.GC()
			now = percent()
			return now, reached(now)
		})
	}
	// GOGC is minimal for half as much memory, too. The test itself needs less than a quarter of it.
	large := make([]byte, 2*heapGrowth*100/minGCPercent)
	await("large", func(percent int) bool { return percent == minGCPercent })
	runtime.KeepAlive(large)
	large = nil
	await("small", func(percent int) bool { return percent > minGCPercent })
}
