package file_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/file"
)

func newBucket(t *testing.T, address string) *file.Bucket {
	t.Helper()
	b, err := file.OpenBucket(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestInvalidBucketAddressesAreRejected(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"", "files", "http://files", "s3://", "s3:///prefix", "s3://key:secret@files", "s3://files/UPPER", "s3://files/a/../b",
		"s3://files?endpoint=s3.example.com", "s3://files?endpoint=ftp://s3.example.com", "s3://files?endpoint=https://s3.example.com/path",
	} {
		if _, err := file.OpenBucket(t.Context(), address); err == nil {
			t.Errorf("%q: got no error, want one", address)
		}
	}
}

func TestMissingBucketIsAnError(t *testing.T) {
	t.Parallel()
	g := apptest.StartBucket(t)
	_, err := file.OpenBucket(t.Context(), strings.Replace(g.Address, "s3://files", "s3://other", 1))
	if !errors.Is(err, file.ErrUnavailable) || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("got error %v, want ErrUnavailable for a bucket that does not exist", err)
	}
}

// If the bucket is gone, unreachable, overloaded or full, or if it rejects the credentials,
// the error is never that of a missing blob. Otherwise, the blob could be reported as lost.
func TestBucketFaultsAreReported(t *testing.T) {
	t.Parallel()
	g := apptest.StartBucket(t)
	target := &url.URL{Scheme: "http", Host: g.Host}
	var fault atomic.Pointer[http.HandlerFunc]
	var attempts atomic.Int64 // requests that got a fault
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := fault.Load(); f != nil {
			attempts.Add(1)
			(*f)(w, r)
			return
		}
		(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.Out.Host = p.In.Host // the signature covers it
		}}).ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	b := newBucket(t, "s3://files?region=us-east-1&endpoint="+proxy.URL)
	put(t, b, "a", []byte("kept"))

	respond := func(status int) *http.HandlerFunc {
		f := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		return &f
	}
	closed := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for name, c := range map[string]struct {
		fault *http.HandlerFunc
		want  error
	}{
		"internal error":    {respond(http.StatusInternalServerError), file.ErrUnavailable},
		"too many requests": {respond(http.StatusTooManyRequests), file.ErrUnavailable},
		"wrong credentials": {respond(http.StatusForbidden), file.ErrUnavailable},
		"full":              {respond(http.StatusInsufficientStorage), file.ErrFull},
		"connection closed": {&closed, file.ErrUnavailable},
	} {
		fault.Store(c.fault)
		attempts.Store(0)
		_, putErr := b.Put(t.Context(), "b", strings.NewReader("x"))
		_, openErr := b.Open(t.Context(), "a")
		for what, err := range map[string]error{
			"put": putErr, "open": openErr, "move": b.Move(t.Context(), "a", "b"), "remove": b.Remove(t.Context(), "a"),
			"list": b.List(t.Context(), "", func(file.Info) error { return nil }),
		} {
			if !errors.Is(err, c.want) || errors.Is(err, file.ErrMissing) {
				t.Errorf("%s, %s: got error %v, want %v", name, what, err, c.want)
			}
		}
		if n := attempts.Load(); n < 5 || n > 5*3 {
			t.Errorf("%s: five calls sent %d requests, want one to three each", name, n)
		}
	}
	fault.Store(nil)
	if got := string(get(t, b, "a")); got != "kept" {
		t.Errorf("got %q after the faults, want the blob", got)
	}

	r, err := b.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(g.Folder); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); err == nil {
		t.Error("a blob of a bucket that is gone was read, want an error")
	}
	_ = r.Close()
	if _, err := b.Open(t.Context(), "a"); !errors.Is(err, file.ErrUnavailable) {
		t.Errorf("the bucket is gone: got error %v, want %v", err, file.ErrUnavailable)
	}
}
