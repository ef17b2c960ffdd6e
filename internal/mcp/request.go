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
	maxBody  = 1 << 20          // of a request, in bytes
	deadline = 25 * time.Second // of one request; below the server's write timeout
)

// Serve answers one request of a caller who was let in and counted. It is a
// mount of the interface; its error is shown as a refusal.
func (e *Endpoint) Serve(w http.ResponseWriter, r *http.Request, caller board.Caller, _ func() error) error {
	if caller.TokenID == "" {
		return board.Unauthenticated() // a browser's cookie opens pages, not tools
	}
	if err := e.checkSource(r); err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return &board.Fault{Code: board.CodeInvalidRequest, Cause: board.CauseMethod, Message: "This path takes POST: the server sends nothing that was not asked for, and keeps no sessions."}
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return &board.Fault{Code: board.CodeInvalidRequest, Cause: board.CauseMediaType, Message: "Content-Type must be application/json."}
	}
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), askingKey{}, &asking{caller: caller, answer: w}), deadline)
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

// checkSource refuses what a page of another site had a browser send, under its
// own name (Origin) or under one that it made to point here (Host; DNS
// rebinding needs a name, so addresses pass).
func (e *Endpoint) checkSource(r *http.Request) error {
	if r.Host != e.base.Host && !e.ours(&url.URL{Scheme: e.base.Scheme, Host: r.Host}) {
		return board.Forbidden("The header Host names another server; this one is %s.", e.BaseURL)
	}
	for _, given := range r.Header.Values("Origin") {
		origin, err := url.Parse(given)
		if err != nil || origin.Scheme != e.base.Scheme || !sameHost(origin, e.base) {
			return board.Forbidden("The header Origin names another site; pages of %s alone may send this.", e.BaseURL)
		}
	}
	return nil
}

// ours tells whether a Host is one that a proxy of ours may send.
func (e *Endpoint) ours(host *url.URL) bool {
	_, err := netip.ParseAddr(host.Hostname())
	return err == nil || sameHost(host, e.base) || loopback(host.Hostname())
}

// sameHost compares host and port; the names of this machine for itself are one.
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
		return nil, &board.Fault{Code: board.CodeInvalidRequest, Cause: board.CauseTooLarge, Message: "The body is larger than 1 MiB."}
	case err != nil:
		return nil, board.Invalid("The body did not arrive whole.")
	}
	return body.Bytes(), nil
}
