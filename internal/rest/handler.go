package rest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"cardwall"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/rest/docs"
	"cardwall/internal/session"
	"cardwall/internal/store"
	"cardwall/internal/trace"
)

// The path prefixes of the public API and of the API that only the web app uses.
const (
	Prefix            = board.APIPath
	ApplicationPrefix = "/api/app/v1"
)

// Path returns the path pattern of an operation, in which {names} stand for input
// fields.
func Path(o *op.Operation) string {
	if o.Audience != op.Public {
		return ApplicationPrefix + o.Path
	}
	return Prefix + o.Path
}

// strictTransport keeps browsers on https for a year.
const strictTransport = "max-age=31536000"

const (
	maxBody      = 1 << 20  // request body in bytes
	maxGuestBody = 64 << 10 // request body in bytes on a public page, without an account
	// Responses below this number of bytes fit into a few packets, so they are not compressed.
	minCompressed = 8 << 10
	opTimeout     = 25 * time.Second // default of Config.OpTimeout; less than the server's write timeout
)

// Config holds the dependencies and settings of the handler.
type Config struct {
	DB          *store.DB
	Registry    *op.Registry
	Engine      *op.Engine
	Gate        *session.Gate
	Handlers    map[string]http.Handler // handlers with their own authentication, by method and path; may be nil
	BaseURL     string
	Origins     []string // other sites whose pages may use the public API and MCP, such as "https://app.example.com"
	Version     string
	Log         *slog.Logger
	Metrics     *Metrics           // may be nil
	Traces      *trace.Tracer      // may be nil
	Mounts      map[string]Mount   // by method and path, such as "GET /api/app/v1/live"
	Uploads     map[string]bool    // mounts that receive a file, by method and path; may be nil
	Refusals    map[string]Refusal // by path, for paths with another error format; may be nil
	Files       op.FileStore       // stores and opens attached files; may be nil if no operation needs it
	Application http.Handler       // serves all other paths outside /api/ and /.well-known/; may be nil
	Draining    *atomic.Bool       // true while the server is draining; may be nil

	// StreamWindow is the time over which the rate of a stream is averaged. A client
	// must read at least 10 kB per second. 0 means one minute.
	StreamWindow time.Duration

	// OpTimeout is the time limit for one operation. 0 means 25 seconds.
	OpTimeout time.Duration

	// SecurityContact is the https: or mailto: URL for reporting vulnerabilities. The
	// default is the mailbox security@ of the base URL's host. There is no default for
	// http, localhost and IP addresses.
	SecurityContact string
}

// Mount serves requests that are not plain calls of an operation: uploads, streams of
// events and MCP. The caller has been authenticated and the request counted. Recheck
// returns an error if the caller's credentials are no longer valid. An error that
// Mount returns before it writes anything is sent as an error response.
type Mount func(w http.ResponseWriter, r *http.Request, caller board.Caller, recheck func() error) error

// Refusal writes the status and the body of an error response. The headers are
// already set.
type Refusal func(w http.ResponseWriter, r *http.Request, f *board.Fault, status int)

type handler struct {
	Config
	mux    *http.ServeMux
	shared http.Handler   // mux, for paths that pages on other sites may use
	paths  *http.ServeMux // the operations' paths, without methods; in mux, /x/begin would conflict with DELETE /x/{id}

	secure bool // the base URL is https, so send HSTS (RFC 6797)
}

// New returns the handler for all paths of the server. It returns an error if the
// configuration is invalid.
func New(c Config) (http.Handler, error) {
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	c.OpTimeout = cmp.Or(c.OpTimeout, opTimeout)
	if c.Metrics == nil {
		c.Metrics = NewMetrics()
	}
	h := &handler{
		Config: c, mux: http.NewServeMux(), paths: http.NewServeMux(),
		secure: strings.HasPrefix(c.BaseURL, "https://"),
	}
	document := Document(c.Registry, c.Version)
	page, err := docs.New(document, c.BaseURL, cardwall.Changelog)
	if err != nil {
		return nil, err
	}
	for _, at := range []string{"/docs", Prefix + "/docs"} {
		h.mux.Handle("GET "+at, page)
		h.mux.Handle("GET "+at+"/", page)
	}
	h.serveDocument(Prefix+"/openapi.json", func() ([]byte, error) { return Encode(document) })
	h.serveDocument(Prefix+"/postman.json", func() ([]byte, error) { return Postman(c.Registry, c.Version, c.BaseURL) })
	application := ApplicationDocument(c.Registry, c.Version)
	h.serveDocument(ApplicationPrefix+"/openapi.json", func() ([]byte, error) { return Encode(application) })
	for route, own := range c.Handlers {
		h.mux.Handle(route, own)
	}
	contact, err := securityContact(c.SecurityContact, c.BaseURL)
	if err != nil {
		return nil, err
	}
	if contact != "" {
		h.mux.HandleFunc("GET "+securityPath, h.security(contact))
	}
	h.mux.HandleFunc("GET /healthz", h.health)
	h.mux.HandleFunc("GET /readyz", h.ready)
	if err := h.routeOperations(); err != nil {
		return nil, err
	}
	for route, mount := range c.Mounts {
		h.mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) { h.mounted(w, r, mount) })
	}
	if c.Application == nil {
		h.mux.HandleFunc("/", h.unknown)
	} else {
		h.mux.Handle("/", c.Application)
		h.mux.HandleFunc("/api/", h.unknown)
		h.mux.HandleFunc("/.well-known/", h.notFound)
	}
	h.shared = shareWith(c.Origins, h.mux)
	return http.HandlerFunc(h.serve), nil
}

