package account_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"cardwall/internal/account"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// issuer is an identity provider on a loopback address. It issues the claims that a test sets.
type issuer struct {
	*httptest.Server
	t      *testing.T
	key    *rsa.PrivateKey
	mu     sync.Mutex
	codes  map[string]url.Values // parameters of the browser's request, by code
	claims map[string]any        // claims of the next person to sign in, in addition to the usual ones
	query  string                // query string of the sign-in request
}

const (
	clientID     = "cardwall"
	clientSecret = "a secret of the two servers"
)

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{t: t, key: key, codes: map[string]url.Values{}, claims: map[string]any{}}
	mux := http.NewServeMux()
	respond := func(w http.ResponseWriter, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, map[string]any{
			"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token",
			"jwks_uri":                              i.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		public, err := (&jose.JSONWebKey{Key: key.Public(), KeyID: "1", Algorithm: "RS256", Use: "sig"}).MarshalJSON()
		if err != nil {
			t.Error(err)
		}
		_, _ = fmt.Fprintf(w, `{"keys":[%s]}`, public)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		params := i.codes[r.PostFormValue("code")]
		delete(i.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		id, secret, _ := r.BasicAuth()
		if id != clientID || secret != url.QueryEscape(clientSecret) || params == nil ||
			params.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) ||
			r.PostFormValue("redirect_uri") != params.Get("redirect_uri") {
			w.WriteHeader(http.StatusBadRequest)
			respond(w, map[string]any{"error": "invalid_grant"})
			return
		}
		now := time.Now()
		claims := map[string]any{
			"iss": i.URL, "aud": clientID, "sub": "1815", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
			"nonce": params.Get("nonce"),
			"email": "Grace@example.com", "email_verified": true, "name": "Grace Hopper", "zoneinfo": "America/New_York",
		}
		for name, v := range i.claims {
			claims[name] = v
		}
		respond(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": i.sign(claims)})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) sign(claims map[string]any) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: i.key},
		(&jose.SignerOptions{}).WithHeader("kid", "1"))
	if err != nil {
		i.t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		i.t.Fatal(err)
	}
	out, err := signed.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return out
}

// visit opens a page in a browser and returns the location that it redirects to.
func visit(b *apptest.Person, target string) *url.URL {
	b.T.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site") // the provider redirected here
	for name, value := range b.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.Handler.ServeHTTP(w, r)
	if w.Code != http.StatusFound {
		b.T.Fatalf("GET %s: got status %d, body %s; want 302", target, w.Code, w.Body)
	}
	for _, c := range w.Result().Cookies() {
		if c.MaxAge < 0 {
			delete(b.Cookies, c.Name)
			continue
		}
		if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || !strings.HasPrefix(c.Name, "__Host-") {
			b.T.Errorf("the cookie %s lacks a protective attribute: %+v", c.Name, c)
		}
		b.Cookies[c.Name] = c.Value
	}
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil {
		b.T.Fatal(err)
	}
	return to
}

const oidcPath = "/api/app/v1/sign-in/oidc"

// beginSignIn begins a sign-in and returns the code and the state with which the
// provider redirects the browser back.
func (i *issuer) beginSignIn(b *apptest.Person) (code, state string) {
	b.T.Helper()
	to := visit(b, oidcPath+i.query)
	q := to.Query()
	if !strings.HasPrefix(to.String(), i.URL+"/authorize?") || q.Get("code_challenge_method") != "S256" ||
		q.Get("nonce") == "" || q.Get("state") == "" || q.Get("client_id") != clientID ||
		q.Get("redirect_uri") != apptest.BaseURL+oidcPath+"/callback" {
		b.T.Errorf("got a redirect to %s, want an authorization request to %s with PKCE, a nonce and a state", to, i.URL)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	code = fmt.Sprint("code-", len(q.Get("state")), "-", q.Get("state")[:8])
	i.codes[code] = q
	return code, q.Get("state")
}

// callback opens the callback page and returns the location that it redirects to.
func callback(b *apptest.Person, code, state string) string {
	b.T.Helper()
	return visit(b, oidcPath+"/callback?"+url.Values{"code": {code}, "state": {state}}.Encode()).String()
}

// signInWithProvider signs in with the provider and returns the location of the page to
// which the browser is finally redirected.
func (i *issuer) signInWithProvider(b *apptest.Person, claims map[string]any) string {
	b.T.Helper()
	i.mu.Lock()
	i.claims = claims
	i.mu.Unlock()
	code, state := i.beginSignIn(b)
	return callback(b, code, state)
}

func withIssuer(t *testing.T, fn func(t *testing.T, s *apptest.Service, i *issuer)) {
	t.Parallel()
	apptest.Databases(t, func(t *testing.T, database string) {
		i := newIssuer(t)
		fn(t, apptest.New(t, database, apptest.Options{OIDC: account.OIDC{Issuer: i.URL, ClientID: clientID,
			ClientSecret: clientSecret, Name: "Example Login"}}), i)
	})
}

// After a sign-in, the browser returns to the page that required it, never to another
// site.
func TestOIDCSignInReturnsToPage(t *testing.T) {
	withIssuer(t, func(t *testing.T, s *apptest.Service, i *issuer) {
		for next, want := range map[string]string{
			"/oauth/authorize?client_id=x&state=a%20b": "/oauth/authorize?client_id=x&state=a%20b",
			"": "/", "//evil.example.com": "/", "https://evil.example.com": "/", `/\evil.example.com`: "/",
			"/\t/evil.example.com":           "/",
			"/" + strings.Repeat("x", 3_000): "/",
		} {
			i.query = "?" + url.Values{"next": {next}}.Encode()
			if to := i.signInWithProvider(s.Browser(), nil); to != want {
				t.Errorf("sign-in from %.60q: the browser ended at %q, want %q", next, to, want)
			}
		}
	})
}

func TestOIDCSignIn(t *testing.T) {
	withIssuer(t, func(t *testing.T, s *apptest.Service, i *issuer) {
		if a := s.Browser().Must("get_sign_in_options", nil); a.Text("oidc.name") != "Example Login" {
			t.Errorf("got sign-in options %s, want the provider Example Login", a.Raw)
		}
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanTeam)
		ada.Must("create_invitation", fields{"workspaceId": workspace, "email": "grace@example.com", "role": "member"})

		b := s.Browser()
		if to := i.signInWithProvider(b, nil); to != "/" {
			t.Fatalf("the browser ended at %s, want /", to)
		}
		first := b.Must("get_session", nil)
		if first.Text("user.email") != "grace@example.com" || first.Text("user.name") != "Grace Hopper" ||
			first.Text("user.timeZone") != "America/New_York" ||
			first.Get("user.verified") != true || first.Text("workspaces.0.id") != workspace {
			t.Errorf("got new account %s, want one with the claims of the provider, in workspace %s", first.Raw, workspace)
		}
		if len(b.Cookies) != 2 { // the session and device cookies; the cookie of the sign-in attempt was deleted
			t.Errorf("got cookies %v, want 2", b.Cookies)
		}
		b.Must("create_token", fields{"name": "x", "scopes": []string{}}) // the sign-in is recent
		if a := s.Browser().Call("sign_in",
			fields{"email": "grace@example.com", "password": password}); a.Status != http.StatusUnauthorized {
			t.Errorf("an account without a password: got status %d, body %s; want 401", a.Status, a.Raw)
		}
		// The person is identified by the provider's subject, even after the address
		// has changed.
		c := s.Browser()
		if to := i.signInWithProvider(c, map[string]any{"email": "other@example.com", "email_verified": false}); to != "/" {
			t.Fatalf("the browser ended at %s, want /", to)
		}
		if a := c.Must("get_session", nil); a.Text("user.id") != first.Text("user.id") ||
			a.Text("user.email") != "grace@example.com" {
			t.Errorf("signed in as %s, want the first account", a.Raw)
		}
		// An existing account is found by its verified address only.
		eve := member(s, "eve@example.com")
		for _, unverified := range []any{false, nil, "false", 1} {
			d := s.Browser()
			if to := i.signInWithProvider(d, map[string]any{"sub": "2", "email": "eve@example.com",
				"email_verified": unverified}); to != "/sign-in?error=oidc_forbidden" || d.Secret() != "" {
				t.Errorf("email_verified %v: the browser ended at %s, want /sign-in?error=oidc_forbidden and no session", unverified, to)
			}
		}
		if to := i.signInWithProvider(s.Browser(), map[string]any{"sub": "2", "email": ""}); to != "/sign-in?error=oidc_forbidden" {
			t.Errorf("without an address: the browser ended at %s, want /sign-in?error=oidc_forbidden", to)
		}
		d := s.Browser()
		if to := i.signInWithProvider(d, map[string]any{"sub": "2", "email": "EVE@example.com", "email_verified": "true"}); to != "/" {
			t.Errorf("the browser ended at %s, want /", to)
		}
		if a := d.Must("get_session", nil); a.Text("user.id") != eve.ID {
			t.Errorf("signed in as %s, want %s", a.Raw, eve.ID)
		}
		if people := s.Column("SELECT id FROM users"); len(people) != 3 {
			t.Errorf("got %d accounts, want 3", len(people))
		}
	})
}

// An operator can trust a provider that makes no statement about addresses. An
// address that it calls unverified is still refused.
func TestTrustedProviderNeedNotVerify(t *testing.T) {
	t.Parallel()
	for trusted, want := range map[bool][2]string{
		false: {"/sign-in?error=oidc_forbidden", "CARDWALL_OIDC_TRUST_EMAIL"}, true: {"/", ""},
	} {
		i := newIssuer(t)
		log := &apptest.Buffer{}
		s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{Log: slog.New(slog.NewTextHandler(log, nil)),
			OIDC: account.OIDC{Issuer: i.URL, ClientID: clientID, ClientSecret: clientSecret, TrustEmail: trusted}})
		for _, verified := range []any{nil, false, "false"} {
			want := want
			if verified != nil {
				want = [2]string{"/sign-in?error=oidc_forbidden", "CARDWALL_OIDC_TRUST_EMAIL"}
			}
			earlier := len(log.String())
			to := i.signInWithProvider(s.Browser(), map[string]any{"sub": fmt.Sprint(verified), "email_verified": verified})
			text := log.String()[earlier:]
			if to != want[0] || !strings.Contains(text, want[1]) || strings.Contains(text, "grace@example.com") {
				t.Errorf("trusted %v, email_verified %v: the browser ended at %s, log %s; want %s and a log with %q", trusted, verified,
					to, text, want[0], want[1])
			}
		}
	}
}

