package mcp

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"cardwall/internal/board"
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
	if err := e.checkSource(r); err != nil {
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
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	ctx := context.WithValue(r.Context(), requestKey{}, &request{caller: caller, writer: w})
	ctx, cancel := context.WithTimeout(ctx, e.Deadline)
	defer cancel()
	if d, ok := e.directCall(r, body); ok {
		e.writeResult(w, d.id, d.stateless, e.call(ctx, d.tool, d.arguments))
		return nil
	}
	m, problem := readMessage(body)
	if problem == nil {
		problem = m.unknownMethod(r)
	}
	if problem != nil {
		writeError(w, m.id, problem)
		return nil
	}
	e.serveSDK(w, r.WithContext(ctx), m, body)
	return nil
}

// checkSource rejects requests that a browser sends on behalf of a page on another
// site. Such a request names that site in Origin or, with DNS rebinding, in Host.
// Rebinding requires a host name, so IP addresses in Host are accepted.
func (e *Endpoint) checkSource(r *http.Request) error {
	if r.Host != e.base.Host && !e.isOwnHost(&url.URL{Scheme: e.base.Scheme, Host: r.Host}) {
		return board.Forbidden("The Host header names another server. This server is %s.", e.BaseURL)
	}
	for _, header := range r.Header.Values("Origin") {
		origin, err := url.Parse(header)
		if err != nil || origin.Scheme != e.base.Scheme || !sameHost(origin, e.base) {
			return board.Forbidden("The Origin header names another site. Only pages on %s may send this request.", e.BaseURL)
		}
	}
	return nil
}

// isOwnHost reports whether host is this server's own, or one that a proxy in front of
// the server may set.
func (e *Endpoint) isOwnHost(host *url.URL) bool {
	_, err := netip.ParseAddr(host.Hostname())
	return err == nil || sameHost(host, e.base) || loopback(host.Hostname())
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
