package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How far the heap may grow above what is alive before it is collected. A server
// has some 30 MB alive, and at Go's own 100 percent a seventh of all time would
// go into collecting; ten thousand slow connections keep 170 MB alive, and at 200
// percent would have the server take half a gigabyte.
const (
	mostPercent  = 200
	leastPercent = 50
	heapRoom     = 128 << 20 // where neither of them holds
)

// tuneGC follows what is alive after each collection, unless GOGC says how much
// may be collected at once.
func tuneGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	t := &gcTuner{percent: mostPercent, samples: []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}}}
	debug.SetGCPercent(t.percent)
	t.await()
}

type gcTuner struct {
	percent int
	samples []metrics.Sample
}

type collected struct{ tuner *gcTuner }

// await has the next collection followed: what nobody holds is finalized after it.
func (t *gcTuner) await() {
	runtime.SetFinalizer(&collected{t}, func(c *collected) {
		c.tuner.follow()
		c.tuner.await()
	})
}

func (t *gcTuner) follow() {
	metrics.Read(t.samples)
	alive := uint64(0)
	for _, s := range t.samples {
		alive += s.Value.Uint64()
	}
	if percent := gcPercent(alive); percent != t.percent {
		t.percent = percent
		debug.SetGCPercent(percent)
	}
}

// gcPercent is how many percent of what is alive may be added to it.
func gcPercent(alive uint64) int {
	return int(max(leastPercent, min(mostPercent, heapRoom*100/max(alive, 1))))
}
