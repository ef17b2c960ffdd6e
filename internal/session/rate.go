package session

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"cardwall/internal/board"
)

// The maximum numbers of requests per minute.
const (
	// Per network, without a valid token or session.
	unauthenticatedLimit = 60
	// Per person, from pages of this server. They replace the limits of the plan,
	// because pages must keep working for people who work quickly.
	sessionLimit       = 1_200
	sessionSearchLimit = 300
	sessionReportLimit = 600
	// Per network, for operations that need no sign-in.
	anonymousLimit = 120
	// Per network, for public pages. Many people can share a network, and each page
	// polls periodically.
	guestLimit = 600
	// Per network, for connecting apps. An app's server can serve many people.
	programLimit = 600
)

// Rate is the state of a budget.
type Rate = board.Rate

// SetRate sets the headers that describe a budget.
func SetRate(header http.Header, rate Rate) {
	header.Set("X-RateLimit-Limit", strconv.Itoa(rate.Limit))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(rate.Remaining))
	header.Set("X-RateLimit-Reset", strconv.FormatInt(rate.Reset.Unix(), 10))
	header.Set("X-RateLimit-Resource", string(cmp.Or(rate.Resource, board.ResourceGeneral)))
}

// minutely returns a limit of requests per minute.
func minutely(name string, most int) Limit {
	return Limit{Name: name, Most: most, Window: time.Minute}
}

// perMinute returns the subject of a limit of requests per minute.
func perMinute(name, of string, most int) Subject {
	return Subject{minutely(name, most), of}
}

// names are the names of the limits per person, by budget.
var names = map[board.Resource]string{
	board.ResourceGeneral: "user", board.ResourceSearch: "search", board.ResourceReport: "report",
	board.ResourceExport: "export", board.ResourceUpload: "upload",
}

// subjectOf returns the limit of a caller for a budget. A person's pages are counted separately
// from the person's programs, which therefore cannot use up the budget of the pages. Pages may
// send more requests, searches and reports than the plan allows for programs.
func subjectOf(c board.Caller, r board.Resource) Subject {
	name := names[r]
	if c.SessionID != "" {
		switch r {
		case board.ResourceGeneral:
			return perMinute("session", c.UserID, sessionLimit)
		case board.ResourceSearch:
			return perMinute("session search", c.UserID, sessionSearchLimit)
		case board.ResourceReport:
			return perMinute("session report", c.UserID, sessionReportLimit)
		case board.ResourceExport, board.ResourceUpload, board.ResourceMail:
			name = "session " + name
		}
	}
	b := c.Plan.Budget(r)
	return Subject{Limit{Name: name, Most: b.Most, Window: b.Window}, c.UserID}
}

// limited returns the error for a budget that is used up.
func limited(rate Rate, now time.Time) error {
	what, window := "requests", "minute"
	switch rate.Resource {
	case board.ResourceSearch:
		what = "searches"
	case board.ResourceReport:
		what = "reports"
	case board.ResourceExport:
		what, window = "exports", "hour"
	case board.ResourceUpload:
		what, window = "uploads", "hour"
	case board.ResourceGeneral, board.ResourceMail:
	}
	wait := max(rate.Reset.Sub(now), time.Second)
	return &board.Fault{
		Code: board.CodeRateLimited,
		Message: fmt.Sprintf("Too many %s: the limit is %d per %s. Try again in %s.", what, rate.Limit, window,
			board.WaitText(wait)),
		RetryAfter: wait,
	}
}