// serve sets the common headers, recovers from panics and records the request.
func (h *handler) serve(writer http.ResponseWriter, r *http.Request) {
	id := requestID(r)
	header := writer.Header()
	header.Set("X-Request-Id", id)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	if h.secure {
		header.Set("Strict-Transport-Security", strictTransport)
	}
	if h.draining() {
		header.Set("Connection", "close") // so that the next request goes to another server
	}
	w, r := h.begin(writer, withoutSlash(r), id)
	defer func() {
		v := recover()
		if v != nil && v != http.ErrAbortHandler {
			h.Log.ErrorContext(r.Context(), "panic", "request", id, "method", methodOf(r), "path", logPath(r),
				"panic", v, "stack", string(debug.Stack()))
			h.refuse(w, r, op.Internal(id))
		}
		h.end(w, r, id, v == http.ErrAbortHandler)
		if v == http.ErrAbortHandler {
			panic(v)
		}
	}()
	clean := path.Clean(r.URL.Path) == strings.TrimSuffix(r.URL.Path, "/") || r.URL.Path == "/"
	if !clean || r.RequestURI == "*" {
		h.notFound(w, r) // the mux would redirect, or respond without the error envelope
		return
	}
	if r.URL.Path == board.MCPPath || strings.HasPrefix(r.URL.Path, Prefix+"/") {
		h.shared.ServeHTTP(w, r)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// withoutSlash returns a request for the MCP endpoint, or for its metadata (RFC 9728, 3.1),
// without the slash that some clients append to the path.
func withoutSlash(r *http.Request) *http.Request {
	plain, found := strings.CutSuffix(r.URL.Path, board.MCPPath+"/")
	if !found || plain != "" && !strings.HasPrefix(plain, "/.well-known/") {
		return r
	}
	r = r.WithContext(r.Context())
	address := *r.URL
	address.Path, address.RawPath = plain+board.MCPPath, ""
	r.URL = &address
	return r
}

// requestID returns the client's request id if it is well-formed, and otherwise a
// new id.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	allowed := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
	}
	if id == "" || len(id) > 64 || strings.ContainsFunc(id, func(c rune) bool { return !allowed(c) }) {
		return store.NewID("req_")
	}
	return id
}

func (h *handler) operation(w http.ResponseWriter, r *http.Request, o *op.Operation) {
	caller, err := h.admit(w, r, o)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	if err := h.Engine.CheckLoad(o); err != nil {
		h.refuse(w, r, err)
		return
	}
	call := op.Call{Operation: o, Caller: caller, Arguments: op.Arguments{Path: r.PathValue}}
	if err := h.read(w, r, &call); err != nil {
		h.refuse(w, r, err)
		return
	}
	if n := call.Weight(); n > 1 {
		rate, err := h.Gate.SpendMore(caller, n-1)
		session.SetRate(w.Header(), rate)
		if err != nil {
			h.refuse(w, r, err)
			return
		}
	}
	if o.TakesPart() {
		if err := h.appendPart(w, r, call); err != nil {
			h.refuse(w, r, err)
		}
		return
	}
	if o.HasContent() {
		if err := h.content(w, r, call); err != nil {
			h.refuse(w, r, err)
		}
		return
	}
	if o.Streams() {
		h.stream(w, r, call)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.OpTimeout)
	defer cancel()
	result, err := h.Engine.Do(ctx, call)
	if result.Replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	if err != nil {
		h.refund(w, call.Caller, o.Resource(), err)
		h.refuse(w, r, err)
		return
	}
	h.writeResult(w, r, o, result)
}

