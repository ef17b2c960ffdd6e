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
	host      string // host of the client's metadata document, or else returnsTo; shown to the person
	kind      string // toWeb or toDevice
	returnsTo string // host or scheme of the redirect URI
	redirect  string // redirect URI
	state     string
	challenge string
	resource  string
	scopes    []board.Scope // requested scopes; nil if the client leaves the choice to the person
}

// authorize is the authorization endpoint (RFC 6749, 3.1). It validates the
// request and serves the consent page.
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
	failure := asOAuthError(err)
	if failure.to != "" {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Location", failure.to) // http.Redirect would clean the path
		w.WriteHeader(http.StatusFound)
		return
	}
	if failure.status == http.StatusBadRequest && d.application != nil && strings.Contains(r.Header.Get("Accept"), "text/html") {
		d.page(w, r, failure.status)
		return
	}
	d.writeError(w, r, err)
}

// page serves the consent page of the web app with the given status.
func (d *endpoints) page(w http.ResponseWriter, r *http.Request, status int) {
	if d.application == nil {
		writeJSON(w, http.StatusNotImplemented, errorBody{
			temporarilyUnavailable, "This server was built without the web app, so it has no consent page.",
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
// unsafe-none (HTML standard, 7.1.3), because an app that opens the page in a popup
// needs a reference to the window. Other headers forbid framing the page.
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
// the redirect URI or the response type is invalid, the error must be shown to the
// person. Anyone can register a client, so a redirect would make this endpoint an
// open redirector (RFC 9700, 4.11.2). Other errors redirect to the client.
func (s *Server) parseRequest(ctx context.Context, db *store.DB, query, network string) (request, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return request{}, newError(invalidRequest, "The query string is malformed.")
	}
	for _, name := range []string{"client_id", "redirect_uri", "response_type"} {
		if len(q[name]) > 1 {
			return request{}, newError(invalidRequest, name+" is repeated.")
		}
	}
	c, err := s.client(ctx, db, q.Get("client_id"), network)
	if err != nil {
		return request{}, err
	}
	req := request{client: c, redirect: q.Get("redirect_uri"), state: q.Get("state"), challenge: q.Get("code_challenge")}
	switch {
	case !c.May(board.GrantCode):
		return req, newError(unauthorizedClient, "The client registered without the authorization_code grant type.")
	case req.redirect == "":
		return req, newError(invalidRequest, "redirect_uri is missing.")
	case !slices.ContainsFunc(c.RedirectURIs, func(registered string) bool {
		return sameRedirect(registered, req.redirect)
	}):
		return req, newError(invalidRequest, "redirect_uri does not exactly match a redirect URI that the client registered.")
	}
	if problem := checkRedirect(req.redirect); problem != "" { // registered under older rules
		return req, newError(invalidRequest, "redirect_uri "+problem+". Register the client again.")
	}
	switch q.Get("response_type") {
	case "code":
	case "":
		return req, newError(invalidRequest, "response_type is missing. It must be code.")
	default:
		return req, newError(unsupportedResponse, "response_type must be code.")
	}
	req.returnsTo, req.kind = destinationOf(req.redirect)
	req.host = req.returnsTo
	if u, err := url.Parse(c.ID); isDocument(c.ID) && err == nil {
		req.host = u.Host
	}
	err = s.details(&req, q)
	var failure *oauthError
	if errors.As(err, &failure) {
		failure.to = s.backTo(req, "error", failure.code, "error_description", failure.text)
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
			return newError(invalidRequest, "A parameter is repeated.")
		}
	}
	switch method := q.Get("code_challenge_method"); {
	case q.Get("response_mode") != "" && q.Get("response_mode") != "query":
		return newError(invalidRequest, "response_mode must be query.")
	case req.challenge == "":
		return newError(invalidRequest, "code_challenge is missing. PKCE with S256 is required.")
	case method != "S256": // the default is plain (RFC 7636, 4.3)
		return newError(invalidRequest, "code_challenge_method must be S256.")
	case !isChallenge(req.challenge):
		return newError(invalidRequest, "code_challenge must be a SHA-256 hash in base64url without padding.")
	}
	if req.scopes, err = parseScope(q.Get("scope")); err != nil {
		return err
	}
	req.resource, err = s.resourceOf(q["resource"])
	return err
}

// backTo returns the redirect URI with a response in its query. Pairs contains
// alternating names and values, to which backTo adds state and iss (RFC 9207, 2).
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

// parseScope parses the scope parameter. It returns nil if the parameter is empty. It
// ignores offline_access, because this server issues refresh tokens without a scope.
func parseScope(text string) ([]board.Scope, error) {
	words := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return w == "offline_access" })
	if len(words) == 0 {
		return nil, nil
	}
	requested, err := board.ParseScopes(words)
	if err != nil {
		return nil, newError(invalidScope, "scope must contain only read, write and admin.")
	}
	return requested, nil
}

// resourceOf checks the values of the resource parameter (RFC 8707, 2). Each must be a
// resource of this server. It returns the first value, normalized. A query, as in
// /mcp?tools=core, selects no other resource: clients send the address that they connect to.
func (s *Server) resourceOf(values []string) (first string, err error) {
	for i, address := range values {
		found := ""
		u, err := url.Parse(address)
		if err == nil && u.User == nil && !strings.Contains(address, "#") {
			plain := strings.TrimSuffix(strings.ToLower(u.Scheme)+"://"+strings.ToLower(u.Host)+u.EscapedPath(), "/")
			for _, path := range resourcePaths {
				if plain == s.base+path {
					found = plain
				}
			}
		}
		if found == "" {
			return "", newError(invalidTarget, "resource is not a resource of this server.")
		}
		if i == 0 {
			first = found
		}
	}
	return first, nil
}
