package docs

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

const (
	testBase      = "https://cards.example.com"
	testChangelog = "# Changelog\n\nWhat changed.\n\n## [v2] - 2026-11-23\n\n### Added\n- `get_card` is *fast*. <script>alert(1)</script>\n"
)

func handler(t *testing.T, doc *huma.OpenAPI) http.Handler {
	t.Helper()
	h, err := New(doc, testBase+"/", testChangelog)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(t *testing.T, h http.Handler, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
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

func page(t *testing.T, doc *huma.OpenAPI) string {
	t.Helper()
	r := get(t, handler(t, doc), "/api/public/v1/docs")
	if r.StatusCode != http.StatusOK {
		t.Fatalf("got status %d, body %s; want 200", r.StatusCode, text(t, r))
	}
	return text(t, r)
}

func wantContains(t *testing.T, html string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(html, part) {
			t.Errorf("the page does not contain %q", part)
		}
	}
}

func TestEveryOperationAndSchemaHasAnAnchor(t *testing.T) {
	html := page(t, sampleDocument())
	for _, id := range operationIDs(sampleDocument()) {
		wantContains(t, html, `<article class="op" id="`+id+`"`, `href="#`+id+`"`)
	}
	for name := range sampleDocument().Components.Schemas.Map() {
		wantContains(t, html, `id="schema-`+name+`"`)
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if ids[m[1]] {
			t.Errorf("got the id %s twice, want unique ids", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(` href="#([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if !ids[m[1]] {
			t.Errorf("the link to #%s has no target", m[1])
		}
	}
}

func TestTextOfTheDocumentIsEscaped(t *testing.T) {
	html := page(t, sampleDocument())
	if strings.Contains(html, "<script>alert") || strings.Contains(html, "<img") ||
		strings.Contains(html, `href="javascript:`) {
		t.Error("got unescaped markup from a description, want it escaped")
	}
	wantContains(t, html, "&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;img src=x onerror=alert(2)&gt;")
}

func TestPageHasNoInlineOrExternalCode(t *testing.T) {
	html := page(t, sampleDocument())
	for _, tag := range regexp.MustCompile(`<[a-zA-Z][^>]*>`).FindAllString(html, -1) {
		bare := strings.ToLower(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tag, `""`))
		if regexp.MustCompile(`\s(on[a-z]+|style|srcdoc|formaction)\s*=`).MatchString(bare) {
			t.Errorf("got the tag %s, want no inline style or code", tag)
		}
		switch name := regexp.MustCompile(`^<([a-z0-9]+)`).FindStringSubmatch(bare)[1]; name {
		case "script":
			if !strings.Contains(tag, ` src="docs/docs.js?v=`) {
				t.Errorf("got the script %s, want it to contain %q", tag, ` src="docs/docs.js?v=`)
			}
		case "style", "base", "iframe", "object", "embed", "form":
			t.Errorf("the page contains a %s element", name)
		case "link":
			if !strings.Contains(tag, ` href="docs/`) {
				t.Errorf("got the link %s, want it to contain %q", tag, ` href="docs/`)
			}
		}
	}
	if regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(html) {
		t.Error("got a script element with content, want none")
	}
	if regexp.MustCompile(`src="(https?:)?//`).MatchString(html) {
		t.Error("got an asset with an absolute URL, want relative URLs")
	}
	forbidden := regexp.MustCompile(`https?://|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|\.style\b|@import|url\(`)
	for _, name := range []string{"docs.js", "style.css"} {
		b, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bad := forbidden.Find(b); bad != nil {
			t.Errorf("%s contains %q, which the policy forbids", name, bad)
		}
	}
}

func TestHeadingsAreInOrder(t *testing.T) {
	last := 0
	for _, m := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(page(t, sampleDocument()), -1) {
		level := int(m[1][0] - '0')
		if level > last+1 {
			t.Errorf("got h%d after h%d, want no skipped level", level, last)
		}
		last = level
	}
}

func TestETagAndGzip(t *testing.T) {
	h := handler(t, sampleDocument())
	for path, kind := range map[string]string{
		"/docs": "text/html; charset=utf-8", "/api/public/v1/docs": "text/html; charset=utf-8",
		"/docs/style.css": "text/css; charset=utf-8", "/api/public/v1/docs/docs.js": "text/javascript; charset=utf-8",
		"/docs/icon.svg": "image/svg+xml", "/docs/changelog": "text/html; charset=utf-8",
		"/api/public/v1/docs/errors/not_found": "text/html; charset=utf-8",
	} {
		plain := get(t, h, path)
		body, tag := text(t, plain), plain.Header.Get("ETag")
		if plain.StatusCode != 200 || plain.Header.Get("Content-Type") != kind || tag == "" ||
			plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: got status %d, headers %v; want 200 with %s and an ETag", path, plain.StatusCode, plain.Header, kind)
		}
		compressed := get(t, h, path, "Accept-Encoding", "br, gzip;q=0.8")
		if compressed.Header.Get("Content-Encoding") != "gzip" || compressed.Header.Get("ETag") == tag ||
			compressed.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s with gzip: got headers %v, want gzip, Vary and another ETag", path, compressed.Header)
		}
		z, err := gzip.NewReader(compressed.Body)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(z); err != nil || string(b) != body {
			t.Errorf("%s with gzip: got a different body than without gzip, error %v", path, err)
		}
		again := get(t, h, path, "If-None-Match", `"other", W/`+tag)
		if again.StatusCode != http.StatusNotModified || text(t, again) != "" || again.Header.Get("ETag") != tag {
			t.Errorf("%s with If-None-Match: got status %d, headers %v; want 304", path, again.StatusCode, again.Header)
		}
		if r := get(t, h, path, "Accept-Encoding", "gzip;q=0, *"); r.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s with gzip;q=0: got an encoded body, want none", path)
		}
		if got := plain.Header.Get("Content-Security-Policy"); got != Policy {
			t.Errorf("%s: got Content-Security-Policy %q, want %q", path, got, Policy)
		}
	}
}

