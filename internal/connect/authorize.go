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

// request is what a program asks of a person, when all of it is in order.
type request struct {
	client    board.Client
	host      string // that the program belongs to or returns to, as the person is shown
	kind      string // of place that it returns to
	returnsTo string // that place
	redirect  string
	state     string
	challenge string
	resource  string
	scopes    []board.Scope // asked for; nil when the program leaves it to the person
}

// authorize is where a program sends a person's browser (RFC 6749, 3.1). It
// changes nothing: who may decide is asked by the page, which stands at this
// same address.
func (d *door) authorize(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		answer(w, http.StatusMethodNotAllowed, errorAnswer{invalidRequest, "This address takes GET."})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	address, err := d.gate.AdmitProgram(r)
	if err == nil {
		_, err = d.understand(ctx, d.db, r.URL.RawQuery, session.Network(address))
	}
	if err == nil {
		d.page(w, r, http.StatusOK)
		return
	}
	refused := asRefusal(err)
	if refused.to != "" {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Location", refused.to) // not http.Redirect, which would clean the path
		w.WriteHeader(http.StatusFound)
		return
	}
	if refused.status == http.StatusBadRequest && d.application != nil && strings.Contains(r.Header.Get("Accept"), "text/html") {
		d.page(w, r, refused.status)
		return
	}
	d.tell(w, r, err)
}

// page shows the application's page of this address, with a status of its own.
func (d *door) page(w http.ResponseWriter, r *http.Request, status int) {
	if d.application == nil {
		answer(w, http.StatusNotImplemented, errorAnswer{temporarilyUnavailable, "This program was built without its pages, so nobody can be asked here."})
		return
	}
	r = r.Clone(r.Context())
	if status != http.StatusOK {
		r.Header.Del("If-None-Match")
	}
	d.application.ServeHTTP(&pageWriter{w, status}, r)
}

// pageWriter gives a page another status. A program that opened the page in a
// window of its own keeps its hold on that window until it comes back, so the
// page does not cut it off as the others do (HTML standard, 7.1.3); it cannot be
// framed either way.
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

// understand reads an authorization request (OAuth 2.1, 4.1.1). If the client,
// the redirect address or the response type is wrong, only the person is told:
// anybody can register a client, so a redirect would make this address an open
// redirector (RFC 9700, 4.11.2). Other refusals name where the browser goes.
func (s *Server) understand(ctx context.Context, db *store.DB, query, network string) (request, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return request{}, refuse(invalidRequest, "The query of the address is not well-formed.")
	}
	for _, name := range []string{"client_id", "redirect_uri", "response_type"} {
		if len(q[name]) > 1 {
			return request{}, refuse(invalidRequest, name+" is given more than once.")
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
	case !slices.ContainsFunc(c.RedirectURIs, func(registered string) bool { return sameRedirect(registered, req.redirect) }):
		return req, refuse(invalidRequest, "redirect_uri is not one of those that the client registered, letter by letter.")
	}
	if problem := checkRedirect(req.redirect); problem != "" { // registered when more was allowed
		return req, refuse(invalidRequest, "redirect_uri "+problem+". Register the client again.")
	}
	switch q.Get("response_type") {
	case "code":
	case "":
		return req, refuse(invalidRequest, "response_type is missing; it must be code.")
	default:
		return req, refuse(unsupportedResponse, "response_type must be code.")
	}
	req.returnsTo, req.kind = placeOf(req.redirect)
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

// details reads what a program may be told about at its own address.
func (s *Server) details(req *request, q url.Values) (err error) {
	for name, values := range q { // RFC 6749, 3.1; of resources there may be several (RFC 8707, 2)
		if len(values) > 1 && name != "resource" {
			if name == "state" {
				req.state = ""
			}
			return refuse(invalidRequest, "A parameter is given more than once.")
		}
	}
	switch method := q.Get("code_challenge_method"); {
	case q.Get("response_mode") != "" && q.Get("response_mode") != "query":
		return refuse(invalidRequest, "response_mode must be query.")
	case req.challenge == "":
		return refuse(invalidRequest, "code_challenge is missing: PKCE with S256 is required.")
	case method != "S256": // absent is plain (RFC 7636, 4.3)
		return refuse(invalidRequest, "code_challenge_method must be S256.")
	case !isChallenge(req.challenge):
		return refuse(invalidRequest, "code_challenge is not the SHA-256 of a verifier in base64url without padding.")
	}
	if req.scopes, err = askedScopes(q.Get("scope")); err != nil {
		return err
	}
	req.resource, err = s.resourceOf(q["resource"])
	return err
}

// backTo is the redirect address with an answer in its query: names and values by
// turns, then the state and who answers (RFC 9207, 2).
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
		b.WriteString(separator + url.QueryEscape(pairs[i]) + "=" + strings.ReplaceAll(url.QueryEscape(pairs[i+1]), "+", "%20"))
		separator = "&"
	}
	return b.String()
}

// askedScopes reads the parameter scope; nil for none. A refresh token needs no
// scope here, so one that asks for it is not refused.
func askedScopes(text string) ([]board.Scope, error) {
	words := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return w == "offline_access" })
	if len(words) == 0 {
		return nil, nil
	}
	asked, err := board.ParseScopes(words)
	if err != nil {
		return nil, refuse(invalidScope, "scope must be some of read, write, admin.")
	}
	return asked, nil
}

// resourceOf checks the parameter resource (RFC 8707, 2): every address must be
// one of this server's. It is the first of them, in one spelling.
func (s *Server) resourceOf(asked []string) (first string, err error) {
	for i, address := range asked {
		found := ""
		if u, err := url.Parse(address); err == nil && u.Fragment == "" && u.RawQuery == "" && u.User == nil && !strings.Contains(address, "#") {
			plain := strings.TrimSuffix(strings.ToLower(u.Scheme)+"://"+strings.ToLower(u.Host)+u.EscapedPath(), "/")
			for _, path := range resourcePaths {
				if plain == s.base+path {
					found = plain
				}
			}
		}
		if found == "" {
			return "", refuse(invalidTarget, "resource is not an address of this server.")
		}
		if i == 0 {
			first = found
		}
	}
	return first, nil
}
