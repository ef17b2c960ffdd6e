package rest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cardwall/internal/rest"
)

// During a migration, /readyz names the migration and pages do not. Over https, each
// response has Strict-Transport-Security.
func TestStartingReportsTheMigration(t *testing.T) {
	t.Parallel()
	s := rest.NewStarting("https://cards.example.com", rest.NewMetrics())
	s.Set("The server is migrating the database: 060_sizes, 3 of 10.")
	for _, c := range []struct {
		path, accept string
		status       int
		want, not    string
	}{
		{"/healthz", "", 200, `{"status":"ok"}`, "migrating"},
		{"/readyz", "", 503, `"message":"The server is migrating the database: 060_sizes, 3 of 10. It has been in this state ` +
			`for 0s."`, "<html"},
		{"/", "text/html", 503, `<meta http-equiv="refresh" content="3">`, "019"},
		{"/api/public/v1/boards", "text/html", 503, `"code":"unavailable"`, "019"},
		{"/mcp", "application/json", 503, `"code":"unavailable"`, "019"},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, http.NoBody)
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		body := w.Body.String()
		if w.Code != c.status || !strings.Contains(body, c.want) || strings.Contains(body, c.not) {
			t.Errorf("%s: got status %d, body %s; want %d with %q and without %q", c.path, w.Code, body, c.status, c.want, c.not)
		}
		if h := w.Header(); h.Get("Strict-Transport-Security") == "" || h.Get("X-Request-Id") == "" ||
			(h.Get("Retry-After") == "") != (c.status == 200) {
			t.Errorf("%s: got headers %v, want Strict-Transport-Security, X-Request-Id and, with 503, Retry-After", c.path, h)
		}
	}
	w := httptest.NewRecorder()
	rest.NewStarting("http://127.0.0.1:8080", rest.NewMetrics()).ServeHTTP(w,
		httptest.NewRequest(http.MethodGet, "/healthz", http.NoBody))
	if got := w.Header().Get("Strict-Transport-Security"); got != "" {
		t.Errorf("over http: got Strict-Transport-Security %q, want none", got)
	}
}
