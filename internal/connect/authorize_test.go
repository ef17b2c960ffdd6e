package connect_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

func newService(t *testing.T) *apptest.Service {
	t.Helper()
	return apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
}

// A browser is redirected only to a URI that the client registered. If the URI differs in anything
// but the port of a loopback URI, the error is shown to the person and the browser is not redirected.
func TestRedirectURIsMustMatchExactly(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ada := s.Person("Ada")
	p := newClient(s, callback, "http://127.0.0.1/callback", "http://localhost:3000/callback?a=1", "http://[::1]:80/",
		"com.example.app:/cb")
	for _, good := range []string{
		callback, "http://127.0.0.1/callback", "http://127.0.0.1:49152/callback", "http://localhost/callback?a=1",
		"http://localhost:1/callback?a=1", "http://[::1]:9/",
		"com.example.app:/cb",
	} {
		if a := ada.Call("get_authorization_request",
			fields{"query": p.request("redirect_uri", good).Encode()}); a.Status != http.StatusOK {
			t.Errorf("redirect URI %s: got status %d, body %s; want 200", good, a.Status, a.Raw)
		}
	}
	for _, bad := range []string{
		callback + "/", callback + "?", callback + "?x=1", callback + "#", callback + "#x",
		"https://assistant.example.com/Callback", "https://ASSISTANT.example.com/callback",
		"https://assistant.example.com:443/callback", "http://assistant.example.com/callback",
		"https://user@assistant.example.com/callback", "https://assistant.example.com/./callback",
		"https://assistant.example.com//callback", "https://assistant.example.com/callback%20", " " + callback,
		callback + " ", "https://assistant.example.com/%63allback",
		"https://assistant.example.com.evil.example/callback", "https://evil.example/?" + callback,
		"//assistant.example.com/callback", "/callback", "javascript:alert(1)", "data:text/html,x",
		"http://127.0.0.1:49152/callback/", "http://127.0.0.1:49152/other", "http://127.0.0.2/callback",
		"http://localhost/callback", "http://[::1]/callback", "https://127.0.0.1/callback",
		"http://127.0.0.1:49152/callback?x", "http://127.0.0.1:49152@evil.example/callback", "http://127.0.0.1:x/callback",
		"http://127.0.0.1:49152/callback#x", "http://x@127.0.0.1/callback",
		"http://127.0.0.1.evil.example/callback", "http://localhost:3000/callback?a=2", "http://localhost:3000/callback",
		"http://LOCALHOST:3000/callback?a=1",
		"com.example.app:/cb/", "com.example.app://cb", "com.example.other:/cb",
	} {
		query := p.request("redirect_uri", bad).Encode()
		r := get(s, "/oauth/authorize?"+query)
		wantError(t, bad, r, "invalid_request")
		if to := r.header.Get("Location"); to != "" {
			t.Errorf("redirect URI %s: got a redirect to %s, want none", bad, to)
		}
		ada.Refused(board.CodeInvalidRequest, "get_authorization_request", fields{"query": query})
		ada.Refused(board.CodeInvalidRequest, "allow_authorization", fields{"query": query, "scopes": []string{"read"}})
	}
	for what, query := range map[string]string{
		"no client":         p.request("client_id", "").Encode(),
		"no redirect URI":   p.request("redirect_uri", "").Encode(),
		"two redirect URIs": p.request().Encode() + "&redirect_uri=" + url.QueryEscape("https://evil.example/"),
		"two clients":       p.request().Encode() + "&client_id=" + newClient(s).id,
		"an invalid query":  "client_id=%zz",
	} {
		wantError(t, what, get(s, "/oauth/authorize?"+query), "invalid_request")
		ada.Refused(board.CodeInvalidRequest, "allow_authorization", fields{"query": query, "scopes": []string{"read"}})
	}
	wantError(t, "an unknown client",
		get(s, "/oauth/authorize?"+p.request("client_id", "cli_00000000000000000000000000").Encode()), "invalid_client")
	other := newClient(s, "https://other.example.com/callback")
	wantError(t, "another client's redirect URI", get(s, "/oauth/authorize?"+other.request("redirect_uri", callback).Encode()),
		"invalid_request")
}

