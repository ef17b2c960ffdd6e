package session

import (
	"fmt"
	"time"

	"cardwall/internal/board"
)

// Class is the kind of a request. Each class has its own limit.
type Class int

// The classes of requests.
const (
	Requests Class = iota
	Searches
)

// Limits of requests per minute.
const (
	// Per network, without a valid token.
	unauthenticatedLimit = 60
	// Per person, from our own pages. The limits of plans apply only to programs,
	// because a page must keep working when a person works quickly.
	sessionLimit       = 1_200
	sessionSearchLimit = 300
	// Per network, of operations that need no sign-in.
	anonymousLimit = 120
	// Per network, to public pages. Many people can share a network, and each page
	// reloads periodically.
	guestLimit = 600
	// Per network, to connect apps. A host of assistants serves many people.
	programLimit = 600
)

// Rate is the content of the X-RateLimit headers.
type Rate struct {
	Limit     int
	Remaining int       // as far as this server knows; other servers may have used up to a hundredth of the limit
	Reset     time.Time // end of the window
}

// minutely returns a limit of requests per minute.
func minutely(name string, most int) Limit {
	return Limit{Name: name, Most: most, Window: time.Minute}
}

// perMinute returns the subject of a limit of requests per minute.
func perMinute(name, of string, most int) Subject {
	return Subject{minutely(name, most), of}
}

// limited returns the error for too many requests or searches.
func limited(what string, rate Rate, now time.Time) error {
	return &board.Fault{
		Code:       board.CodeRateLimited,
		Message:    fmt.Sprintf("Too many %s: the limit is %d per minute. Wait for the time in Retry-After.", what, rate.Limit),
		RetryAfter: max(rate.Reset.Sub(now), time.Second),
	}
}
