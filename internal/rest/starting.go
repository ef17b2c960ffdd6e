package rest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

// startingRetry is the Retry-After value of a server that is starting.
const startingRetry = 3 * time.Second

// Starting handles all requests while a server waits for its database or migrates
// it. /healthz returns 200. All other paths return 503 with Retry-After. /readyz
// gives the reason, and pages are HTML that reloads automatically.
type Starting struct {
	metrics *Metrics
	secure  bool // the base URL is https
	state   atomic.Pointer[startingState]
}

type startingState struct {
	reason string
	since  time.Time
}

// NewStarting returns the handler of a server with the given base URL.
func NewStarting(baseURL string, metrics *Metrics) *Starting {
	s := &Starting{metrics: metrics, secure: strings.HasPrefix(baseURL, "https:")}
	s.Set("The server is starting.")
	return s
}

// Set sets the reason why the server is not ready, as a sentence. /readyz shows the
// reason to anyone.
func (s *Starting) Set(reason string) {
	if old := s.state.Load(); old == nil || old.reason != reason {
		s.state.Store(&startingState{reason, time.Now()})
	}
}

// ServeHTTP implements http.Handler.
func (s *Starting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start, status := time.Now(), http.StatusServiceUnavailable
	header := w.Header()
	header.Set("X-Request-Id", requestID(r))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	if s.secure {
		header.Set("Strict-Transport-Security", strictTransport)
	}
	state := s.state.Load()
	switch p := r.URL.Path; {
	case p == "/healthz":
		status = http.StatusOK
		write(w, status, []byte(`{"status":"ok"}`))
	case p == "/readyz":
		s.refuse(w, fmt.Sprintf("%s It has been in this state for %s.",
			state.reason, time.Since(state.since).Round(time.Second)))
	case !strings.HasPrefix(p, "/api/") && p != board.MCPPath && strings.Contains(r.Header.Get("Accept"), "text/html"):
		s.page(w)
	default:
		s.refuse(w, "The server is starting. Try again in a moment.")
	}
	s.metrics.completed(r, status, time.Since(start), false)
}

func (s *Starting) refuse(w http.ResponseWriter, message string) {
	w.Header().Set("Retry-After", board.RetrySeconds(startingRetry))
	body, err := json.Marshal(errorEnvelope{&op.ErrorBody{Code: board.CodeUnavailable, Message: message}})
	if err != nil {
		body = []byte(`{"error":{"code":"unavailable","message":"The server is starting."}}`)
	}
	write(w, http.StatusServiceUnavailable, body)
}

const (
	startingStyle = `:root{color-scheme:light dark}h1{font-size:1.4rem}` +
		`body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto 0;padding:0 1.5rem}`
	startingPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="3">
<title>Cardwall is starting</title>
<style>` + startingStyle + `</style>
</head>
<body>
<h1>Cardwall is starting</h1>
<p>It will be ready in a moment. This page reloads automatically.</p>
</body>
</html>
`
)

func (s *Starting) page(w http.ResponseWriter) {
	sum := sha256.Sum256([]byte(startingStyle))
	header := w.Header()
	header.Set("Retry-After", board.RetrySeconds(startingRetry))
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(startingPage)))
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+
		base64.StdEncoding.EncodeToString(sum[:])+"'; frame-ancestors 'none'")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = w.Write([]byte(startingPage)) // fails only if the client has disconnected
}
