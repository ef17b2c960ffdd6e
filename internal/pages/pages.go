// Package pages serves the built application: one document for every address
// that is a page, and the files that it loads. It knows nothing of what the
// pages do.
//
// The build left the packed form of each file beside it, as NAME.gz. The names of
// most files hold a hash of their content, so browsers keep them for good. The document is asked for again
// each time, and answered with 304 while it is the same.
package pages

import (
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"cardwall/internal/asset"
)

// Policy is the Content-Security-Policy of every page: nothing from elsewhere,
// nothing inline, and no text becomes markup but through two named policies
// (Trusted Types).
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html dompurify"

// ErrNotBuilt is that there is no application in the program.
var ErrNotBuilt = errors.New("pages: the application was not built; run make web")

const (
	document = "index.html"
	packed   = ".gz"
	preloads = ".preload.json"
)

// publicPath is where pages stand that nobody has to sign in for, but that are
// only for those who were given their address: no search engine shows them.
const publicPath = "/p/"

// Pages is the handler of the application's addresses.
type Pages struct {
	files map[string]*file // by path, which begins with a slash
	ahead []preload
	hsts  bool
}

// preload is what a browser is told to load with the document at an address,
// in which {id} stands for one name, in both.
type preload struct {
	Path  string   `json:"path"`
	Links []string `json:"links"` // as in a header Link (RFC 8288)
}

// Most files are never asked for: each is read when it is first.
type file struct {
	load    func() (*asset.Asset, error)
	forGood bool // its name changes with its content
}

// New reads the application from a folder. Without one it refuses with
// ErrNotBuilt. HSTS is for servers that people reach by https.
func New(dist fs.FS, hsts bool) (*Pages, error) {
	p := &Pages{files: map[string]*file{}, hsts: hsts}
	err := fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
		switch hidden := name != "." && strings.HasPrefix(path.Base(name), "."); {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden, d.IsDir(), path.Ext(name) == packed:
			return nil
		}
		p.files["/"+name] = &file{
			load:    sync.OnceValues(func() (*asset.Asset, error) { return load(dist, name) }),
			forGood: strings.HasPrefix(name, "assets/"),
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("pages: read the application: %w", err)
	}
	if p.files["/"+document] == nil {
		return nil, ErrNotBuilt
	}
	text, err := fs.ReadFile(dist, preloads)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p.ahead)
	}
	if err != nil {
		return nil, fmt.Errorf("pages: read %s: %w", preloads, err)
	}
	return p, nil
}

// links are what to load with the document at a path.
func (p *Pages) links(path string) []string {
	for _, ahead := range p.ahead {
		before, after, named := strings.Cut(ahead.Path, "{id}")
		if !named && path == ahead.Path {
			return ahead.Links
		}
		rest, here := strings.CutPrefix(path, before)
		id, whole := strings.CutSuffix(rest, after)
		if !named || !here || !whole || !isName(id) {
			continue
		}
		links := make([]string, len(ahead.Links))
		for i, link := range ahead.Links {
			links[i] = strings.ReplaceAll(link, "{id}", id)
		}
		return links
	}
	return nil
}

// isName tells whether a text is an id as the service makes them, which stands
// in a header as it is.
func isName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func load(dist fs.FS, name string) (*asset.Asset, error) {
	plain, err := fs.ReadFile(dist, name)
	if err != nil {
		return nil, err
	}
	small, err := fs.ReadFile(dist, name+packed)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var kind string
	switch path.Ext(name) {
	case ".js":
		kind = "text/javascript; charset=utf-8"
	case ".css":
		kind = "text/css; charset=utf-8"
	case ".woff2":
		kind = "font/woff2"
	case ".webmanifest":
		kind = "application/manifest+json"
	default:
		kind = mime.TypeByExtension(path.Ext(name))
	}
	if kind == "" {
		kind = "application/octet-stream"
	}
	return asset.Packed(plain, small, kind), nil
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
	if strings.HasPrefix(r.URL.Path, publicPath) {
		header.Set("X-Robots-Tag", "noindex, nofollow")
	}
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
		if links := p.links(r.URL.Path); links != nil {
			header["Link"] = links
		}
	}
	body, err := f.load()
	if err != nil {
		header.Set("Cache-Control", "no-store")
		http.Error(w, "The file cannot be read.", http.StatusInternalServerError)
		return
	}
	header.Set("Cache-Control", "no-cache")
	if f.forGood {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body.ServeHTTP(w, r)
}