// Anyone can register a redirect URI, so the browser is redirected only if the client, the redirect
// URI and the response type are valid. Otherwise this server shows the error.
func TestEarlyErrorsAreNotRedirected(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ada := s.Person("Ada")
	p := newClient(s, "https://evil.example/", "http://localhost/cb", "com.example.app:/cb")
	for what, query := range map[string]string{
		"nonsense":           p.request("response_type", "nonsense").Encode(),
		"no response type":   p.request("response_type", "").Encode(),
		"the implicit grant": p.request("response_type", "token").Encode(),
		"the hybrid flow":    p.request("response_type", "code id_token").Encode(),
		"two response types": p.request().Encode() + "&response_type=code",
		"a loopback address": p.request("response_type", "nonsense", "redirect_uri", "http://localhost:1234/cb").Encode(),
		"a private scheme":   p.request("response_type", "nonsense", "redirect_uri", "com.example.app:/cb").Encode(),
		"several errors": p.request("response_type", "nonsense", "scope", "everything", "code_challenge",
			"").Encode(),
		"this server's address": p.request("response_type", "nonsense", "redirect_uri", apptest.BaseURL).Encode(),
	} {
		for _, accept := range []string{"*/*", "text/html"} {
			r := get(s, "/oauth/authorize?"+query, "Accept", accept)
			if r.status != http.StatusBadRequest || r.header.Get("Location") != "" ||
				strings.Contains(r.header.Get("Content-Type"), "text/html") != (accept == "text/html") {
				t.Errorf("%s: got status %d, headers %v, body %s; want 400 without a redirect", what, r.status, r.header,
					r.raw[:min(200, len(r.raw))])
			}
		}
		a := ada.Refused(board.CodeInvalidRequest, "get_authorization_request", fields{"query": query})
		if strings.Contains(a.Message, "://") {
			t.Errorf("%s: got the message %q, want no address in it", what, a.Message)
		}
		ada.Refused(board.CodeInvalidRequest, "allow_authorization", fields{"query": query, "scopes": []string{"read"}})
	}
	// With a valid request for a code, the consent page shows the host.
	if a := ada.Must("get_authorization_request",
		fields{"query": p.request().Encode()}); a.Text("returnsTo") != "evil.example" || a.Get("verified") != false {
		t.Errorf("got request details %s, want the host evil.example", a.Raw)
	}
}

// A client that registered when more schemes were allowed can no longer use them.
func TestRedirectURIsOfOldRegistrationsAreCheckedAgain(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		var uris []string
		for _, scheme := range forbiddenSchemes {
			uris = append(uris, scheme+"?source=https://evil.example")
		}
		p := oauthClient{s, store.NewID("cli_"), callback}
		if err := s.DB.Write(t.Context(), board.Nobody(), func(tx *store.Tx) error {
			return tx.InsertClient(t.Context(), board.Client{ID: p.id, Name: "Old", RedirectURIs: append(uris, callback),
				GrantTypes: []string{board.GrantCode}})
		}); err != nil {
			t.Fatal(err)
		}
		for _, uri := range uris {
			for _, query := range []string{p.request("redirect_uri", uri).Encode(),
				p.request("redirect_uri", uri, "response_type", "nonsense").Encode(),
				p.request("redirect_uri", uri, "scope", "nonsense").Encode()} {
				r := get(s, "/oauth/authorize?"+query)
				wantError(t, uri, r, "invalid_request")
				if to := r.header.Get("Location"); to != "" {
					t.Errorf("redirect URI %s: got a redirect to %s, want none", uri, to)
				}
				ada.Refused(board.CodeInvalidRequest, "get_authorization_request", fields{"query": query})
				ada.Refused(board.CodeInvalidRequest, "allow_authorization", fields{"query": query, "scopes": []string{"read"}})
			}
		}
		p.code(ada) // its valid redirect URI still works
	})
}

