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
	for alive, want := range map[uint64]int{0: 200, 30 << 20: 200, 64 << 20: 200, 128 << 20: 100, 170 << 20: 75,
		256 << 20: 50, 8 << 30: 50} {
		if got := gcPercent(alive); got != want {
			t.Errorf("with %d MB of live heap the heap may grow by %d percent, want %d", alive>>20, got, want)
		}
	}
}

// The GC percentage follows the live heap after each collection, up and down.
func TestGCPercentFollowsTheLiveHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(maxGCPercent)
	defer debug.SetGCPercent(before)
	tuneGC()
	percent := func() int {
		now := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(now) // reads the value without changing it, unlike SetGCPercent
		return int(now[0].Value.Uint64())
	}
	reaches := func(what string, reached func(percent int) bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !reached(percent()); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the heap may grow by %d percent", what, percent())
			}
			runtime.GC()
		}
	}
	held := make([]byte, 512<<20)
	reaches("much is alive", func(percent int) bool { return percent == minGCPercent })
	runtime.KeepAlive(held)
	held = nil
	reaches("little is alive", func(percent int) bool { return percent > minGCPercent })
}
