package session

import (
	"strings"
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

// proxyShare is how much more than one network a proxy may ask for that the
// operator did not name: many people may be behind it, but what it says about
// them may be made up.
const proxyShare = 10

// PerNetwork returns what a limit for each network counts a caller for. Behind a
// proxy that the operator did not name, that is the network that the proxy names,
// and the proxy itself with a limit ten times as high.
func PerNetwork(l Limit, c board.Caller) []Subject {
	return perNetwork(l, c.Address, c.Network)
}

// KnowsNetwork reports whether it is known from which network a caller comes.
func KnowsNetwork(c board.Caller) bool { return !strings.HasPrefix(c.Network, via) }

func perNetwork(l Limit, address, network string) []Subject {
	here := Network(address)
	client, _, unnamed := strings.Cut(network, via)
	if !unnamed {
		return []Subject{{Limit: l, Of: here}}
	}
	whole := Subject{Limit: Limit{Name: l.Name + " proxy", Most: proxyShare * l.Most, Window: l.Window}, Of: here}
	if client == "" { // the proxy does not say whose request it is
		return []Subject{whole}
	}
	return []Subject{{Limit: l, Of: network}, whole}
}

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
