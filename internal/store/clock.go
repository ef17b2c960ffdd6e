package store

import (
	"sync"
	"time"
)

// maxSetback is the largest setback of the clock that SteadyClock evens out. It
// follows a larger one at once, because catching up would take days.
const maxSetback = 24 * time.Hour

// SteadyClock returns a clock for Options that follows the wall clock. If the wall
// clock is set back by less than a day, the steady clock runs at half speed until
// the wall clock has caught up. So later records have later times, and scheduled
// work is neither delayed nor repeated. The clock is safe for concurrent use.
func SteadyClock(wall func() time.Time) func() time.Time {
	s := &steadyClock{wall: wall, begun: time.Now()}
	return s.now
}

type steadyClock struct {
	wall  func() time.Time
	begun time.Time // with a monotonic reading

	mu      sync.Mutex
	last    time.Time     // the last time that now returned
	elapsed time.Duration // since begun, at that call
}

func (s *steadyClock) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	elapsed, wall := time.Since(s.begun), s.wall().Round(0)
	if setback := s.last.Sub(wall); setback > 0 && setback < maxSetback {
		wall = s.last.Add((elapsed - s.elapsed) / 2)
	}
	s.last, s.elapsed = wall, elapsed
	return wall
}