func (h *handler) writeResult(w http.ResponseWriter, r *http.Request, o *op.Operation, result op.Response) {
	if result.Tag != "" {
		w.Header().Set("ETag", result.Tag)
	}
	if result.Same {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if result.Rate != nil {
		session.SetRate(w.Header(), *result.Rate)
	}
	if result.Cookie != nil {
		h.Gate.SetCookie(w, result.Cookie.Secret)
		if result.Cookie.Secret != "" {
			h.Gate.SetDevice(w, r, result.Cookie.Device)
		}
	}
	if isUpload(o) && setUploadHeaders(w, r, o, result) {
		return
	}
	status := http.StatusOK
	if o.Creates {
		status = http.StatusCreated
	}
	if result.Started {
		status = jobStarted
	}
	write(w, status, result.Body)
}

func (h *handler) mounted(w http.ResponseWriter, r *http.Request, mount Mount) {
	if r.URL.Path != board.MCPPath {
		exchangeOf(w).streams = true // an upload or a stream of events
	}
	resource := board.ResourceGeneral
	if h.Uploads[r.Pattern] {
		resource = board.ResourceUpload
	}
	caller, err := admit(w, r, resource, h.Gate.Admit)
	if err == nil {
		err = mount(w, r, caller, func() error { return h.Gate.Reauthenticate(r) })
		h.refund(w, caller, resource, err)
	}
	if err != nil {
		h.refuse(w, r, err)
	}
}

// clientOf returns the id of the browser tab that sent a request, or "" if the id
// is missing or malformed.
func clientOf(r *http.Request) string {
	client := r.Header.Get("X-Client")
	if len(client) > 64 || strings.ContainsFunc(client, func(c rune) bool { return c < '!' || c > '~' }) {
		return ""
	}
	return client
}

// admit authenticates a request, counts it and sets the rate-limit headers. The
// operation is nil if no operation matches the request. If there is an error, the
// caller is zero.
func (h *handler) admit(w http.ResponseWriter, r *http.Request, o *op.Operation) (board.Caller, error) {
	resource := board.ResourceGeneral
	if o != nil {
		resource = o.Resource()
	}
	by := h.Gate.Admit
	switch {
	case o != nil && o.Audience == op.Guest:
		by = h.Gate.AdmitGuest
	case o != nil && o.Audience == op.Visitor:
		by = h.Gate.AdmitVisitor
	case o != nil && o.Audience == op.Anonymous:
		by = h.Gate.AdmitAnonymous
	}
	return admit(w, r, resource, by)
}

// admit admits a request with one of the gate's functions, and sets the rate-limit headers. If there is an
// error, the caller is zero.
func admit(w http.ResponseWriter, r *http.Request, resource board.Resource,
	by func(*http.Request, board.Resource) (board.Caller, session.Rate, error)) (board.Caller, error) {
	caller, rate, err := by(r, resource)
	session.SetRate(w.Header(), rate)
	if err == nil && !sentBy(r, caller) {
		err = board.Unauthenticated()
	}
	if err != nil {
		return board.Caller{}, err
	}
	caller.RequestID, caller.UserAgent, caller.Client = w.Header().Get("X-Request-Id"), r.UserAgent(), clientOf(r)
	return caller, nil
}

// sentBy reports whether the page that sent a request belongs to the caller. A page
// sends the id of its user in X-User. If another person has since signed in with
// the same browser, the page must not act for that person.
func sentBy(r *http.Request, caller board.Caller) bool {
	user := r.Header.Get("X-User")
	return user == "" || caller.SessionID == "" || user == caller.UserID
}

// refund undoes the count of a request that another limit rejected. It sets the
// rate-limit headers to the budget of that limit, or to the request's own budget if the
// other limit has none.
func (h *handler) refund(w http.ResponseWriter, caller board.Caller, resource board.Resource, err error) {
	f, ok := board.AsFault(err)
	if !ok || !f.Refused() || caller.UserID == "" {
		return
	}
	rate := h.Gate.Refund(caller, resource)
	if f.Rate != nil {
		rate = *f.Rate
	}
	session.SetRate(w.Header(), rate)
}

// read reads the query, the body, the idempotency key and the entity tags of a request.
func (h *handler) read(w http.ResponseWriter, r *http.Request, call *op.Call) error {
	var err error
	if r.URL.RawQuery != "" {
		if call.Arguments.Query, err = parseQuery(r.URL.RawQuery); err != nil {
			return err
		}
	}
	if call.Operation.ReadOnly {
		call.Match = strings.Join(r.Header.Values("If-None-Match"), ",")
	} else {
		call.IfMatch = strings.Join(r.Header.Values("If-Match"), ",")
		if call.Key, err = op.KeyOf(r.Header.Values(op.KeyHeader)); err != nil {
			return err
		}
	}
	if isUpload(call.Operation) {
		if done, err := readTus(w, r, call); done || err != nil {
			return err
		}
	}
	if r.ContentLength == 0 {
		return nil
	}
	if call.Operation.TakesPicture() {
		return h.readPicture(w, r, call)
	}
	if call.Operation.TakesFile() && isForm(r) {
		return h.readForm(w, r, call)
	}
	limit, size := int64(maxBody), "1 MiB"
	if call.Operation.Audience == op.Guest {
		limit, size = maxGuestBody, "64 KiB"
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return &board.Fault{
			Code: board.CodeInvalidRequest, Cause: board.CauseTooLarge,
			Message: "The body is larger than " + size + ".",
		}
	case err != nil:
		return board.Invalid("The body is incomplete.")
	case len(body) > 0 && !isJSON(r):
		return &board.Fault{
			Code: board.CodeInvalidRequest, Cause: board.CauseMediaType,
			Message: "Content-Type must be application/json, without Content-Encoding.",
		}
	}
	call.Arguments.Body = body
	return nil
}

func isJSON(r *http.Request) bool {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return false
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json" &&
		(params["charset"] == "" || strings.EqualFold(params["charset"], "utf-8"))
}

// parseQuery parses the query string of a request.
func parseQuery(raw string) (url.Values, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return nil, board.Invalid("The query string is malformed. Percent-encode its values.")
	}
	return values, nil
}
