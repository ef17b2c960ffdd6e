package connect

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/session"
	"cardwall/internal/store"
)

// request is a valid authorization request.
type request struct {
	client    board.Client
	host      string // host of the client or of its redirect URI, as shown to the person
	kind      string // toWeb or toDevice
	returnsTo string // host or scheme of the redirect URI
	redirect  string
	state     string
	challenge string
	resource  string
	scopes    []board.Scope // requested scopes; nil if the client leaves the choice to the person
}

// authorize is the authorization endpoint (RFC 6749, 3.1). It only validates the
// request and serves the page at the same path, which asks the person.
func (d *endpoints) authorize(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		writeJSON(w, http.StatusMethodNotAllowed, errorBody{invalidRequest, "This endpoint supports only GET."})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	address, err := d.gate.AdmitProgram(r)
	if err == nil {
		_, err = d.parseRequest(ctx, d.db, r.URL.RawQuery, session.Network(address))
	}
	if err == nil {
		d.page(w, r, http.StatusOK)
		return
	}
	refused := asRefusal(err)
	if refused.to != "" {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Location", refused.to) // http.Redirect would clean the path
		w.WriteHeader(http.StatusFound)
		return
	}
	if refused.status == http.StatusBadRequest && d.application != nil && strings.Contains(r.Header.Get("Accept"), "text/html") {
		d.page(w, r, refused.status)
		return
	}
	d.writeError(w, r, err)
}

// page serves the web app's page for this path, with the given status.
func (d *endpoints) page(w http.ResponseWriter, r *http.Request, status int) {
	if d.application == nil {
		writeJSON(w, http.StatusNotImplemented, errorBody{
			temporarilyUnavailable, "This server was built without the web app, so it cannot ask the person.",
		})
		return
	}
	r = r.Clone(r.Context())
	if status != http.StatusOK {
		r.Header.Del("If-None-Match")
	}
	d.application.ServeHTTP(&pageWriter{w, status}, r)
}

// pageWriter changes the status of a page. It also sets the opener policy to
// unsafe-none (HTML standard, 7.1.3): an app that opened the page in a popup must
// keep its reference to the window. The page cannot be framed in any case.
type pageWriter struct {
	http.ResponseWriter
	status int
}

func (w *pageWriter) WriteHeader(status int) {
	w.Header().Set("Cross-Origin-Opener-Policy", "unsafe-none")
	if status == http.StatusOK {
		status = w.status
	}
	w.ResponseWriter.WriteHeader(status)
}

// parseRequest parses an authorization request (OAuth 2.1, 4.1.1). If the client,
// the redirect URI or the response type is invalid, the error is shown to the
// person: anyone can register a client, so redirecting would make this endpoint
// an open redirector (RFC 9700, 4.11.2). Other errors redirect to the client.
func (s *Server) parseRequest(ctx context.Context, db *store.DB, query, network string) (request, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return request{}, refuse(invalidRequest, "The query string is malformed.")
	}
	for _, name := range []string{"client_id", "redirect_uri", "response_type"} {
		if len(q[name]) > 1 {
			return request{}, refuse(invalidRequest, name+" is repeated.")
		}
	}
	c, err := s.client(ctx, db, q.Get("client_id"), network)
	if err != nil {
		return request{}, err
	}
	req := request{client: c, redirect: q.Get("redirect_uri"), state: q.Get("state"), challenge: q.Get("code_challenge")}
	switch {
	case !c.May(board.GrantCode):
		return req, refuse(unauthorizedClient, "The client registered without the grant type authorization_code.")
	case req.redirect == "":
		return req, refuse(invalidRequest, "redirect_uri is missing.")
	case !slices.ContainsFunc(c.RedirectURIs, func(registered string) bool {
		return sameRedirect(registered, req.redirect)
	}):
		return req, refuse(invalidRequest, "redirect_uri does not exactly match a redirect URI that the client registered.")
	}
	if problem := checkRedirect(req.redirect); problem != "" { // registered under older rules
		return req, refuse(invalidRequest, "redirect_uri "+problem+". Register the client again.")
	}
	switch q.Get("response_type") {
	case "code":
	case "":
		return req, refuse(invalidRequest, "response_type is missing. It must be code.")
	default:
		return req, refuse(unsupportedResponse, "response_type must be code.")
	}
	req.returnsTo, req.kind = destinationOf(req.redirect)
	req.host = req.returnsTo
	if u, err := url.Parse(c.ID); isDocument(c.ID) && err == nil {
		req.host = u.Host
	}
	err = s.details(&req, q)
	var refused *refusal
	if errors.As(err, &refused) {
		refused.to = s.backTo(req, "error", refused.code, "error_description", refused.text)
	}
	return req, err
}

