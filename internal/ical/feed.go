package ical

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/filename"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

const (
	daysBack  = 90  // cards that were due earlier are omitted
	daysAhead = 730 // cards that are due later are omitted
	maxCards  = 5000
	timeout   = 20 * time.Second
)

// feedReads limits how often one calendar can be read by all clients together.
var feedReads = session.Limit{Name: "calendar", Most: 60, Window: time.Hour}

// Options configures the calendar feeds of a server.
type Options struct {
	DB        *store.DB
	Gate      *session.Gate
	BaseURL   string
	Unlimited bool // disables the request limits
	Log       *slog.Logger
}

type server struct {
	Options
	attempts *session.Attempts
	host     string
}

// Handlers returns the calendar handler, by method and path.
func Handlers(o Options) map[string]http.Handler {
	s := &server{Options: o, attempts: session.NewAttempts(o.Unlimited), host: "cardwall"}
	s.BaseURL = strings.TrimSuffix(o.BaseURL, "/")
	if u, err := url.Parse(o.BaseURL); err == nil && u.Hostname() != "" {
		s.host = u.Hostname()
	}
	return map[string]http.Handler{"GET /ical/{file}": http.HandlerFunc(s.serve)}
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	header := w.Header()
	header.Set("Cache-Control", "private, no-cache") // clients may store it but must revalidate
	header.Set("X-Robots-Tag", "noindex")
	body, err := s.calendar(ctx, r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	sum := sha256.Sum256([]byte(body))
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	header.Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", "text/calendar; charset=utf-8")
	name := filename.Of("Cardwall due dates", s.DB.Now(), "ics")
	header.Set("Content-Disposition", filename.Disposition("inline", name))
	header.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write([]byte(body)) // fails only if the client has disconnected
}

// calendar returns the requested calendar, with the current permissions of its owner.
// The error is not_found, rate_limited or an error of the database.
func (s *server) calendar(ctx context.Context, r *http.Request) (string, error) {
	if _, err := s.Gate.AdmitProgram(r); err != nil {
		return "", err
	}
	secret, ok := strings.CutSuffix(r.PathValue("file"), ".ics")
	if !ok || len(secret) < 26 || len(secret) > 64 {
		return "", board.NotFound()
	}
	hash := board.SecretHash(secret)
	var (
		userID string
		boards []string
	)
	if err := s.DB.Read(ctx, board.Nobody(), func(v *store.View) (err error) {
		userID, boards, err = v.FeedOwner(ctx, hash)
		return err
	}); err != nil {
		return "", err
	}
	if userID == "" {
		return "", board.NotFound()
	}
	if err := s.attempts.Spend(s.DB, session.Subject{Limit: feedReads, Of: string(hash)}); err != nil {
		return "", err
	}
	var cards []board.FeedCard
	today := s.DB.Now().UTC()
	if err := s.DB.Read(ctx, board.Person(userID, board.ScopeRead), func(v *store.View) (err error) {
		from := today.AddDate(0, 0, -daysBack).Format(board.DateLayout)
		to := today.AddDate(0, 0, daysAhead).Format(board.DateLayout)
		cards, err = v.FeedCards(ctx, boards, from, to, maxCards)
		return err
	}); err != nil {
		return "", err
	}
	return Write(cards, s.host, s.BaseURL+"/cards/"), nil
}

func (s *server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	status, text := http.StatusServiceUnavailable, "The service is temporarily unavailable. Try again in a moment."
	f, known := board.AsFault(err)
	switch {
	case known && f.Code == board.CodeNotFound:
		status, text = http.StatusNotFound, "There is no calendar at this address."
	case known && f.Code == board.CodeRateLimited:
		status, text = http.StatusTooManyRequests, f.Message
		w.Header().Set("Retry-After", board.RetrySeconds(max(f.RetryAfter, time.Second)))
	case r.Context().Err() == nil:
		s.Log.Warn("calendar not served", "request", w.Header().Get("X-Request-Id"), "error", err)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n")) // fails only if the client has disconnected
}

// matches reports whether the value of If-None-Match contains a tag. The comparison is
// weak (RFC 9110, 13.1.2).
func matches(header, tag string) bool {
	for entry := range strings.SplitSeq(header, ",") {
		entry = strings.TrimPrefix(strings.TrimSpace(entry), "W/")
		if entry == tag || entry == "*" {
			return true
		}
	}
	return false
}
