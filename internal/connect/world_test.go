package connect_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

type fields = apptest.Fields

const (
	callback    = "https://assistant.example.com/callback"
	verifier    = "dBjftJeZ4CVP-mBJ92K9q9y8yF2kmEo0nqUGm8Nfn3s"
	deviceGrant = board.GrantDevice
)

// oauthClient is an OAuth client. It sends requests without cookies.
type oauthClient struct {
	*apptest.Service
	id       string
	redirect string
}

// reply is the response to a client's request.
type reply struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (r reply) text(name string) string {
	s, _ := r.body[name].(string)
	return s
}

func send(s *apptest.Service, r *http.Request) reply {
	s.T.Helper()
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, r)
	out := reply{status: w.Code, header: w.Header(), raw: w.Body.String()}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(w.Body.Bytes(), &out.body); err != nil {
			s.T.Fatalf("%s %s: got status %d, body %s; want JSON", r.Method, r.URL.Path, w.Code, w.Body)
		}
	}
	return out
}

func get(s *apptest.Service, target string, headers ...string) reply {
	s.T.Helper()
	r := httptest.NewRequest(http.MethodGet, target, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return send(s, r)
}

// values returns a form of the given pairs, which alternate names and values. A name with an empty
// value is omitted.
func values(pairs ...string) url.Values {
	out := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if out.Del(pairs[i]); pairs[i+1] != "" {
			out.Set(pairs[i], pairs[i+1])
		}
	}
	return out
}

// with returns a copy of a form, changed by alternating names and values. An empty value removes
// the name.
func with(form url.Values, pairs ...string) url.Values {
	out := url.Values{}
	for name, all := range form {
		out[name] = all
	}
	for i := 0; i < len(pairs); i += 2 {
		if out.Del(pairs[i]); pairs[i+1] != "" {
			out.Set(pairs[i], pairs[i+1])
		}
	}
	return out
}

func post(s *apptest.Service, path string, form url.Values) reply {
	s.T.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return send(s, r)
}

func register(s *apptest.Service, metadata string) reply {
	s.T.Helper()
	r := httptest.NewRequest(http.MethodPost, "/oauth/register", strings.NewReader(metadata))
	r.Header.Set("Content-Type", "application/json")
	return send(s, r)
}

// newClient registers a client with all grants.
func newClient(s *apptest.Service, redirects ...string) oauthClient {
	s.T.Helper()
	if len(redirects) == 0 {
		redirects = []string{callback}
	}
	text, err := json.Marshal(map[string]any{
		"client_name": "Example Assistant", "redirect_uris": redirects,
		"grant_types": []string{board.GrantCode, board.GrantRefresh, deviceGrant},
	})
	if err != nil {
		s.T.Fatal(err)
	}
	r := register(s, string(text))
	if r.status != http.StatusCreated {
		s.T.Fatalf("register: got status %d, body %s; want 201", r.status, r.raw)
	}
	return oauthClient{s, r.text("client_id"), redirects[0]}
}

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// request returns the query of a valid authorization request.
func (p oauthClient) request(pairs ...string) url.Values {
	return with(values("response_type", "code", "client_id", p.id, "redirect_uri", p.redirect, "state", "xyz&=",
		"scope", "read write",
		"code_challenge", challenge(verifier), "code_challenge_method", "S256", "resource", apptest.BaseURL+"/mcp"), pairs...)
}

// allow approves the client's request on behalf of a person. It returns the parameters of the
// redirect to the client.
func (p oauthClient) allow(person *apptest.Person, query url.Values, grant fields) url.Values {
	p.T.Helper()
	if grant == nil {
		grant = fields{"scopes": []string{"read", "write"}}
	}
	grant["query"] = query.Encode()
	to := person.Must("allow_authorization", grant).Text("redirectTo")
	u, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, p.redirect) {
		p.T.Fatalf("got redirectTo %s, want %s with parameters", to, p.redirect)
	}
	return u.Query()
}

// code approves the client's request on behalf of a person and returns the authorization code.
func (p oauthClient) code(person *apptest.Person) string {
	p.T.Helper()
	return p.allow(person, p.request(), nil).Get("code")
}

// redemption returns a valid request that redeems a code.
func (p oauthClient) redemption(code string, pairs ...string) url.Values {
	return with(values("grant_type", board.GrantCode, "client_id", p.id, "code", code, "redirect_uri", p.redirect,
		"code_verifier", verifier), pairs...)
}

// tokens approves the client's request on behalf of a person, redeems the code and returns the tokens.
func (p oauthClient) tokens(person *apptest.Person) reply {
	p.T.Helper()
	return p.must("/oauth/token", p.redemption(p.code(person)))
}

// refresh returns a valid request that refreshes the tokens of a connection.
func (p oauthClient) refresh(refresh string, pairs ...string) url.Values {
	return with(values("grant_type", board.GrantRefresh, "client_id", p.id, "refresh_token", refresh), pairs...)
}

// must sends a request that must succeed.
func (p oauthClient) must(path string, form url.Values) reply {
	p.T.Helper()
	r := post(p.Service, path, form)
	if r.status != http.StatusOK {
		p.T.Fatalf("%s: got status %d, body %s; want 200", path, r.status, r.raw)
	}
	return r
}

// wantError fails the test unless the response has status 400, the given error code and no token,
// and forbids caching.
func wantError(t *testing.T, what string, r reply, code string) {
	t.Helper()
	if r.status != http.StatusBadRequest || r.text("error") != code || r.text("error_description") == "" {
		t.Errorf("%s: got status %d, body %s; want 400 %s", what, r.status, r.raw, code)
	}
	if r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s: got Cache-Control %q, want %q", what, r.header.Get("Cache-Control"), "no-store")
	}
	if r.body["access_token"] != nil {
		t.Errorf("%s: got a token in the error response %s", what, r.raw)
	}
}

// works reports whether the API accepts an access token.
func works(s *apptest.Service, token string) bool {
	s.T.Helper()
	s.Clock.Advance(time.Second) // so that the cached state of the token expires
	return (&apptest.Person{Service: s, Token: token}).Call("get_me", nil).Status == http.StatusOK
}
