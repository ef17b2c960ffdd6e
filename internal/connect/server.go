package connect

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"cardwall/internal/session"
	"cardwall/internal/store"
)

// Options of an authorization server.
type Options struct {
	BaseURL      string // where programs find the server; its issuer (RFC 8414, 2)
	Registration bool   // whether programs may register themselves (RFC 7591)
	Unlimited    bool   // no limits of attempts
	// Check and Dial guard what is fetched for strangers: the documents of clients.
	// Check refuses an address, Dial one that its name resolves to in the end.
	Check func(ctx context.Context, address string) error
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Roots *x509.CertPool // authorities of the hosts of such documents; nil for the system's
	Log   *slog.Logger
}

// Server is the authorization server.
type Server struct {
	opts      Options
	base      string // the issuer: BaseURL without a slash at its end
	attempts  *session.Attempts
	documents *documents
}

// The limits of what strangers may have the server keep or look up.
var (
	registrations = session.Limit{Name: "register", Most: 60, Window: time.Hour}        // from one network
	questions     = session.Limit{Name: "device", Most: 60, Window: time.Hour}          // of devices, from one network
	fetches       = session.Limit{Name: "document", Most: 30, Window: 10 * time.Minute} // of documents, for one network
	typedPerson   = session.Limit{Name: "typed", Most: 20, Window: 15 * time.Minute}    // codes of devices, by one person
	typedNetwork  = session.Limit{Name: "typed from", Most: 60, Window: 15 * time.Minute}
)

// New makes the authorization server.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Server{
		opts: o, base: strings.TrimSuffix(o.BaseURL, "/"),
		attempts: session.NewAttempts(o.Unlimited), documents: newDocuments(o),
	}
}

// timeout is that of one request; below the server's write timeout.
const timeout = 20 * time.Second

// door is the server on a database.
type door struct {
	*Server
	db          *store.DB
	gate        *session.Gate
	application http.Handler
}

// Pages are the server's addresses, by path. The application shows the page on
// which people are asked; without one, nil, they cannot be.
func (s *Server) Pages(db *store.DB, gate *session.Gate, application http.Handler) map[string]http.Handler {
	d := &door{s, db, gate, application}
	pages := map[string]http.Handler{
		"/oauth/authorize":            http.HandlerFunc(d.authorize),
		"/oauth/token":                d.program(d.token),
		"/oauth/revoke":               d.program(d.revoke),
		"/oauth/device_authorization": d.program(d.deviceAuthorization),
		"/oauth/register":             d.program(d.register),
		"/auth.md":                    d.document("text/markdown; charset=utf-8", []byte(s.guide())),
	}
	for path, body := range s.metadata() {
		pages[path] = d.document("application/json", body)
	}
	return pages
}

// allowAnywhere lets the pages of any site read an answer (Fetch standard, 3.2):
// a browser's MCP client is such a page. Nothing here reads a cookie, so there
// is nothing that a page could have a browser do in a person's name.
func allowAnywhere(w http.ResponseWriter, methods string) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Allow-Methods", methods)
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
	header.Set("Access-Control-Expose-Headers", "Retry-After, WWW-Authenticate, X-Request-Id")
	header.Set("Access-Control-Max-Age", "86400")
}

// preflight answers what a browser asks ahead of a request, and what comes with
// another method.
func preflight(w http.ResponseWriter, r *http.Request, methods ...string) (done bool) {
	all := strings.Join(append(methods, http.MethodOptions), ", ")
	allowAnywhere(w, all)
	switch {
	case r.Method == http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
	case !slices.Contains(methods, r.Method):
		w.Header().Set("Allow", all)
		answer(w, http.StatusMethodNotAllowed, errorAnswer{invalidRequest, "This address takes " + all + "."})
	default:
		return false
	}
	return true
}

// program serves an address to which programs post.
func (d *door) program(fn func(ctx context.Context, w http.ResponseWriter, r *http.Request, network string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if preflight(w, r, http.MethodPost) {
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		address, err := d.gate.AdmitProgram(r)
		if err == nil {
			err = fn(ctx, w, r, session.Network(address))
		}
		if err != nil {
			d.tell(w, r, err)
		}
	})
}

// document serves what does not change while the server runs.
func (d *door) document(kind string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if preflight(w, r, http.MethodGet, http.MethodHead) {
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "public, max-age=300")
		_, _ = w.Write(body) // the reader may be gone
	})
}
