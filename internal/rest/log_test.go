package rest

import (
	"net/http/httptest"
	"testing"
)

// What lets guests onto a public page is in no log.
func TestLogHasNoKeyOfAPublicPage(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/p/MFRGGZDFMZTWQ2LKNNWG23TPOA": "/p/…", "/p/x/y": "/p/…",
		"/api/public/v1/me": "/api/public/v1/me"} {
		if got := logPath(httptest.NewRequest("GET", path, nil)); got != want {
			t.Errorf("%s is logged as %s, want %s", path, got, want)
		}
	}
}
