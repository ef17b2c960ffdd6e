package session

import (
	"sync"
	"time"

	"cardwall/internal/board"
)

// Limit is how often something may be tried within a window.
type Limit struct {
	Name   string
	Most   int
	Window time.Duration
}

// Attempts counts what must not be tried often, in windows that begin with the
// first attempt.
//
// It counts in this process alone. A guesser with n servers to choose from has n
// times the guesses, which is as far from enough; written down, each guess would
// cost the database a write, and so would be a way to keep it busy.
type Attempts struct {
	unlimited bool
	mu        sync.Mutex
	counts    map[string]*attempt
	swept     time.Time
}

type attempt struct {
	used int
	ends time.Time
}

// NewAttempts begins to count; an unlimited one refuses nothing.
func NewAttempts(unlimited bool) *Attempts {
	return &Attempts{unlimited: unlimited, counts: map[string]*attempt{}}
}

// Subject is what a limit counts for.
type Subject struct {
	Limit
	Of string
}

// Take counts one attempt ahead of it, so that many at once are no way around.
// Where one of the limits is used up it refuses, and counts nothing.
func (a *Attempts) Take(now time.Time, subjects ...Subject) error {
	if a.unlimited {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep(now)
	for _, s := range subjects {
		if c := a.counts[s.key()]; c != nil && now.Before(c.ends) && c.used >= s.Most {
			return &board.Fault{
				Code: board.CodeRateLimited, RetryAfter: max(c.ends.Sub(now), time.Second),
				Message: "There were too many attempts; wait as long as Retry-After says.",
			}
		}
	}
	for _, s := range subjects {
		c := a.counts[s.key()]
		if c == nil || !now.Before(c.ends) {
			c = &attempt{ends: now.Add(s.Window)}
			a.counts[s.key()] = c
		}
		c.used++
	}
	return nil
}

// Forgive takes an attempt back that was none, for it succeeded. Of the first
// subject all attempts are forgotten: who got in from a network has all guesses
// from there again.
func (a *Attempts) Forgive(subjects ...Subject) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, s := range subjects {
		c := a.counts[s.key()]
		switch {
		case c == nil:
		case i == 0:
			delete(a.counts, s.key())
		case c.used > 0:
			c.used--
		}
	}
}

func (s Subject) key() string { return s.Name + "\x00" + s.Of }

// sweep forgets windows that have ended, once in a while.
func (a *Attempts) sweep(now time.Time) {
	if now.Sub(a.swept) < time.Minute {
		return
	}
	a.swept = now
	for key, c := range a.counts {
		if !now.Before(c.ends) {
			delete(a.counts, key)
		}
	}
}
