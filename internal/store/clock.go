package store

import (
	"sync"
	"time"
)

// maxSetback is the size at which SteadyClock stops hiding a setback of the wall clock.
// SteadyClock follows a setback of this size or more immediately, because catching up
// would take at least two days.
const maxSetback = 24 * time.Hour

// SteadyClock returns a clock for Options.Clock that follows the wall clock. If the wall
// clock is set back by less than a day, the steady clock runs at half speed until the
// wall clock has caught up. Therefore, later records get later times, scheduled work is
// not repeated, and it waits at most twice as long as planned. The clock is safe for
// concurrent use.
func SteadyClock(wall func() time.Time) func() time.Time {
	s := &steadyClock{wall: wall, start: time.Now()}
	return s.now
}

type steadyClock struct {
	wall  func() time.Time
	start time.Time // with a monotonic reading

	mu      sync.Mutex
	last    time.Time     // the last time that now returned
	elapsed time.Duration // from start to the last call of now
}

func (s *steadyClock) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	elapsed, wall := time.Since(s.start), s.wall().Round(0)
	if setback := s.last.Sub(wall); setback > 0 && setback < maxSetback {
		wall = s.last.Add((elapsed - s.elapsed) / 2)
	}
	s.last, s.elapsed = wall, elapsed
	return wall
}
