package account

import (
	"sync"
	"time"

	"cardwall/internal/board"
)

// limit is how often something may be done within a window.
type limit struct {
	name   string
	most   int
	window time.Duration
}

// The limits of guesses, and of what makes letters leave.
var (
	guessesHere    = limit{"here", 10, 15 * time.Minute}     // at one account, from one network
	guessesAnybody = limit{"network", 50, 15 * time.Minute}  // at any account, from one network
	guessesAccount = limit{"account", 200, 15 * time.Minute} // at one account, from anywhere
	lettersNetwork = limit{"letters", 30, time.Hour}         // asked for from one network
)

// attempts counts what must not be tried often, in windows that begin with the
// first attempt.
//
// It counts in this process alone. A guesser with n servers to choose from has n
// times the guesses, which is as far from enough; written down, each guess would
// cost the database a write, and so would be a way to keep it busy.
type attempts struct {
	unlimited bool
	mu        sync.Mutex
	counts    map[string]*attempt
	swept     time.Time
}

type attempt struct {
	used int
	ends time.Time
}

func newAttempts(unlimited bool) *attempts {
	return &attempts{unlimited: unlimited, counts: map[string]*attempt{}}
}

// subject is what a limit counts for.
type subject struct {
	limit
	of string
}

func guess(account, network string) []subject {
	return []subject{{guessesHere, account + "\x00" + network}, {guessesAnybody, network}, {guessesAccount, account}}
}

// take counts one attempt ahead of it, so that many at once are no way around.
// Where one of the limits is used up it refuses, and counts nothing.
func (a *attempts) take(now time.Time, subjects ...subject) error {
	if a.unlimited {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep(now)
	for _, s := range subjects {
		if c := a.counts[s.key()]; c != nil && now.Before(c.ends) && c.used >= s.most {
			return &board.Fault{
				Code: board.CodeRateLimited, RetryAfter: max(c.ends.Sub(now), time.Second),
				Message: "There were too many attempts; wait as long as Retry-After says.",
			}
		}
	}
	for _, s := range subjects {
		c := a.counts[s.key()]
		if c == nil || !now.Before(c.ends) {
			c = &attempt{ends: now.Add(s.window)}
			a.counts[s.key()] = c
		}
		c.used++
	}
	return nil
}

// forgive takes an attempt back that was none, for it succeeded; who got in from
// a network has all guesses from there again.
func (a *attempts) forgive(subjects ...subject) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range subjects {
		c := a.counts[s.key()]
		switch {
		case c == nil:
		case s.limit == guessesHere:
			delete(a.counts, s.key())
		case c.used > 0:
			c.used--
		}
	}
}

func (s subject) key() string { return s.name + "\x00" + s.of }

// sweep forgets windows that have ended, once in a while.
func (a *attempts) sweep(now time.Time) {
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