// All other errors in a request are sent to the client's redirect URI.
func TestRequestErrorsAreRedirected(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ada := s.Person("Ada")
	p := newClient(s)
	for what, c := range map[string]struct {
		query url.Values
		code  string
	}{
		"no challenge":                  {p.request("code_challenge", ""), "invalid_request"},
		"the method plain":              {p.request("code_challenge_method", "plain"), "invalid_request"},
		"no method":                     {p.request("code_challenge_method", ""), "invalid_request"},
		"another method":                {p.request("code_challenge_method", "s256"), "invalid_request"},
		"a challenge that is too short": {p.request("code_challenge", "abc"), "invalid_request"},
		"a challenge with padding":      {p.request("code_challenge", challenge(verifier)+"="), "invalid_request"},
		"a response in the fragment":    {p.request("response_mode", "fragment"), "invalid_request"},
		"an unknown scope":              {p.request("scope", "read everything"), "invalid_scope"},
		"another server's resource":     {p.request("resource", "https://evil.example/mcp"), "invalid_target"},
		"a resource with a fragment":    {p.request("resource", apptest.BaseURL+"/mcp#x"), "invalid_target"},
		"an unknown path":               {p.request("resource", apptest.BaseURL+"/other"), "invalid_target"},
		"two challenges": {url.Values{"code_challenge": {challenge(verifier), challenge(verifier + "x")}},
			"invalid_request"},
		"one valid and one invalid resource": {url.Values{"resource": {apptest.BaseURL, "https://evil.example"}},
			"invalid_target"},
	} {
		query := p.request()
		for name := range query {
			if len(c.query) > 1 && !c.query.Has(name) { // c.query is a complete request, not only the changed parameters
				delete(query, name)
			}
		}
		maps.Copy(query, c.query)
		r := get(s, "/oauth/authorize?"+query.Encode(), "Accept", "text/html")
		to, err := url.Parse(r.header.Get("Location"))
		if err != nil || r.status != http.StatusFound || !strings.HasPrefix(r.header.Get("Location"), callback+"?") {
			t.Errorf("%s: got status %d, headers %v, body %s; want a redirect", what, r.status, r.header, r.raw)
			continue
		}
		if q := to.Query(); q.Get("error") != c.code || q.Get("state") != "xyz&=" || q.Get("iss") != apptest.BaseURL ||
			q.Get("code") != "" || q.Get("error_description") == "" {
			t.Errorf("%s: got a redirect to %s, want the error %s", what, to, c.code)
		}
		ada.Refused(board.CodeInvalidRequest, "allow_authorization",
			fields{"query": query.Encode(), "scopes": []string{"read"}})
	}
	for _, good := range []url.Values{
		p.request("resource", apptest.BaseURL), p.request("resource", apptest.BaseURL+"/"),
		p.request("resource", apptest.BaseURL+"/mcp/"), p.request("resource", apptest.BaseURL+"/mcp?tools=core"),
		p.request("resource", "HTTPS://CARDWALL.example.com/mcp"),
		p.request("resource", ""), p.request("state", ""), p.request("scope", ""), p.request("scope", "read offline_access"),
		p.request("nonce", "ignored"),
	} {
		if r := get(s, "/oauth/authorize?"+good.Encode(), "Accept", "text/html"); r.status != http.StatusOK {
			t.Errorf("%s: got status %d, Location %q; want 200", good.Encode(), r.status, r.header.Get("Location"))
		}
	}
}

// A person can grant fewer scopes than were requested, never more.
func TestPersonCanGrantLess(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		ada, bob := s.Person("Ada"), s.Person("Bob")
		bobs := bob.Workspace("Bob's", board.PlanTeam)
		p := newClient(s)
		query := p.request().Encode()
		a := ada.Refused(board.CodeInvalidRequest, "allow_authorization",
			fields{"query": query, "scopes": []string{"read", "admin"}})
		if !strings.Contains(a.Message, "did not request admin") {
			t.Errorf("granting more than was requested: got %s, want an error that names admin", a.Raw)
		}
		ada.Refused(board.CodeNotFound, "allow_authorization",
			fields{"query": query, "scopes": []string{"read"}, "workspaceId": bobs})
		sent := p.allow(ada, p.request("scope", ""), fields{"scopes": []string{"admin"}})
		got := p.must("/oauth/token", p.redemption(sent.Get("code")))
		if got.text("scope") != "read admin" {
			t.Errorf("got tokens %s, want the scope %q", got.raw, "read admin")
		}
		wantError(t, "more than was granted",
			post(s, "/oauth/token", p.refresh(got.text("refresh_token"), "scope", "read write")), "invalid_scope")
		p.must("/oauth/token", p.refresh(got.text("refresh_token"), "scope", "read")) // the error did not use up the token

		// A token or an old sign-in is not enough to grant anything.
		if a := ada.With(board.ScopeRead, board.ScopeWrite, board.ScopeAdmin).Call("allow_authorization",
			fields{"query": query, "scopes": []string{"read"}}); a.Code != board.CodeForbidden {
			t.Errorf("with a token: got status %d, body %s; want forbidden", a.Status, a.Raw)
		}
		if a := s.Browser().Call("get_authorization_request", fields{"query": query}); a.Code != board.CodeUnauthenticated {
			t.Errorf("signed out: got status %d, body %s; want unauthenticated", a.Status, a.Raw)
		}
	})
}

