package connect_test

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"cardwall/internal/apptest"
)

// site is a host that serves client metadata documents.
type site struct {
	*httptest.Server
	requests atomic.Int64
	handler  http.HandlerFunc
}

func newSite(t *testing.T) (*site, *apptest.Service) {
	t.Helper()
	w := &site{}
	w.Server = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.requests.Add(1)
		w.handler(rw, r)
	}))
	t.Cleanup(w.Close)
	roots := x509.NewCertPool()
	roots.AddCert(w.Certificate())
	return w, apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{Roots: roots})
}

// respond sets the response to all further requests.
func (w *site) respond(kind string, status int, body string) {
	w.handler = func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", kind)
		rw.WriteHeader(status)
		_, _ = rw.Write([]byte(body))
	}
}

func TestClientMetadataDocument(t *testing.T) {
	t.Parallel()
	w, s := newSite(t)
	id := w.URL + "/client.json"
	w.respond("application/json", 200, `{"client_id":"`+id+`","client_name":"Example Assistant","redirect_uris":["`+
		callback+`","http://127.0.0.1/cb"],"grant_types":["authorization_code","refresh_token"]}`)
	ada := s.Person("Ada")
	p := oauthClient{s, id, callback}
	details := ada.Must("get_authorization_request", fields{"query": p.request().Encode()})
	if details.Get("verified") != true || details.Text("host") != strings.TrimPrefix(w.URL, "https://") ||
		details.Text("returnsTo") != "assistant.example.com" {
		t.Errorf("got request details %s, want the verified host %s", details.Raw, strings.TrimPrefix(w.URL, "https://"))
	}
	got := p.tokens(ada)
	if !works(s, got.text("access_token")) {
		t.Error("the access token does not work")
	}
	p.must("/oauth/token", p.refresh(got.text("refresh_token")))
	if n := w.requests.Load(); n != 1 {
		t.Errorf("the document was fetched %d times, want 1", n)
	}
	wantError(t, "a redirect URI that is not in the document",
		get(s, "/oauth/authorize?"+p.request("redirect_uri", "https://evil.example/").Encode()), "invalid_request")
	eve := oauthClient{s, w.URL + "/eve.json", callback}
	wantError(t, "a client with another document", post(s, "/oauth/token", eve.redemption(p.code(ada))), "invalid_grant")
}

func TestInvalidClientDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	w, s := newSite(t)
	id := w.URL + "/client.json"
	good := fmt.Sprintf(`{"client_id":%q,"redirect_uris":[%q]}`, id, callback)
	authorize := func(id string) reply {
		return get(s, "/oauth/authorize?"+oauthClient{s, id, callback}.request().Encode(), "Accept", "application/json")
	}
	for what, c := range map[string]struct {
		kind   string
		status int
		body   string
	}{
		"not found":         {"application/json", 404, good},
		"HTML":              {"text/html", 200, good},
		"too large":         {"application/json", 200, good + strings.Repeat(" ", 5<<10)},
		"not JSON":          {"application/json", 200, "{"},
		"duplicate name":    {"application/json", 200, strings.Replace(good, "{", `{"client_id":"x",`, 1)},
		"another client_id": {"application/json", 200, strings.Replace(good, "client.json", "other.json", 1)},
		"no client_id":      {"application/json", 200, fmt.Sprintf(`{"redirect_uris":[%q]}`, callback)},
		"with a secret":     {"application/json", 200, strings.Replace(good, "{", `{"client_secret":"x",`, 1)},
		"with an authentication method": {"application/json", 200,
			strings.Replace(good, "{", `{"token_endpoint_auth_method":"client_secret_post",`, 1)},
		"no redirect URIs": {"application/json", 200, fmt.Sprintf(`{"client_id":%q}`, id)},
		"a redirect URI with a fragment": {"application/json", 200,
			fmt.Sprintf(`{"client_id":%q,"redirect_uris":[%q]}`, id, callback+"#x")},
		"one dangerous redirect URI": {"application/json", 200,
			fmt.Sprintf(`{"client_id":%q,"redirect_uris":[%q,"javascript:x"]}`, id, callback)},
	} {
		w.respond(c.kind, c.status, c.body)
		wantError(t, what, authorize(id), "invalid_client")
	}
	w.handler = func(rw http.ResponseWriter, r *http.Request) { // redirects, even to the same host, are not followed
		if r.URL.Path == "/client.json" {
			http.Redirect(rw, r, "/real.json", http.StatusFound)
			return
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write([]byte(good))
	}
	wantError(t, "a redirect", authorize(id), "invalid_client")
	w.respond("application/json", 200, good)
	if r := authorize(id); r.status != http.StatusOK { // the error was not cached
		t.Errorf("the valid document: got status %d, body %s; want 200", r.status, r.raw)
	}
	before := w.requests.Load()
	host := strings.TrimPrefix(w.URL, "https://")
	for what, id := range map[string]string{
		"a private address":       "https://10.0.0.8/client.json",
		"a cloud metadata server": "https://169.254.169.254/latest/meta-data",
		"a loopback name":         "https://localhost/client.json",
		"a private IPv6 address":  "https://[fd00::1]/client.json",
		"a hexadecimal IP":        "https://0x7f.1/client.json",
		"another port":            "https://example.com:8443/client.json",
		"no path":                 w.URL,
		"the root":                w.URL + "/",
		"a dot segment":           w.URL + "/a/../client.json",
		"a fragment":              w.URL + "/client.json#x",
		"a user name":             "https://x@" + host + "/client.json",
		"http":                    "http://" + host + "/client.json",
		"a file URL":              "file:///etc/passwd",
	} {
		wantError(t, what, authorize(id), "invalid_client")
	}
	if n := w.requests.Load() - before; n != 0 {
		t.Errorf("the invalid addresses were fetched %d times, want 0", n)
	}
}

// Unauthenticated callers can make the server fetch only a limited number of documents.
func TestDocumentFetchesAreLimited(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{RateLimits: true})
	for i := range 31 {
		r := get(s, "/oauth/authorize?client_id="+fmt.Sprintf("https://10.0.0.8/%d", i))
		if limited := r.status == http.StatusTooManyRequests; limited != (i == 30) {
			t.Fatalf("request %d: got status %d, body %s; want 429 only for request 31", i+1, r.status, r.raw)
		}
	}
}
