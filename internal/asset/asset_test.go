package asset_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cardwall/internal/asset"
)

var text = strings.Repeat("a line of a script\n", 100)

func newAsset(t *testing.T, body string) *asset.Asset {
	t.Helper()
	a, err := asset.New([]byte(body), "text/plain; charset=utf-8")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ask(a http.Handler, method string, headers ...string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(method, "/script", nil), httptest.NewRecorder()
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	a.ServeHTTP(w, r)
	return w
}

func TestEncodingFollowsAcceptEncoding(t *testing.T) {
	t.Parallel()
	a := newAsset(t, text)
	for accept, packed := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false, "gzip;q=x": false,
		"*": true, "*;q=0": false, "*, gzip;q=0": false, "gzip, *;q=0": true, "identity": false, "x-gzip": true, "deflate, br": false,
	} {
		w := ask(a, "GET", "Accept-Encoding", accept)
		body := w.Body.Bytes()
		if packed {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Errorf("%q: %v", accept, err)
				continue
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Errorf("%q: %v", accept, err)
			}
		}
		if w.Code != 200 || string(body) != text || (w.Header().Get("Content-Encoding") == "gzip") != packed ||
			w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: got status %d, headers %v; want gzip: %v", accept, w.Code, w.Header(), packed)
		}
	}
	if w := ask(newAsset(t, "x"), "GET", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" || w.Body.String() != "x" {
		t.Errorf("short body: got headers %v, want no Content-Encoding", w.Header())
	}
}

func TestETagsIdentifyExactBytes(t *testing.T) {
	t.Parallel()
	a := newAsset(t, text)
	plain, packed := ask(a, "GET").Header().Get("ETag"), ask(a, "GET", "Accept-Encoding", "gzip").Header().Get("ETag")
	if other := ask(newAsset(t, text+"!"), "GET").Header().Get("ETag"); plain == packed || plain == other || plain == "" {
		t.Errorf("got the entity tags %s (uncompressed), %s (compressed), %s (another body); want three different ones", plain,
			packed, other)
	}
	for _, c := range []struct {
		has, accept string
		want        int
	}{
		{plain, "", 304}, {packed, "gzip", 304}, {"W/" + plain, "", 304}, {`"other", ` + plain, "", 304}, {"*", "", 304},
		{plain, "gzip", 200}, {packed, "", 200}, {strings.Trim(plain, `"`), "", 200}, {`"other"`, "", 200},
	} {
		w := ask(a, "GET", "If-None-Match", c.has, "Accept-Encoding", c.accept)
		if w.Code != c.want || c.want == 304 && (w.Body.Len() > 0 || w.Header().Get("Content-Type") != "" || w.Header().Get("ETag") == "") {
			t.Errorf("If-None-Match %s, Accept-Encoding %q: got status %d, headers %v, %d bytes; want %d", c.has, c.accept, w.Code,
				w.Header(), w.Body.Len(), c.want)
		}
	}
	if w := ask(a, "HEAD"); w.Body.Len() > 0 || w.Header().Get("Content-Length") != "1900" {
		t.Errorf("HEAD: got headers %v, %d bytes; want Content-Length 1900 and no body", w.Header(), w.Body.Len())
	}
}
