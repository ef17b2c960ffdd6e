package rest_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"cardwall/internal/apptest"
)

// A long response is compressed for clients that accept gzip. Short responses and
// responses with a secret are not compressed.
func TestCompressedResponses(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	ada, _, boardID := newBoard(s)
	list := ada.Must("create_list", fields{"boardId": boardID, "name": "To do"}).ID()
	ada.Must("create_card", fields{"listId": list, "title": "Long",
		"description": strings.Repeat("words of a card ", 1000)})
	card := ada.All("list_cards", "id", fields{"boardId": boardID})[0]
	send := func(name string, in fields, accept string) *httptest.ResponseRecorder {
		r := ada.Request(s.Registry.Named(name), in)
		r.Header.Set("Accept-Encoding", accept)
		r.Header.Set("Authorization", "Bearer "+ada.Token)
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		if w.Code >= http.StatusBadRequest {
			t.Fatalf("%s: got status %d, body %s", name, w.Code, w.Body)
		}
		return w
	}
	long := fields{"cardId": card}
	plain := send("get_card", long, "")
	if got := plain.Header().Get("Content-Encoding"); got != "" {
		t.Errorf("without Accept-Encoding: got Content-Encoding %q, want none", got)
	}
	compressed := send("get_card", long, "gzip, deflate, br, zstd")
	if got := compressed.Header().Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("got Content-Encoding %q, want %q", got, "gzip")
	}
	if compressed.Header().Get("Vary") == "" || compressed.Body.Len() > plain.Body.Len()/10 {
		t.Errorf("got Vary %q and %d bytes, want Vary and at most a tenth of %d bytes", compressed.Header().Get("Vary"),
			compressed.Body.Len(), plain.Body.Len())
	}
	reader, err := gzip.NewReader(compressed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(reader); err != nil || string(got) != plain.Body.String() {
		t.Errorf("decompressed body: got %.100s, %v; want %.100s", got, err, plain.Body)
	}
	if got := send("get_card", long, "gzip;q=0").Header().Get("Content-Encoding"); got != "" {
		t.Errorf("with gzip;q=0: got Content-Encoding %q, want none", got)
	}
	if got := send("get_me", nil, "gzip").Header().Get("Content-Encoding"); got != "" {
		t.Errorf("short response: got Content-Encoding %q, want none", got)
	}
	if got := send("export_board", fields{"boardId": boardID}, "gzip").Header().Get("Content-Encoding"); got != "gzip" {
		t.Errorf("export: got Content-Encoding %q, want %q", got, "gzip")
	}
	for _, o := range s.Registry.All() {
		r := ada.Request(o, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		plain := o.Secret || o.HasContent()
		if s.Handler.ServeHTTP(w, r); plain == (w.Header().Get("Vary") != "") {
			t.Errorf("%s: got Vary %q, want Vary only without a secret or a file (%t)", o.Name, w.Header().Get("Vary"), plain)
		}
	}
}

// The OpenAPI document is compressed and has an entity tag, so that a program that looks for changes to it
// need not download it again.
func TestDocumentIsCompressedAndTagged(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	get := func(header http.Header) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/api/public/v1/openapi.json", nil)
		r.Header = header
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		return w
	}
	plain, compressed := get(http.Header{}), get(http.Header{"Accept-Encoding": {"gzip"}})
	if compressed.Header().Get("Content-Encoding") != "gzip" || compressed.Body.Len() > plain.Body.Len()/10 {
		t.Errorf("got Content-Encoding %q and %d bytes, want gzip and at most a tenth of %d bytes", compressed.Header().Get("Content-Encoding"),
			compressed.Body.Len(), plain.Body.Len())
	}
	again := get(http.Header{"If-None-Match": {plain.Header().Get("ETag")}})
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 || again.Header().Get("Cache-Control") == "" {
		t.Errorf("with If-None-Match: got status %d, headers %v, %d bytes; want 304", again.Code, again.Header(), again.Body.Len())
	}
}
