package mcp

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
	"cardwall/internal/session"
)

const (
	maxBody  = 1 << 20          // maximum size of a request body in bytes
	deadline = 25 * time.Second // default of Config.Deadline; less than the server's write timeout
)

// Serve handles one request. It implements rest.Mount: the caller has been
// authenticated, the request has been counted, and a returned error is sent as an
// error response.
func (e *Endpoint) Serve(w http.ResponseWriter, r *http.Request, caller board.Caller, _ func() error) error {
	if caller.TokenID == "" {
		return board.Unauthenticated() // a session cookie is not valid here
	}
	if err := e.checkOrigin(r); err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return &board.Fault{
			Code: board.CodeInvalidRequest, Cause: board.CauseMethod,
			Message: "This path supports only POST. The server has no sessions and sends no unsolicited messages.",
		}
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return &board.Fault{
			Code: board.CodeInvalidRequest, Cause: board.CauseMediaType,
			Message: "Content-Type must be application/json.",
		}
	}
	selected, err := e.toolsets.selectedBy(r.URL.Query())
	if err != nil {
		return err
	}
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	caller.Assistant = true
	req := &request{caller: caller, selected: selected, stateless: isStateless(r), writer: w}
	ctx := context.WithValue(r.Context(), requestKey{}, req)
	ctx, cancel := context.WithTimeout(ctx, e.Deadline)
	defer cancel()
	r = r.WithContext(ctx)
	if onlyEvents(r) {
		events := &response{header: w.Header(), status: http.StatusOK}
		e.respond(events, r, body)
		writeEvent(w, events)
		return nil
	}
	e.respond(w, r, body)
	return nil
}

// respond handles a message and writes the response as JSON.
func (e *Endpoint) respond(w http.ResponseWriter, r *http.Request, body []byte) {
	if d, ok := e.directCall(r, body); ok {
		out := e.call(r.Context(), d.tool, d.arguments)
		if !e.writeChallenge(w, r, d.id) {
			e.writeResult(w, d.id, d.stateless, out)
		}
		return
	}
	m, problem := readMessage(body)
	if problem == nil {
		problem = m.unknownMethod(r)
	}
	if problem != nil {
		writeError(w, m.id, problem)
		return
	}
	e.serveSDK(w, r, m, body)
}

// writeChallenge reports whether a call needs a scope for which its connected app can ask the
// person, and then writes the response that makes the app do so (MCP 2026-07-28, Authorization,
// Scope Challenge Handling). An API token cannot get a scope, so its call gets a tool result.
func (e *Endpoint) writeChallenge(w http.ResponseWriter, r *http.Request, id jsontext.Value) bool {
	f := requestOf(r.Context()).challenge
	if f != nil {
		session.SetChallenge(w.Header(), e.BaseURL, board.MCPPath, f)
		writeError(w, id, rpcErrorOf(f, http.StatusForbidden))
	}
	return f != nil
}

// onlyEvents reports whether a client accepts a stream of events, but not JSON. Other
// clients get JSON, even those that accept neither (RFC 9110, 12.5.1, lets a server
// disregard the header), because the protocol has no other form.
func onlyEvents(r *http.Request) bool {
	events := false
	for accepted := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, _, _ := strings.Cut(accepted, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "application/json", "application/*", "*/*":
			return false
		case "text/event-stream":
			events = true
		}
	}
	return events
}

// writeEvent writes a response as a stream with one event. An error stays JSON.
func writeEvent(w http.ResponseWriter, r *response) {
	body := r.body.Bytes()
	if r.status == http.StatusOK {
		body = slices.Concat([]byte("event: message\ndata: "), bytes.ReplaceAll(body, []byte("\n"), []byte("\ndata: ")), []byte("\n\n"))
		w.Header().Set("Content-Type", "text/event-stream")
	}
	r.send(w, body)
}

// checkOrigin rejects requests that a browser sends on behalf of a page on another site, unless
// its origin is allowed. The name in Host needs no check, because such a page does not have the
// token, and a proxy may replace Host.
func (e *Endpoint) checkOrigin(r *http.Request) error {
	for _, header := range r.Header.Values("Origin") {
		origin, err := url.Parse(header)
		own := err == nil && origin.Scheme == e.base.Scheme && sameHost(origin, e.base)
		if !own && !slices.Contains(e.Origins, header) {
			return board.Forbidden("The Origin header names another site. Only pages on %s may send this request, "+
				"and those on sites that the operator allows.", e.BaseURL)
		}
	}
	return nil
}

// sameHost reports whether two URLs have the same host and port. All loopback
// addresses and localhost are considered equal.
func sameHost(a, b *url.URL) bool {
	names := strings.EqualFold(a.Hostname(), b.Hostname()) || loopback(a.Hostname()) && loopback(b.Hostname())
	return names && portOf(a) == portOf(b)
}

func loopback(name string) bool {
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback() || strings.EqualFold(name, "localhost")
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var body bytes.Buffer
	if n := r.ContentLength; n > 0 && n <= maxBody {
		body.Grow(int(n) + bytes.MinRead)
	}
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, &board.Fault{
			Code: board.CodeInvalidRequest, Cause: board.CauseTooLarge, Message: "The body is larger than 1 MiB.",
		}
	case err != nil:
		return nil, board.Invalid("The body is incomplete.")
	}
	return body.Bytes(), nil
}