// The consent page cannot be framed, and other sites cannot send the requests that it sends.
func TestConsentCannotBeFramed(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ada := s.Person("Ada")
	p := newClient(s)
	for what, query := range map[string]string{
		"a valid request": p.request().Encode(), "an invalid request": "client_id=nonsense",
	} {
		r := get(s, "/oauth/authorize?"+query, "Accept", "text/html")
		policy := r.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: got the policy %q, want frame-ancestors 'none' and default-src 'none'", what, policy)
		}
		if r.header.Get("Referrer-Policy") != "no-referrer" || r.header.Get("Access-Control-Allow-Origin") != "" ||
			len(r.header.Values("Set-Cookie")) > 0 {
			t.Errorf("%s: got headers %v, want no referrer, no CORS and no cookie", what, r.header)
		}
		if want := map[bool]int{true: 200, false: 400}[what == "a valid request"]; r.status != want {
			t.Errorf("%s: got status %d, want %d", what, r.status, want)
		}
	}
	for _, name := range []string{"allow_authorization", "allow_device", "deny_device"} {
		in := fields{"query": p.request().Encode(), "scopes": []string{"read"}}
		if name != "allow_authorization" {
			in = fields{"userCode": "BCDF-GHJK"}
		}
		if name == "allow_device" {
			in["scopes"] = []string{"read"}
		}
		a := ada.CallWith(name, in, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}})
		if a.Code != board.CodeForbidden || !strings.Contains(a.Message, "another site") {
			t.Errorf("%s from another site: got status %d, body %s; want forbidden", name, a.Status, a.Raw)
		}
	}
	if r := send(s, httptest.NewRequest(http.MethodPost, "/oauth/authorize?"+p.request().Encode(),
		http.NoBody)); r.status != http.StatusMethodNotAllowed {
		t.Errorf("POST: got status %d, want 405", r.status)
	}
}

// Pages of any site may read the responses of the OAuth endpoints, which neither set nor need a
// cookie.
func TestBrowserClients(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, path := range []string{
		"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource/mcp/",
		"/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/mcp",
		"/oauth/token", "/oauth/register", "/oauth/revoke", "/oauth/device_authorization", "/auth.md",
	} {
		r := httptest.NewRequest(http.MethodOptions, path, http.NoBody)
		r.Header.Set("Origin", "https://inspector.example.com")
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("Access-Control-Request-Headers", "content-type,mcp-protocol-version")
		a := send(s, r)
		if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "MCP-Protocol-Version") ||
			a.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("OPTIONS %s: got status %d, headers %v; want 204 with CORS headers", path, a.status, a.header)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/oauth/token", strings.NewReader("grant_type=x"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://inspector.example.com")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	if a := send(s, r); a.header.Get("Access-Control-Allow-Origin") != "*" || a.text("error") != "unsupported_grant_type" {
		t.Errorf("a request from another site: got status %d, body %s, headers %v; want unsupported_grant_type with CORS headers",
			a.status, a.raw, a.header)
	}
	if a := get(s, "/oauth/token?grant_type=x"); a.status != http.StatusMethodNotAllowed ||
		a.header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("GET /oauth/token: got status %d, headers %v; want 405", a.status, a.header)
	}
	if a := get(s, "/.well-known/openid-configuration"); a.status != http.StatusNotFound {
		t.Errorf("the OpenID discovery document: got status %d, want 404", a.status)
	}
	guide := get(s, "/auth.md")
	for _, part := range []string{apptest.BaseURL + "/oauth/device_authorization", "user_code",
		"code_challenge_method=S256", "refresh_token"} {
		if !strings.Contains(guide.raw, part) {
			t.Errorf("/auth.md lacks %s", part)
		}
	}
	if strings.Contains(guide.raw, "{base}") || !strings.HasPrefix(guide.header.Get("Content-Type"), "text/markdown") {
		t.Errorf("got /auth.md %s, want Markdown without placeholders", guide.raw)
	}
}

func TestInvalidFormsAreRefused(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for what, c := range map[string]struct {
		kind, body, code string
		status           int
		authorization    string
	}{
		"JSON": {"application/json", `{"grant_type":"refresh_token"}`, "invalid_request", 415, ""},
		"too large": {"application/x-www-form-urlencoded", "x=" + strings.Repeat("y", 40<<10),
			"invalid_request", 400, ""},
		"broken": {"application/x-www-form-urlencoded", "x=%zz", "invalid_request", 400, ""},
		"with a secret": {"application/x-www-form-urlencoded", "grant_type=refresh_token", "invalid_client", 401,
			"Basic eDp5"},
	} {
		for _, path := range []string{"/oauth/token", "/oauth/revoke", "/oauth/device_authorization"} {
			r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(c.body))
			r.Header.Set("Content-Type", c.kind)
			if c.authorization != "" {
				r.Header.Set("Authorization", c.authorization)
			}
			if a := send(s, r); a.status != c.status || a.text("error") != c.code ||
				(c.status == 401) != (a.header.Get("WWW-Authenticate") != "") {
				t.Errorf("%s at %s: got status %d, body %s, WWW-Authenticate %v; want %d %s", what, path, a.status, a.raw,
					fmt.Sprint(a.header["Www-Authenticate"]), c.status, c.code)
			}
		}
	}
}
