package session

import (
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Limit is a maximum number of attempts within a window.
type Limit struct {
	Name   string
	Most   int
	Window time.Duration
}

// Subject is what a limit applies to, such as a person or a network.
type Subject struct {
	Limit
	Of string
}

func (s Subject) key() string { return s.Name + "\x00" + s.Of }

// proxyShare is the factor by which the limit of an untrusted proxy is higher than
// that of a network. Many people may be behind the proxy, but the addresses that
// it names can be forged.
const proxyShare = 10

// PerNetwork returns the subjects of a limit per network. Behind an untrusted
// proxy they are the network that the proxy names, and the proxy itself with a
// limit ten times as high.
func PerNetwork(l Limit, c board.Caller) []Subject {
	return perNetwork(l, c.Address, c.Network)
}

// KnowsNetwork reports whether the network of a caller is known.
func KnowsNetwork(c board.Caller) bool { return !strings.HasPrefix(c.Network, via) }

func perNetwork(l Limit, address, network string) []Subject {
	here := Network(address)
	client, _, unnamed := strings.Cut(network, via)
	if !unnamed {
		return []Subject{{Limit: l, Of: here}}
	}
	whole := Subject{Limit: Limit{Name: l.Name + " proxy", Most: proxyShare * l.Most, Window: l.Window}, Of: here}
	if client == "" { // the proxy names no client
		return []Subject{whole}
	}
	return []Subject{{Limit: l, Of: network}, whole}
}

// Attempts limits attempts such as password guesses, in windows that begin with
// the first attempt. All servers of a database count together. If a limit is below
// fifty, each attempt is written to the database first; this costs less than the
// attempt itself, such as hashing a password.
type Attempts struct{ counts *counts }

// NewAttempts returns a new counter. If unlimited, it never returns an error.
func NewAttempts(unlimited bool) *Attempts { return &Attempts{newCounts(unlimited, false)} }

// Take counts an attempt. The caller must call it before the attempt, so that
// concurrent attempts cannot exceed the limit. If one of the limits is used up,
// Take counts nothing and returns an error.
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
			Message: "Too many attempts. Wait for the time in Retry-After.",
		}
	}
	return nil
}

// Forgive undoes an attempt that succeeded. For the first subject it undoes all
// attempts: after a successful sign-in the person has all guesses again.
func (a *Attempts) Forgive(db *store.DB, subjects ...Subject) {
	for i, s := range subjects {
		a.counts.forgive(s, i == 0, db.Now())
	}
}
