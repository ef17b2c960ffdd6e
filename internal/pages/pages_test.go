package pages_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"cardwall/internal/pages"
)

const script = "console.log('board');\n"

func newPages(t *testing.T) *pages.Pages {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, werr := z.Write([]byte(strings.Repeat(script, 100)))
	if err := errors.Join(werr, z.Close()); err != nil {
		t.Fatal(err)
	}
	p, err := pages.New(fstest.MapFS{
		"index.html":              {Data: []byte("<!doctype html><title>Cardwall</title>")},
		"assets/board-1a2b.js":    {Data: []byte(strings.Repeat(script, 100))},
		"assets/board-1a2b.js.gz": {Data: packed.Bytes()},
		"assets/inter-3c.woff2":   {Data: []byte{0, 1, 2}},
		".routes.json":            {Data: []byte(`["/", "/boards/:boardId", "/boards/:boardId/archive", "/p/:key"]`)},
		".gitkeep":                {},
		".vite/manifest.json":     {Data: []byte("{}")},
		".preload.json": {Data: []byte(`[{"path": "/boards/{id}",
			"links": ["</api/boards/{id}/open>; rel=preload; as=fetch; crossorigin", "</assets/board-1a2b.js>; rel=modulepreload"]},
			{"path": "/", "links": ["</api/session>; rel=preload; as=fetch; crossorigin"]}]`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func get(p http.Handler, target string, headers ...string) *http.Response {
	r := httptest.NewRequest("GET", target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPathsOfPages(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	for _, at := range []string{"/", "/boards/brd_1", "/boards/brd_1/", "/boards/brd_1/archive", "/index.html"} {
		r := get(p, at)
		if r.StatusCode != 200 || !strings.Contains(text(t, r), "<title>Cardwall") ||
			r.Header.Get("Content-Type") != "text/html; charset=utf-8" || r.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: got status %d, headers %v; want 200 with the document", at, r.StatusCode, r.Header)
		}
		if again := get(p, at, "If-None-Match", r.Header.Get("ETag")); again.StatusCode != 304 || text(t, again) != "" {
			t.Errorf("%s with If-None-Match: got status %d, want 304", at, again.StatusCode)
		}
	}
}

// Other paths, such as those that vulnerability scanners try, return 404. Browsers get the
// error page, except for paths of files.
func TestOtherPathsAreNotFound(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	for _, at := range []string{"/metrics", "/.git/config", "/wp-login.php", "/boards", "/boards//archive", "/boards/brd_1/x",
		"/boards/brd_1/archive/x", "/.env"} {
		if r := get(p, at); r.StatusCode != 404 || strings.Contains(text(t, r), "<title>") || r.Header.Get("ETag") != "" {
			t.Errorf("%s: got status %d, headers %v; want 404 without the document", at, r.StatusCode, r.Header)
		}
	}
	for at, shown := range map[string]bool{"/metrics": true, "/boards/brd_1/x": true, "/.git/config": true, "/wp-login.php": false} {
		r := get(p, at, "Accept", "text/html,*/*", "If-None-Match", "*")
		if r.StatusCode != 404 || strings.Contains(text(t, r), "<title>Cardwall") != shown {
			t.Errorf("%s in a browser: got status %d, headers %v; want 404, document: %v", at, r.StatusCode, r.Header, shown)
		}
	}
}

func TestFilesAreCompressedAndCached(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	r := get(p, "/assets/board-1a2b.js", "Accept-Encoding", "br, gzip;q=0.8")
	if r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
		r.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("script: got headers %v, want gzip, Vary and an immutable file", r.Header)
	}
	if r.Header.Get("ETag") == get(p, "/assets/board-1a2b.js").Header.Get("ETag") {
		t.Error("got the same entity tag for both encodings, want different ones")
	}
	unpacked, err := gzip.NewReader(bytes.NewReader([]byte(text(t, r))))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(unpacked); err != nil || string(got) != strings.Repeat(script, 100) {
		t.Errorf("script: got %.40q, error %v; want the script", got, err)
	}
	for _, encoding := range []string{"", "br", "gzip;q=0"} {
		if r := get(p, "/assets/board-1a2b.js", "Accept-Encoding", encoding); r.Header.Get("Content-Encoding") != "" ||
			text(t, r) != strings.Repeat(script, 100) {
			t.Errorf("Accept-Encoding %q: got headers %v, want no encoding", encoding, r.Header)
		}
	}
	for _, absent := range []string{"/assets/board-9.js", "/assets/board-1a2b.js.gz", "/robots.txt", "/.gitkeep",
		"/.vite/manifest.json", "/.preload.json", "/assets/"} {
		if r := get(p, absent); r.StatusCode != 404 {
			t.Errorf("%s: got status %d, want 404", absent, r.StatusCode)
		}
	}
}

func TestDocumentHasPreloadLinks(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	board := []string{"</api/boards/brd_1/open>; rel=preload; as=fetch; crossorigin", "</assets/board-1a2b.js>; rel=modulepreload"}
	for at, want := range map[string][]string{
		"/boards/brd_1": board, "/": {"</api/session>; rel=preload; as=fetch; crossorigin"},
		"/boards/": nil, "/boards/brd_1/archive": nil, "/boards/a%3E%0D%0AX-A:b": nil, "/boards/%C3%A9": nil, "/boards/brd_1/x": nil,
		"/assets/board-1a2b.js": nil,
	} {
		if got := get(p, at, "Cookie", "__Host-cardwall=a").Header["Link"]; !slices.Equal(got, want) {
			t.Errorf("%s: got the links %q, want %q", at, got, want)
		}
	}
	tag := get(p, "/boards/brd_1").Header.Get("ETag")
	if again := get(p, "/boards/brd_1", "Cookie", "cardwall=a", "If-None-Match", tag); again.StatusCode != 304 ||
		!slices.Equal(again.Header["Link"], board) {
		t.Errorf("with If-None-Match: got status %d, links %q; want 304, %q", again.StatusCode, again.Header["Link"], board)
	}
	// Without a session, loading the data would fail with an error in the browser's console.
	if got := get(p, "/boards/brd_1").Header["Link"]; !slices.Equal(got, board[1:]) {
		t.Errorf("without a session: got the links %q, want %q", got, board[1:])
	}
	if _, err := pages.New(fstest.MapFS{"index.html": {}, ".routes.json": {Data: []byte("[]")},
		".preload.json": {Data: []byte("{")}}); err == nil {
		t.Error("New with an invalid .preload.json: got no error, want one")
	}
}

func TestEveryResponseHasSecurityHeaders(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"/", "/assets/board-1a2b.js", "/nothing.js"} {
		h := get(newPages(t), at).Header
		for name, want := range map[string]string{
			"Content-Security-Policy": pages.Policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: got %s %q, want %q", at, name, h.Get(name), want)
			}
		}
	}
	w := httptest.NewRecorder()
	newPages(t).ServeHTTP(w, httptest.NewRequest("POST", "/", nil))
	if w.Code != 405 {
		t.Errorf("POST: got status %d, want 405", w.Code)
	}
}

// Search engines must not index public pages, because their addresses are secret.
func TestPublicPagesAreNotIndexed(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	if r := get(p, "/p/MFRGGZDFMZTWQ2LKNNWG23TPOA"); r.StatusCode != 200 || r.Header.Get("X-Robots-Tag") != "noindex, nofollow" ||
		r.Header.Get("Referrer-Policy") != "no-referrer" || r.Header.Get("Content-Security-Policy") != pages.Policy {
		t.Errorf("public page: got status %d, headers %v; want 200 with noindex and a policy", r.StatusCode, r.Header)
	}
	if r := get(p, "/boards/brd_1"); r.Header.Get("X-Robots-Tag") != "" {
		t.Errorf("other page: got headers %v, want no X-Robots-Tag", r.Header)
	}
}

func TestNewWithoutABuild(t *testing.T) {
	t.Parallel()
	if _, err := pages.New(fstest.MapFS{".gitkeep": {}}); !errors.Is(err, pages.ErrNotBuilt) {
		t.Errorf("New without a build: got error %v, want ErrNotBuilt", err)
	}
}
