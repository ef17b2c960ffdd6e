package session

import (
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Limit is how often something may be tried within a window.
type Limit struct {
	Name   string
	Most   int
	Window time.Duration
}

// Subject is what a limit counts for.
type Subject struct {
	Limit
	Of string
}

func (s Subject) key() string { return s.Name + "\x00" + s.Of }

// Attempts counts what must not be tried often, in windows that begin with the
// first attempt, by all servers of a database together. An attempt of which
// fewer than fifty are allowed is written down before it is made: each of those
// costs more than that, such as the hash of a password.
type Attempts struct{ counts *counts }

// NewAttempts begins to count; an unlimited one refuses nothing.
func NewAttempts(unlimited bool) *Attempts { return &Attempts{newCounts(unlimited, false)} }

// Take counts one attempt ahead of it, so that many at once are no way around.
// Where one of the limits is used up it refuses, and counts nothing.
func (a *Attempts) Take(db *store.DB, subjects ...Subject) error {
	a.counts.share(db)
	now := db.Now()
	for i, s := range subjects {
		rate, ok := a.counts.spend(s, now)
		if ok {
			continue
		}
		for _, s := range subjects[:i] {
			a.counts.forgive(s, false, now)
		}
		return &board.Fault{
			Code: board.CodeRateLimited, RetryAfter: max(rate.Reset.Sub(now), time.Second),
			Message: "There were too many attempts; wait as long as Retry-After says.",
		}
	}
	return nil
}

// Forgive takes an attempt back that was none, for it succeeded. Of the first
// subject all attempts are forgotten: who got in from a network has all guesses
// from there again.
func (a *Attempts) Forgive(db *store.DB, subjects ...Subject) {
	for i, s := range subjects {
		a.counts.forgive(s, i == 0, db.Now())
	}
}
