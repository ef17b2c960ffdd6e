package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The bounds of GOGC, and the heap growth that tuneGC aims for between them. A
// server usually has about 30 MB of live memory. With Go's default of 100 percent,
// collecting such a small heap would take a seventh of the CPU time. With ten thousand
// slow connections, 170 MB are live, and 200 percent would let the heap grow to half a
// gigabyte.
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
	t.adjustAfterEachGC()
}

type gcTuner struct {
	percent int
	samples []metrics.Sample
}

// gcSentinel is unreachable as soon as it has been created, so its finalizer runs
// after the next collection.
type gcSentinel struct{ tuner *gcTuner }

// adjustAfterEachGC adjusts GOGC after the next collection and after every later
// one.
func (t *gcTuner) adjustAfterEachGC() {
	runtime.SetFinalizer(&gcSentinel{t}, func(s *gcSentinel) {
		s.tuner.adjust()
		s.tuner.adjustAfterEachGC()
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

// gcPercent returns the value of GOGC for the given number of bytes of live memory.
func gcPercent(live uint64) int {
	return int(max(minGCPercent, min(maxGCPercent, heapGrowth*100/max(live, 1))))
}