func TestInvalidOIDCSignInsAreRefused(t *testing.T) {
	withIssuer(t, func(t *testing.T, s *apptest.Service, i *issuer) {
		expectRefused := func(what string, b *apptest.Person, to string) {
			t.Helper()
			if !strings.HasPrefix(to, "/sign-in?error=oidc") || b.Secret() != "" {
				t.Errorf("%s: the browser ended at %s, want an error page and no session", what, to)
			}
		}
		for what, claims := range map[string]map[string]any{
			"for another client": {"aud": "another"}, "by another issuer": {"iss": "https://evil.example.com"},
			"of another sign-in": {"nonce": "x"}, "that has expired": {"exp": time.Now().Add(-time.Hour).Unix()},
		} {
			b := s.Browser()
			expectRefused("with an ID token "+what, b, i.signInWithProvider(b, claims))
		}
		i.claims = nil
		b := s.Browser()
		code, state := i.beginSignIn(b)
		other := s.Browser() // which never began a sign-in
		expectRefused("in another browser", other, callback(other, code, state))
		expectRefused("with another state", b, callback(b, code, state+"x"))
		expectRefused("after a wrong state", b, callback(b, code, state)) // the attempt ended
		_, state = i.beginSignIn(b)
		expectRefused("with another code", b, callback(b, "nonsense", state))
		_, state = i.beginSignIn(b)
		otherCode, _ := i.beginSignIn(s.Browser())
		expectRefused("with the code of another attempt", b, callback(b, otherCode, state)) // the code's verifier belongs to that attempt
		code, state = i.beginSignIn(b)
		if to := callback(b, code, state); to != "/" {
			t.Errorf("valid sign-in: the browser ended at %s, want /", to)
		}
		expectRefused("with a code that was already used", s.Browser(), callback(b, code, state))
		// A provider that signs with another key is refused.
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		i.key = key
		c := s.Browser()
		expectRefused("signed with another key", c, i.signInWithProvider(c, nil))
		i.Close()
		d := s.Browser()
		visit(d, oidcPath)
		state = ""
		for _, value := range d.Cookies {
			text, err := base64.RawURLEncoding.DecodeString(value)
			if err != nil {
				t.Fatal(err)
			}
			_, rest, _ := strings.Cut(string(text), `"state":"`)
			state, _, _ = strings.Cut(rest, `"`)
		}
		expectRefused("while the provider is unavailable", d, callback(d, "x", state))
	})
}

func TestInvalidProviderOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for what, o := range map[string]account.OIDC{
		"plain http": {Issuer: "http://login.example.com", ClientID: "x"}, "no client": {Issuer: "https://login.example.com"},
		"no issuer": {ClientID: "x"},
	} {
		if _, err := account.New(account.Options{BaseURL: apptest.BaseURL, OIDC: o}); err == nil ||
			!strings.Contains(err.Error(), "CARDWALL_OIDC_ISSUER") {
			t.Errorf("%s: got error %v, want one about CARDWALL_OIDC_ISSUER", what, err)
		}
	}
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, oidcPath, nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("without a provider: got status %d, want 404", w.Code)
	}
}
