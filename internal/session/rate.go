package session

import (
	"strings"
	"sync"
	"time"

	"cardwall/internal/board"
)

// Class is the kind of a request, where it has a limit of its own.
type Class int

// The classes of requests.
const (
	Requests Class = iota
	Searches
)

// strangerLimit is how many requests a minute without a good token one
// network address may send.
const strangerLimit = 60

// The limits of who needs no token: how many requests a minute the pages of one
// person may send, and how many of those that are open to all one network. A
// plan is about programs; a page that is worked with quickly must not stop.
const (
	sessionLimit       = 1_200
	sessionSearchLimit = 300
	anybodyLimit       = 120
	guestLimit         = 600 // to public pages: there may be many people behind one network, each with a page that looks again
)

// programLimit is how many requests a minute one network may send to connect
// programs: behind one that is a host of assistants there are many people.
const programLimit = 600

// Rate is what the X-RateLimit headers say.
type Rate struct {
	Limit     int
	Remaining int
	Reset     time.Time // when the window ends
}

const window = time.Minute

// rates counts requests in windows of a minute, which begin with the first
// request of each key.
type rates struct {
	unlimited bool
	metrics   *Metrics
	mu        sync.Mutex
	windows   map[string]*counter
	swept     time.Time
}

type counter struct {
	used int
	ends time.Time
}

func newRates(unlimited bool, metrics *Metrics) *rates {
	return &rates{unlimited: unlimited, metrics: metrics, windows: map[string]*counter{}}
}

// spend counts one request; ok is false when the limit is used up.
func (r *rates) spend(key string, limit int, now time.Time) (rate Rate, ok bool) {
	if r.unlimited {
		return Rate{Limit: limit, Remaining: limit, Reset: now.Add(window)}, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sweep(now)
	c := r.windows[key]
	if c == nil || !now.Before(c.ends) {
		c = &counter{ends: now.Add(window)}
		r.windows[key] = c
	}
	ok = c.used < limit
	if ok {
		c.used++
	} else {
		name, _, _ := strings.Cut(key, " ") // before the person or the address
		r.metrics.refused(name)
	}
	return Rate{Limit: limit, Remaining: limit - c.used, Reset: c.ends}, ok
}

// look tells a rate without counting.
func (r *rates) look(key string, limit int, now time.Time) Rate {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.windows[key]; c != nil && now.Before(c.ends) {
		return Rate{Limit: limit, Remaining: limit - c.used, Reset: c.ends}
	}
	return Rate{Limit: limit, Remaining: limit, Reset: now.Add(window)}
}

// sweep forgets windows that have ended, once a window.
func (r *rates) sweep(now time.Time) {
	if now.Sub(r.swept) < window {
		return
	}
	r.swept = now
	for key, c := range r.windows {
		if !now.Before(c.ends) {
			delete(r.windows, key)
		}
	}
}

func limited(rate Rate, now time.Time) error {
	return &board.Fault{
		Code:       board.CodeRateLimited,
		Message:    "Too many requests; wait as long as Retry-After says.",
		RetryAfter: max(rate.Reset.Sub(now), time.Second),
	}
}
