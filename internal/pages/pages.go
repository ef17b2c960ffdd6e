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
	"slices"
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
	routes   = ".routes.json" // the patterns of all pages, as web/src/routes.ts has them
)

// publicPath is where pages stand that nobody has to sign in for, but that are
// only for those who were given their address: no search engine shows them.
const publicPath = "/p/"

// Pages is the handler of the application's addresses.
type Pages struct {
	files map[string]*file // by path, which begins with a slash
	ahead []preload
	known []string // patterns of the pages' paths, in which :name is one part
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
// ErrNotBuilt.
func New(dist fs.FS) (*Pages, error) {
	p := &Pages{files: map[string]*file{}}
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
	if err := readJSON(dist, routes, &p.known); err != nil {
		return nil, err
	}
	if err := readJSON(dist, preloads, &p.ahead); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return p, nil
}

func readJSON(dist fs.FS, name string, to any) error {
	text, err := fs.ReadFile(dist, name)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		return fmt.Errorf("pages: read %s: %w", name, err)
	}
	return nil
}

// isPage reports whether a page has this path.
func (p *Pages) isPage(path string) bool {
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	given := strings.Split(path, "/")
	return slices.ContainsFunc(p.known, func(pattern string) bool {
		return slices.EqualFunc(strings.Split(pattern, "/"), given, func(part, text string) bool {
			return part == text || strings.HasPrefix(part, ":") && text != ""
		})
	})
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

// hasSession reports whether a browser may be signed in. Where it cannot be, the
// data of a screen would only be refused.
func hasSession(r *http.Request) bool {
	return slices.ContainsFunc(r.Cookies(), func(c *http.Cookie) bool { return strings.HasSuffix(c.Name, "cardwall") })
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

// ServeHTTP responds with a file by its name, and with the document for the
// address of a page. Any other address is not found: a browser gets the document
// with that status, which shows so, and everything else a line of text.
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
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "Pages take GET and HEAD.", http.StatusMethodNotAllowed)
		return
	}
	f, status := p.files[r.URL.Path], http.StatusOK
	if f == nil {
		if !p.isPage(r.URL.Path) {
			status = http.StatusNotFound
		}
		file := strings.HasPrefix(r.URL.Path, "/assets/") || path.Ext(r.URL.Path) != ""
		if status == http.StatusNotFound && (file || !strings.Contains(r.Header.Get("Accept"), "text/html")) {
			header.Set("Cache-Control", "no-store")
			http.Error(w, "There is no such page.", http.StatusNotFound)
			return
		}
		f = p.files["/"+document]
		links := p.links(r.URL.Path)
		if !hasSession(r) {
			links = slices.DeleteFunc(slices.Clone(links), func(link string) bool { return strings.Contains(link, "as=fetch") })
		}
		if len(links) > 0 {
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
	body.ServeStatus(w, r, status)
}
