// Package pages serves the built application: one document for every address
// that is a page, and the files that it loads. It knows nothing of what the
// pages do.
//
// The files are compressed once, at the start, and their names hold a hash of
// their content, so browsers keep them for good. The document is asked for again
// each time, and answered with 304 while it is the same.
package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Policy is the Content-Security-Policy of every page: nothing from elsewhere,
// nothing inline, and no text becomes markup but through two named policies
// (Trusted Types).
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html dompurify"

// ErrNotBuilt is that there is no application in the program.
var ErrNotBuilt = errors.New("pages: the application was not built; run make web")

const document = "index.html"

// Pages is the handler of the application's addresses.
type Pages struct {
	files map[string]*file // by path, which begins with a slash
	hsts  bool
}

type file struct {
	kind    string // its media type
	plain   []byte
	packed  []byte // gzip; nil when that is no smaller
	etag    string
	forGood bool // its name changes with its content
}

// New reads the application from a folder. Without one it refuses with
// ErrNotBuilt. HSTS is for servers that people reach by https.
func New(dist fs.FS, hsts bool) (*Pages, error) {
	p := &Pages{files: map[string]*file{}, hsts: hsts}
	err := fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path.Base(name), ".") {
			return err
		}
		plain, err := fs.ReadFile(dist, name)
		if err != nil {
			return err
		}
		f, err := newFile(name, plain)
		p.files["/"+name] = f
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pages: read the application: %w", err)
	}
	if p.files["/"+document] == nil {
		return nil, ErrNotBuilt
	}
	return p, nil
}

func newFile(name string, plain []byte) (*file, error) {
	sum := sha256.Sum256(plain)
	f := &file{plain: plain, etag: `"` + hex.EncodeToString(sum[:12]) + `"`, forGood: strings.HasPrefix(name, "assets/")}
	switch path.Ext(name) {
	case ".js":
		f.kind = "text/javascript; charset=utf-8"
	case ".css":
		f.kind = "text/css; charset=utf-8"
	case ".woff2":
		f.kind = "font/woff2"
	case ".webmanifest":
		f.kind = "application/manifest+json"
	default:
		f.kind = mime.TypeByExtension(path.Ext(name))
	}
	if f.kind == "" {
		f.kind = "application/octet-stream"
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() < len(plain)*9/10 {
		f.packed = b.Bytes()
	}
	return f, nil
}

// ServeHTTP answers a file by its name, and the document for any other address.
// What looks like a file and is none is not found.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", Policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	if p.hsts {
		header.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "Pages take GET and HEAD.", http.StatusMethodNotAllowed)
		return
	}
	f := p.files[r.URL.Path]
	if f == nil {
		if strings.HasPrefix(r.URL.Path, "/assets/") || path.Ext(r.URL.Path) != "" {
			header.Set("Cache-Control", "no-store")
			http.Error(w, "There is no such file.", http.StatusNotFound)
			return
		}
		f = p.files["/"+document]
	}
	p.serve(w, r, f)
}

func (p *Pages) serve(w http.ResponseWriter, r *http.Request, f *file) {
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Vary", "Accept-Encoding")
	header.Set("Cache-Control", "no-cache")
	if f.forGood {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body, tag := f.plain, f.etag
	if f.packed != nil && takesGzip(r) {
		body, tag = f.packed, strings.TrimSuffix(f.etag, `"`)+`-gzip"` // other bytes, so another tag (RFC 9110, 8.8.3)
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the reader may be gone
	}
}

// takesGzip tells whether a request takes gzip (RFC 9110, 12.5.3).
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.Trim(strings.TrimPrefix(strings.ReplaceAll(weight, " ", ""), "q="), "0.") != "" || !strings.Contains(weight, "q=")
		}
	}
	return false
}
