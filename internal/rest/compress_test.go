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

// A long response is compressed for clients that accept it. Short responses and
// responses with a secret are not.
func TestCompressedResponses(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	ada, _, boardID := desk(s)
	list := ada.Must("create_list", fields{"boardId": boardID, "name": "To do"}).ID()
	ada.Must("create_card", fields{"listId": list, "title": "Long",
		"description": strings.Repeat("words of a card ", 1000)})
	card := ada.All("list_cards", "id", fields{"boardId": boardID})[0]
	ask := func(name string, in fields, accept string) *httptest.ResponseRecorder {
		r := ada.Request(s.Registry.Named(name), in)
		r.Header.Set("Accept-Encoding", accept)
		r.Header.Set("Authorization", "Bearer "+ada.Token)
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		if w.Code >= http.StatusBadRequest {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
		return w
	}
	long := fields{"cardId": card}
	plain := ask("get_card", long, "")
	if got := plain.Header().Get("Content-Encoding"); got != "" {
		t.Errorf("the response to a request without Accept-Encoding is encoded as %s, want none", got)
	}
	packed := ask("get_card", long, "gzip, deflate, br, zstd")
	if got := packed.Header().Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("the encoding is %q, want %q", got, "gzip")
	}
	if packed.Header().Get("Vary") == "" || packed.Body.Len() > plain.Body.Len()/10 {
		t.Errorf("Vary is %q, and %d bytes became %d", packed.Header().Get("Vary"), plain.Body.Len(), packed.Body.Len())
	}
	unpack, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(unpack); err != nil || string(got) != plain.Body.String() {
		t.Errorf("decompressed, the body is %.100s, %v, want %.100s", got, err, plain.Body)
	}
	if got := ask("get_card", long, "gzip;q=0").Header().Get("Content-Encoding"); got != "" {
		t.Errorf("%s was encoded in spite of q=0, want none", got)
	}
	if got := ask("get_me", nil, "gzip").Header().Get("Content-Encoding"); got != "" {
		t.Errorf("a short response is encoded as %s, want none", got)
	}
	if got := ask("export_board", fields{"boardId": boardID}, "gzip").Header().Get("Content-Encoding"); got != "gzip" {
		t.Errorf("an export is encoded as %q, want %q", got, "gzip")
	}
	for _, o := range s.Registry.All() {
		r := ada.Request(o, nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		if s.Handler.ServeHTTP(w, r); o.Secret == (w.Header().Get("Vary") != "") {
			t.Errorf("%s, secret %v, has Vary %q", o.Name, o.Secret, w.Header().Get("Vary"))
		}
	}
}
