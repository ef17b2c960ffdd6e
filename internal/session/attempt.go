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

// Subject is a limit and what it applies to, such as a person or a network.
type Subject struct {
	Limit
	Of string
}

func (s Subject) key() string { return s.Name + "\x00" + s.Of }

// proxyShare is the factor by which the limit of an untrusted proxy exceeds that of
// a network. The limit is higher because many people may share the proxy. It is finite
// because the client addresses that the proxy names can be forged.
const proxyShare = 10

// PerNetwork returns the subjects to which l, a limit per network, applies for a
// caller. If the caller is behind an untrusted proxy, these are the network that the
// proxy names, if any, and the proxy itself with a limit ten times as high.
func PerNetwork(l Limit, c board.Caller) []Subject {
	return perNetwork(l, c.Address, c.Network)
}

// KnowsNetwork reports whether the network of a caller is known. It is unknown if an
// untrusted proxy names no client.
func KnowsNetwork(c board.Caller) bool { return !strings.HasPrefix(c.Network, via) }

func perNetwork(l Limit, address, network string) []Subject {
	own := Network(address)
	client, _, behindProxy := strings.Cut(network, via)
	if !behindProxy {
		return []Subject{{Limit: l, Of: own}}
	}
	proxy := Subject{Limit: Limit{Name: l.Name + " proxy", Most: proxyShare * l.Most, Window: l.Window}, Of: own}
	if client == "" { // the proxy names no client
		return []Subject{proxy}
	}
	return []Subject{{Limit: l, Of: network}, proxy}
}

// Attempts limits attempts such as password guesses, in windows that begin with the first
// attempt. All servers that share a database share the limits. For a limit below 50, a
// server writes each attempt to the shared database before it allows the attempt. The
// write costs less than the work that follows, such as hashing a password.
type Attempts struct{ counts *counts }

// NewAttempts returns new Attempts. If unlimited is true, Spend never returns an error.
func NewAttempts(unlimited bool) *Attempts { return &Attempts{newCounts(unlimited, false)} }

// Spend counts an attempt. The caller must call it before the attempt, so that
// concurrent attempts cannot exceed the limit. If one of the limits is used up,
// Spend counts nothing and returns a rate_limited error.
func (a *Attempts) Spend(db *store.DB, subjects ...Subject) error {
	a.counts.share(db)
	now := db.Now()
	rate, ok := a.counts.spendAll(now, subjects...)
	if ok {
		return nil
	}
	wait := max(rate.Reset.Sub(now), time.Second)
	return &board.Fault{
		Code: board.CodeRateLimited, RetryAfter: wait,
		Message: "Too many attempts. Try again in " + board.WaitText(wait) + ".",
	}
}

// Refund undoes the count of an attempt that succeeded. For the first subject it
// undoes the count of all attempts, so that a successful sign-in resets the limit.
func (a *Attempts) Refund(db *store.DB, subjects ...Subject) {
	for i, s := range subjects {
		a.counts.refund(s, i == 0, db.Now())
	}
}