// details parses the parameters whose errors redirect to the client.
func (s *Server) details(req *request, q url.Values) (err error) {
	for name, values := range q { // RFC 6749, 3.1; resource may be repeated (RFC 8707, 2)
		if len(values) > 1 && name != "resource" {
			if name == "state" {
				req.state = ""
			}
			return refuse(invalidRequest, "A parameter is repeated.")
		}
	}
	switch method := q.Get("code_challenge_method"); {
	case q.Get("response_mode") != "" && q.Get("response_mode") != "query":
		return refuse(invalidRequest, "response_mode must be query.")
	case req.challenge == "":
		return refuse(invalidRequest, "code_challenge is missing. PKCE with S256 is required.")
	case method != "S256": // if absent it is plain (RFC 7636, 4.3)
		return refuse(invalidRequest, "code_challenge_method must be S256.")
	case !isChallenge(req.challenge):
		return refuse(invalidRequest, "code_challenge must be a SHA-256 in base64url without padding.")
	}
	if req.scopes, err = parseScope(q.Get("scope")); err != nil {
		return err
	}
	req.resource, err = s.resourceOf(q["resource"])
	return err
}

// backTo returns the redirect URI with a response in its query: alternating names
// and values, then state and iss (RFC 9207, 2).
func (s *Server) backTo(req request, pairs ...string) string {
	var b strings.Builder
	b.WriteString(req.redirect)
	separator := "?"
	if before, query, found := strings.Cut(req.redirect, "?"); found {
		separator = "&"
		if query == "" && before != "" {
			separator = ""
		}
	}
	if req.state != "" {
		pairs = append(pairs, "state", req.state)
	}
	pairs = append(pairs, "iss", s.base)
	for i := 0; i < len(pairs); i += 2 {
		value := strings.ReplaceAll(url.QueryEscape(pairs[i+1]), "+", "%20")
		b.WriteString(separator + url.QueryEscape(pairs[i]) + "=" + value)
		separator = "&"
	}
	return b.String()
}

// parseScope parses the parameter scope and returns nil if it is empty. It ignores
// offline_access, because refresh tokens need no scope here.
func parseScope(text string) ([]board.Scope, error) {
	words := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return w == "offline_access" })
	if len(words) == 0 {
		return nil, nil
	}
	asked, err := board.ParseScopes(words)
	if err != nil {
		return nil, refuse(invalidScope, "scope must contain only read, write and admin.")
	}
	return asked, nil
}

// resourceOf checks the parameter resource (RFC 8707, 2): each value must be a
// resource of this server. It returns the first one, normalized.
func (s *Server) resourceOf(asked []string) (first string, err error) {
	for i, address := range asked {
		found := ""
		u, err := url.Parse(address)
		if err == nil && u.RawQuery == "" && u.User == nil && !strings.Contains(address, "#") {
			plain := strings.TrimSuffix(strings.ToLower(u.Scheme)+"://"+strings.ToLower(u.Host)+u.EscapedPath(), "/")
			for _, path := range resourcePaths {
				if plain == s.base+path {
					found = plain
				}
			}
		}
		if found == "" {
			return "", refuse(invalidTarget, "resource is not a resource of this server.")
		}
		if i == 0 {
			first = found
		}
	}
	return first, nil
}
