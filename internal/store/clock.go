package store

import (
	"sync"
	"time"
)

// forgiven is how far a clock that was set back may have been wrong before, and
// time go on from there. What is further back is believed at once: to catch up
// would take days.
const forgiven = 24 * time.Hour

// SteadyClock is a clock for Options that follows another, the machine's, but
// never goes back by less than a day: when that one was set back, it goes on at
// half the pace until the other has caught up. So what was put off is neither
// stuck until then nor done again, and what was written later is later. It may
// be called by many at once.
func SteadyClock(wall func() time.Time) func() time.Time {
	s := &steadyClock{wall: wall, begun: time.Now()}
	return s.now
}

type steadyClock struct {
	wall  func() time.Time
	begun time.Time // with a monotonic reading

	mu      sync.Mutex
	last    time.Time     // what was answered last
	elapsed time.Duration // since begun, when it was
}

func (s *steadyClock) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	elapsed, wall := time.Since(s.begun), s.wall().Round(0)
	if behind := s.last.Sub(wall); behind > 0 && behind < forgiven {
		wall = s.last.Add((elapsed - s.elapsed) / 2)
	}
	s.last, s.elapsed = wall, elapsed
	return wall
}
