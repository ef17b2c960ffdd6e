package session

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// The client's address is taken only from headers of trusted proxies.
func TestAddressBehindProxies(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for what, c := range map[string]struct {
		proxies []netip.Prefix
		from    string
		header  []string
		want    string
	}{
		"no proxies":             {nil, "10.0.0.1:80", []string{"192.0.2.7"}, "10.0.0.1"},
		"not from a proxy":       {trusted, "198.51.100.1:80", []string{"192.0.2.7"}, "198.51.100.1"},
		"from a proxy":           {trusted, "10.0.0.1:80", []string{"192.0.2.7"}, "192.0.2.7"},
		"through two":            {trusted, "[fd00::1]:80", []string{"192.0.2.7, 10.0.0.2"}, "192.0.2.7"},
		"through two, two lines": {trusted, "10.0.0.1:80", []string{"192.0.2.7", "10.0.0.2"}, "192.0.2.7"},
		"a forged entry":         {trusted, "10.0.0.1:80", []string{"203.0.113.5, 10.0.0.9, 192.0.2.7"}, "192.0.2.7"},
		"nonsense":               {trusted, "10.0.0.1:80", []string{"192.0.2.7, nonsense"}, "10.0.0.1"},
		"nothing":                {trusted, "10.0.0.1:80", nil, "10.0.0.1"},
		"IPv4 in IPv6":           {trusted, "[::ffff:10.0.0.1]:80", []string{"::ffff:192.0.2.7"}, "192.0.2.7"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.from
		r.Header["X-Forwarded-For"] = c.header
		if got := (&Gate{proxies: c.proxies}).address(r); got != c.want {
			t.Errorf("%s: got %s, want %s", what, got, c.want)
		}
	}
}

// TestCookieFor checks the cookie's name and attributes for a base URL.
func TestCookieFor(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]cookie{
		"https://cards.example.com": {"__Host-cardwall", true}, "http://127.0.0.1:8080": {"__Host-cardwall", true},
		"http://localhost": {"__Host-cardwall", true}, "http://[::1]:8080": {"__Host-cardwall", true},
		"http://cards.example.com": {"cardwall", false}, "http://192.0.2.7": {"cardwall", false}, "": {"cardwall", false},
	} {
		if got := cookieFor(base); got != want {
			t.Errorf("%s: got %v, want %v", base, got, want)
		}
	}
}