func TestVersionedAssetIsImmutable(t *testing.T) {
	h := handler(t, sampleDocument())
	address := regexp.MustCompile(`docs/style\.css\?v=[0-9a-f]+`).FindString(text(t, get(t, h, "/docs")))
	if got := get(t, h, "/"+address).Header.Get("Cache-Control"); !strings.Contains(got, "immutable") {
		t.Errorf("current version: got Cache-Control %q, want it to contain %q", got, "immutable")
	}
	if got := get(t, h, "/docs/style.css?v=old").Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("another version: got Cache-Control %q, want %q", got, "no-cache")
	}
}

func TestOtherPathsAndMethods(t *testing.T) {
	h := handler(t, sampleDocument())
	if r := get(t, h, "/docs/"); r.StatusCode != http.StatusPermanentRedirect || r.Header.Get("Location") != "../docs" {
		t.Errorf("/docs/: got status %d, headers %v; want a redirect to ../docs", r.StatusCode, r.Header)
	}
	if r := get(t, h, "/docs/page.tmpl"); r.StatusCode != http.StatusNotFound {
		t.Errorf("/docs/page.tmpl: got status %d, want 404", r.StatusCode)
	}
	for method, status := range map[string]int{http.MethodHead: 200, http.MethodPost: 405} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/docs", nil))
		if w.Code != status || (method == http.MethodHead && w.Body.Len() > 0) {
			t.Errorf("%s: got status %d with %d bytes, want %d", method, w.Code, w.Body.Len(), status)
		}
	}
}

func TestChangelog(t *testing.T) {
	h := handler(t, sampleDocument())
	html := text(t, get(t, h, "/docs/changelog"))
	wantContains(t, html, "<h1>Changelog</h1>", "<h2>v2 - 2026-11-23</h2>", "<h3>Added</h3>",
		`<a href="../docs#get_card"><code>get_card</code></a> is <em>fast</em>`,
		"&lt;script&gt;alert(1)&lt;/script&gt;", `href="style.css?v=`, `<a class="brand" href="../docs#main">`)
	wantContains(t, page(t, sampleDocument()), `<a href="docs/changelog">Changelog</a>`, `<a class="brand" href="#main">`)
	if r := get(t, h, "/docs/changelog/"); r.StatusCode != http.StatusPermanentRedirect || r.Header.Get("Location") != "../changelog" {
		t.Errorf("/docs/changelog/: got status %d, headers %v; want a redirect to ../changelog", r.StatusCode, r.Header)
	}
}

func TestErrorPages(t *testing.T) {
	h := handler(t, sampleDocument())
	html := text(t, get(t, h, "/docs/errors/not_found"))
	wantContains(t, html, "<h1>not_found</h1>", `href="../style.css?v=`, `<a class="brand" href="../../docs#main">`, `href="../changelog"`)
	wantContains(t, page(t, sampleDocument()), `<a href="docs/errors/not_found"><code>not_found</code></a>`)
	for _, path := range []string{"/docs/errors", "/docs/errors/nothing", "/docs/not_found", "/errors/not_found"} {
		if r := get(t, h, path); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: got status %d, want 404", path, r.StatusCode)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(nil, testBase, ""); err == nil {
		t.Error("nil document: got no error, want one")
	}
	for _, base := range []string{"cards.example.com", "ftp://x", "https://x/?a=b", "https://u:p@x",
		"javascript:alert(1)"} {
		if _, err := New(sampleDocument(), base, ""); err == nil {
			t.Errorf("base URL %q: got no error, want one", base)
		}
	}
}

func TestDuplicateOperationNamesAreAnError(t *testing.T) {
	doc := sampleDocument()
	doc.Paths["/other"] = &huma.PathItem{Get: &huma.Operation{OperationID: "get_card"}}
	if r := get(t, handler(t, doc), "/docs"); r.StatusCode != http.StatusInternalServerError ||
		strings.Contains(text(t, r), "get_card") {
		t.Errorf("got status %d, want 500 without details", r.StatusCode)
	}
}

func BenchmarkRender(b *testing.B) {
	doc := sampleDocument()
	for b.Loop() {
		if _, err := newSite(doc, testBase, testChangelog); err != nil {
			b.Fatal(err)
		}
	}
}
