package rest

import (
	"net/http/httptest"
	"regexp"
	"testing"
)

func TestSecurityContact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ configured, baseURL, want string }{
		{"", "https://cards.example.com", "mailto:security@cards.example.com"},
		{"", "https://cards.example.com:8443/", "mailto:security@cards.example.com"},
		{"https://example.com/report", "https://cards.example.com", "https://example.com/report"},
		{"mailto:sec@example.com", "http://127.0.0.1:8080", "mailto:sec@example.com"},
		{"", "http://127.0.0.1:8080", ""},
		{"", "https://192.0.2.1", ""},
		{"", "https://localhost", ""},
	} {
		if got, err := securityContact(c.configured, c.baseURL); got != c.want || err != nil {
			t.Errorf("securityContact(%q, %s) = %q, %v; want %q", c.configured, c.baseURL, got, err, c.want)
		}
	}
	for _, bad := range []string{"sec@example.com", "http://example.com", "javascript:alert(1)",
		"mailto:a@b\nContact: x"} {
		if got, err := securityContact(bad, "https://cards.example.com"); err == nil {
			t.Errorf("securityContact(%q) = %q, want an error", bad, got)
		}
	}
}

// The file has the two fields that RFC 9116 requires.
func TestSecurityFile(t *testing.T) {
	t.Parallel()
	h := &handler{Config: Config{BaseURL: "https://cards.example.com"}}
	w := httptest.NewRecorder()
	h.security("mailto:security@cards.example.com")(w, httptest.NewRequest("GET", securityPath, nil))
	want := regexp.MustCompile(`^Contact: mailto:security@cards\.example\.com\nExpires: \d{4}-\d\d-\d\dT00:00:00Z\n` +
		`Canonical: https://cards\.example\.com/\.well-known/security\.txt\nPreferred-Languages: en\n$`)
	if !want.Match(w.Body.Bytes()) || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("got headers %v, body\n%swant text that matches\n%s", w.Header(), w.Body, want)
	}
}
