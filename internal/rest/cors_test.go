package rest_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
)

// Pages of the sites that the operator allows can use the public API and MCP with a token. Pages of
// other sites cannot, and none can use cookies or the application's API.
func TestPagesOfAllowedSites(t *testing.T) {
	t.Parallel()
	const allowed = "https://app.example.com"
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{Origins: []string{allowed, "http://localhost:6274"}})
	ada := s.Person("Ada")
	send := func(method, path, origin string, header http.Header) http.Header {
		t.Helper()
		r := httptest.NewRequest(method, path, strings.NewReader(`{}`))
		r.Header = http.Header{"Origin": {origin}, "Content-Type": {"application/json"}}
		for name, values := range header {
			r.Header[name] = values
		}
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		out := w.Header().Clone()
		out.Set("Status", http.StatusText(w.Code))
		return out
	}
	const me = "/api/public/v1/me"
	preflight := http.Header{
		"Access-Control-Request-Method": {"PATCH"}, "Access-Control-Request-Headers": {"authorization,content-type,idempotency-key"},
	}
	token := http.Header{"Authorization": {"Bearer " + ada.Token}}
	for _, path := range []string{me, "/api/public/v1/cards/crd_x", "/mcp"} {
		for _, origin := range []string{allowed, "http://localhost:6274"} {
			got := send("OPTIONS", path, origin, preflight)
			if got.Get("Status") != "No Content" || got.Get("Access-Control-Allow-Origin") != origin ||
				got.Get("Access-Control-Allow-Methods") != "PATCH" || got.Get("Access-Control-Max-Age") != "86400" ||
				got.Get("Access-Control-Allow-Headers") != preflight.Get("Access-Control-Request-Headers") {
				t.Errorf("preflight of %s from %s: got %v, want it to be allowed", path, origin, got)
			}
		}
		for _, origin := range []string{"https://evil.example.com", "https://app.example.com.evil.example.com",
			"http://app.example.com", "https://app.example.com:8443", "null", "*"} {
			for _, got := range []http.Header{send("OPTIONS", path, origin, preflight), send("POST", path, origin, token)} {
				if got.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s from %s: got %v, want no permission", path, origin, got)
				}
			}
		}
	}
	got := send("GET", me, allowed, token)
	exposed := strings.Split(got.Get("Access-Control-Expose-Headers"), ", ")
	for _, name := range []string{"Etag", "Retry-After", "Www-Authenticate", "X-Ratelimit-Remaining", "X-Request-Id"} {
		if !slices.Contains(exposed, name) {
			t.Errorf("got exposed headers %q, want %s", exposed, name)
		}
	}
	if got.Get("Status") != "OK" || got.Get("Access-Control-Allow-Origin") != allowed || got.Get("Vary") != "Origin" ||
		got.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("GET %s: got %v, want a readable response without credentials", me, got)
	}
	if got := send("POST", "/mcp", allowed, nil); got.Get("Status") != "Unauthorized" || got.Get("Access-Control-Allow-Origin") != allowed {
		t.Errorf("MCP without a token: got %v, want a readable challenge", got)
	}
	ping := ada.RPCRequest(apptest.Sessions, "ping", nil)
	ping.Header.Set("Origin", allowed)
	if a := ada.Message(ping); a.Status != http.StatusOK || a.Header.Get("Access-Control-Allow-Origin") != allowed {
		t.Errorf("MCP: got status %d, headers %v; want a readable response", a.Status, a.Header)
	}
	if got := send("OPTIONS", "/api/app/v1/session", allowed, preflight); got.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("application API: got %v, want no permission", got)
	}
}
