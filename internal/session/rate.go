package session

import (
	"fmt"
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
	Remaining int       // as far as this server knows: others may have taken a hundredth meanwhile
	Reset     time.Time // when the window ends
}

// minutely is a limit of requests.
func minutely(name string, most int) Limit {
	return Limit{Name: name, Most: most, Window: time.Minute}
}

// perMinute is what a limit of requests counts for.
func perMinute(name, of string, most int) Subject {
	return Subject{minutely(name, most), of}
}

// limited is the refusal of one of too many requests or searches.
func limited(what string, rate Rate, now time.Time) error {
	return &board.Fault{
		Code:       board.CodeRateLimited,
		Message:    fmt.Sprintf("Too many %s: the limit is %d a minute. Wait as long as Retry-After says.", what, rate.Limit),
		RetryAfter: max(rate.Reset.Sub(now), time.Second),
	}
}
