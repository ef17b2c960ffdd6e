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
	asked atomic.Int64
	serve http.HandlerFunc
}

func newSite(t *testing.T) (*site, *apptest.Service) {
	t.Helper()
	w := &site{}
	w.Server = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked.Add(1)
		w.serve(rw, r)
	}))
	t.Cleanup(w.Close)
	roots := x509.NewCertPool()
	roots.AddCert(w.Certificate())
	return w, apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{Roots: roots})
}

func (w *site) answers(kind string, status int, body string) {
	w.serve = func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", kind)
		rw.WriteHeader(status)
		_, _ = rw.Write([]byte(body))
	}
}

func TestClientMetadataDocument(t *testing.T) {
	t.Parallel()
	w, s := newSite(t)
	id := w.URL + "/client.json"
	w.answers("application/json", 200, `{"client_id":"`+id+`","client_name":"Example Assistant","redirect_uris":["`+
		callback+`","http://127.0.0.1/cb"],"grant_types":["authorization_code","refresh_token"]}`)
	ada := s.Person("Ada")
	p := program{s, id, callback}
	look := ada.Must("look_at_authorization", fields{"query": p.request().Encode()})
	if look.Get("verified") != true || look.Text("host") != strings.TrimPrefix(w.URL, "https://") ||
		look.Text("returnsTo") != "assistant.example.com" {
		t.Errorf("the consent page shows %s", look.Raw)
	}
	got := p.tokens(ada)
	if !works(s, got.text("access_token")) {
		t.Error("the token does not work")
	}
	p.must("/oauth/token", p.renewal(got.text("refresh_token")))
	if n := w.asked.Load(); n != 1 {
		t.Errorf("the document was fetched %d times, want 1", n)
	}
	refused(t, "an address that it does not name",
		get(s, "/oauth/authorize?"+p.request("redirect_uri", "https://evil.example/").Encode()), "invalid_request")
	eve := program{s, w.URL + "/eve.json", callback}
	refused(t, "another document's client", post(s, "/oauth/token", eve.redemption(p.code(ada))), "invalid_grant")
}

func TestInvalidClientDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	w, s := newSite(t)
	id := w.URL + "/client.json"
	good := fmt.Sprintf(`{"client_id":%q,"redirect_uris":[%q]}`, id, callback)
	ask := func(id string) reply {
		return get(s, "/oauth/authorize?"+program{s, id, callback}.request().Encode(), "Accept", "application/json")
	}
	for what, c := range map[string]struct {
		kind   string
		status int
		body   string
	}{
		"not there":         {"application/json", 404, good},
		"HTML":              {"text/html", 200, good},
		"too large":         {"application/json", 200, good + strings.Repeat(" ", 5<<10)},
		"not JSON":          {"application/json", 200, "{"},
		"duplicate name":    {"application/json", 200, strings.Replace(good, "{", `{"client_id":"x",`, 1)},
		"another client_id": {"application/json", 200, strings.Replace(good, "client.json", "other.json", 1)},
		"no client_id":      {"application/json", 200, fmt.Sprintf(`{"redirect_uris":[%q]}`, callback)},
		"with a secret":     {"application/json", 200, strings.Replace(good, "{", `{"client_secret":"x",`, 1)},
		"with a secret's method": {"application/json", 200,
			strings.Replace(good, "{", `{"token_endpoint_auth_method":"client_secret_post",`, 1)},
		"no addresses": {"application/json", 200, fmt.Sprintf(`{"client_id":%q}`, id)},
		"an address with a hash": {"application/json", 200,
			fmt.Sprintf(`{"client_id":%q,"redirect_uris":[%q]}`, id, callback+"#x")},
		"a dangerous address too": {"application/json", 200,
			fmt.Sprintf(`{"client_id":%q,"redirect_uris":[%q,"javascript:x"]}`, id, callback)},
	} {
		w.answers(c.kind, c.status, c.body)
		refused(t, what, ask(id), "invalid_client")
	}
	w.serve = func(rw http.ResponseWriter, r *http.Request) { // redirects, even to the same host, are not followed
		if r.URL.Path == "/client.json" {
			http.Redirect(rw, r, "/real.json", http.StatusFound)
			return
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write([]byte(good))
	}
	refused(t, "a redirect", ask(id), "invalid_client")
	w.answers("application/json", 200, good)
	if r := ask(id); r.status != http.StatusOK { // the error was not cached
		t.Errorf("the good document: %d %s, want 200", r.status, r.raw)
	}
	before := w.asked.Load()
	host := strings.TrimPrefix(w.URL, "https://")
	for what, id := range map[string]string{
		"a private address":       "https://10.0.0.8/client.json",
		"an address of the cloud": "https://169.254.169.254/latest/meta-data",
		"a loopback name":         "https://localhost/client.json",
		"a private IPv6 address":  "https://[fd00::1]/client.json",
		"a hexadecimal IP":        "https://0x7f.1/client.json",
		"another port":            "https://example.com:8443/client.json",
		"no path":                 w.URL,
		"the root":                w.URL + "/",
		"dots":                    w.URL + "/a/../client.json",
		"a fragment":              w.URL + "/client.json#x",
		"a user name":             "https://x@" + host + "/client.json",
		"http":                    "http://" + host + "/client.json",
		"a file URL":              "file:///etc/passwd",
	} {
		refused(t, what, ask(id), "invalid_client")
	}
	if n := w.asked.Load() - before; n != 0 {
		t.Errorf("%d of them were fetched, want 0", n)
	}
}

// Strangers can make the server fetch only a limited number of documents.
func TestFetchesAreLimited(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{RateLimits: true})
	for i := range 31 {
		r := get(s, "/oauth/authorize?client_id="+fmt.Sprintf("https://10.0.0.8/%d", i))
		if limited := r.status == http.StatusTooManyRequests; limited != (i == 30) {
			t.Fatalf("request %d: %d %s", i+1, r.status, r.raw)
		}
	}
}
