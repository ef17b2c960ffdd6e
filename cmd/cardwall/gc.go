package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The bounds of GOGC and the heap growth that it aims for in between. An idle
// server has about 30 MB of live memory; with Go's default of 100 percent it
// would spend a seventh of its CPU time on garbage collection. With ten thousand
// slow connections 170 MB are live, and 200 percent would grow the heap to half
// a gigabyte.
const (
	maxGCPercent = 200
	minGCPercent = 50
	heapGrowth   = 128 << 20 // bytes
)

// tuneGC adjusts GOGC to the live memory after each collection, unless the
// environment variable GOGC is set.
func tuneGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	t := &gcTuner{
		percent: maxGCPercent,
		samples: []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}},
	}
	debug.SetGCPercent(t.percent)
	t.afterNextGC()
}

type gcTuner struct {
	percent int
	samples []metrics.Sample
}

// gcSentinel is unreachable as soon as it is created, so its finalizer runs
// after the next collection.
type gcSentinel struct{ tuner *gcTuner }

// afterNextGC adjusts GOGC after the next collection, and again after each one
// that follows.
func (t *gcTuner) afterNextGC() {
	runtime.SetFinalizer(&gcSentinel{t}, func(s *gcSentinel) {
		s.tuner.adjust()
		s.tuner.afterNextGC()
	})
}

func (t *gcTuner) adjust() {
	metrics.Read(t.samples)
	live := uint64(0)
	for _, s := range t.samples {
		live += s.Value.Uint64()
	}
	if percent := gcPercent(live); percent != t.percent {
		t.percent = percent
		debug.SetGCPercent(percent)
	}
}

// gcPercent returns the value of GOGC for an amount of live memory in bytes.
func gcPercent(live uint64) int {
	return int(max(minGCPercent, min(maxGCPercent, heapGrowth*100/max(live, 1))))
}
