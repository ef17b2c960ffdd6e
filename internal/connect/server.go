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

// Options configures a Server.
type Options struct {
	BaseURL      string // the issuer (RFC 8414, 2)
	Registration bool   // allow dynamic registration (RFC 7591)
	Unlimited    bool   // disable the limits on attempts
	// Check and Dial protect the internal network when the server fetches client
	// metadata documents. The server calls Check before it requests a document, and
	// connects with Dial. Both must reject internal addresses, because a name may
	// resolve to another address later. If one of them is nil, the server does not
	// fetch documents.
	Check func(ctx context.Context, address string) error
	Dial  func(ctx context.Context, network, address string) (net.Conn, error)
	Roots *x509.CertPool // root certificates for fetching documents; nil means those of the system
	Log   *slog.Logger
}

// Server is the authorization server.
type Server struct {
	opts      Options
	base      string // the issuer: BaseURL without a trailing slash
	attempts  *session.Attempts
	documents *documents
}

// The limits for unauthenticated requests that store or fetch something, and for attempts
// to enter a user code.
var (
	registrations  = session.Limit{Name: "register", Most: 60, Window: time.Hour}        // per network
	deviceRequests = session.Limit{Name: "device", Most: 60, Window: time.Hour}          // per network
	fetches        = session.Limit{Name: "document", Most: 30, Window: 10 * time.Minute} // per network

	userCodesPerPerson  = session.Limit{Name: "typed", Most: 20, Window: 15 * time.Minute}
	userCodesPerNetwork = session.Limit{Name: "typed from", Most: 60, Window: 15 * time.Minute}
)

// New returns an authorization server.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Server{
		opts: o, base: strings.TrimSuffix(o.BaseURL, "/"),
		attempts: session.NewAttempts(o.Unlimited), documents: newDocuments(o),
	}
}

// timeout limits one request. It is shorter than the HTTP server's write timeout.
const timeout = 20 * time.Second

// endpoints serves the endpoints of a Server, which need a database.
type endpoints struct {
	*Server
	db          *store.DB
	gate        *session.Gate
	application http.Handler
}

// Handlers returns the handlers of the endpoints by path. The application serves the
// consent page. If it is nil, people cannot grant access to apps.
func (s *Server) Handlers(db *store.DB, gate *session.Gate, application http.Handler) map[string]http.Handler {
	d := &endpoints{s, db, gate, application}
	handlers := map[string]http.Handler{
		"/oauth/authorize":            http.HandlerFunc(d.authorize),
		"/oauth/token":                d.post(d.token),
		"/oauth/revoke":               d.post(d.revoke),
		"/oauth/device_authorization": d.post(d.deviceAuthorization),
		"/oauth/register":             d.post(d.register),
		"/auth.md":                    d.document("text/markdown; charset=utf-8", []byte(s.guide())),
	}
	for path, body := range s.metadata() {
		handlers[path] = d.document("application/json", body)
	}
	return handlers
}

// allowAnywhere lets pages of any site read a response (Fetch standard, 3.2), for MCP
// clients in browsers. These endpoints read no cookies, so a page cannot use them on
// behalf of a person.
func allowAnywhere(w http.ResponseWriter, methods string) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Allow-Methods", methods)
	header.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
	header.Set("Access-Control-Expose-Headers", "Retry-After, WWW-Authenticate, X-Request-Id")
	header.Set("Access-Control-Max-Age", "86400")
}

// preflight adds the CORS headers, and handles preflight requests and requests whose
// method is not allowed. It reports whether it sent a response.
func preflight(w http.ResponseWriter, r *http.Request, methods ...string) (done bool) {
	all := strings.Join(append(methods, http.MethodOptions), ", ")
	allowAnywhere(w, all)
	switch {
	case r.Method == http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
	case !slices.Contains(methods, r.Method):
		w.Header().Set("Allow", all)
		writeJSON(w, http.StatusMethodNotAllowed, errorBody{invalidRequest, "This endpoint supports only " + all + "."})
	default:
		return false
	}
	return true
}

type postHandler func(ctx context.Context, w http.ResponseWriter, r *http.Request, network string) error

// post returns the handler of an endpoint that accepts only POST.
func (d *endpoints) post(fn postHandler) http.Handler {
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
			d.writeError(w, r, err)
		}
	})
}

// document returns the handler of a static document.
func (d *endpoints) document(kind string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if preflight(w, r, http.MethodGet, http.MethodHead) {
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "public, max-age=300")
		_, _ = w.Write(body) // fails only if the client has disconnected
	})
}
