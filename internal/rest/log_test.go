package rest

import (
	"net/http/httptest"
	"testing"
)

// The key of a public page gives guests access, so it must not be logged.
func TestLogHasNoKeyOfAPublicPage(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/p/MFRGGZDFMZTWQ2LKNNWG23TPOA": "/p/…", "/p/x/y": "/p/…",
		"/api/public/v1/me": "/api/public/v1/me", "/api/app/v1/public-page/file?key=MFRGGZDFMZTWQ2LKNNWG23TPOA": "/api/app/v1/public-page/file"} {
		if got := logPath(httptest.NewRequest("GET", path, nil)); got != want {
			t.Errorf("logPath(%s) = %s, want %s", path, got, want)
		}
	}
}
