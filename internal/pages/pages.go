// Package pages serves the built web app: one HTML document for all pages, and the
// files that it loads.
//
// The build stores a compressed copy of each file as NAME.gz. The names of most files
// contain a hash of the content, so browsers can cache them permanently. Browsers
// revalidate the document each time they load it, and get 304 if it has not changed.
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

// Policy is the Content-Security-Policy of every page. It forbids content from other
// origins, inline scripts and inline styles. Only two named policies can convert text to
// markup (Trusted Types).
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types svelte-trusted-html dompurify"

// ErrNotBuilt means that the program was built without the web app.
var ErrNotBuilt = errors.New("pages: the web app was not built; run make web")

const (
	document = "index.html"
	packed   = ".gz"
	preloads = ".preload.json"
	routes   = ".routes.json" // the path patterns of all pages in web/src/routes.ts
)

// publicPath is the path prefix of public pages. Search engines must not index them,
// because their addresses are secret.
const publicPath = "/p/"

// Pages is the handler of the web app.
type Pages struct {
	files    map[string]*file // by path, which begins with a slash
	preloads []preload
	routes   []string // path patterns of pages, in which :name matches one segment
}

// preload lists the files and data that a browser should load together with the
// document at a path. {id} is a placeholder for the same id in the path and the links.
type preload struct {
	Path  string   `json:"path"`
	Links []string `json:"links"` // values of the Link header (RFC 8288)
}

// file is a file of the web app. It is loaded when it is first requested, because most
// files are never requested.
type file struct {
	load      func() (*asset.Asset, error)
	immutable bool // the name contains a hash of the content
}

// New reads the web app from a folder. It returns ErrNotBuilt if the folder has no
// document.
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
			load:      sync.OnceValues(func() (*asset.Asset, error) { return load(dist, name) }),
			immutable: strings.HasPrefix(name, "assets/"),
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("pages: read the web app: %w", err)
	}
	if p.files["/"+document] == nil {
		return nil, ErrNotBuilt
	}
	if err := readJSON(dist, routes, &p.routes); err != nil {
		return nil, err
	}
	if err := readJSON(dist, preloads, &p.preloads); err != nil && !errors.Is(err, fs.ErrNotExist) {
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

// isPage reports whether path is the path of a page.
func (p *Pages) isPage(path string) bool {
	if path != "/" {
		path = strings.TrimSuffix(path, "/")
	}
	segments := strings.Split(path, "/")
	return slices.ContainsFunc(p.routes, func(pattern string) bool {
		return slices.EqualFunc(strings.Split(pattern, "/"), segments, func(part, text string) bool {
			return part == text || strings.HasPrefix(part, ":") && text != ""
		})
	})
}

// links returns the preload links for the document at a path.
func (p *Pages) links(path string) []string {
	for _, preload := range p.preloads {
		before, after, hasID := strings.Cut(preload.Path, "{id}")
		if !hasID && path == preload.Path {
			return preload.Links
		}
		rest, hasPrefix := strings.CutPrefix(path, before)
		id, hasSuffix := strings.CutSuffix(rest, after)
		if !hasID || !hasPrefix || !hasSuffix || !isID(id) {
			continue
		}
		links := make([]string, len(preload.Links))
		for i, link := range preload.Links {
			links[i] = strings.ReplaceAll(link, "{id}", id)
		}
		return links
	}
	return nil
}

// hasSession reports whether a browser may be signed in. Without a session, preloading
// the data of a page would fail.
func hasSession(r *http.Request) bool {
	return slices.ContainsFunc(r.Cookies(), func(c *http.Cookie) bool { return strings.HasSuffix(c.Name, "cardwall") })
}

// isID reports whether text contains only characters that occur in ids. They are safe
// in a header.
func isID(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func load(dist fs.FS, name string) (*asset.Asset, error) {
	plain, err := fs.ReadFile(dist, name)
	if err != nil {
		return nil, err
	}
	compressed, err := fs.ReadFile(dist, name+packed)
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
	return asset.Precompressed(plain, compressed, kind), nil
}

// ServeHTTP serves a file at its path, and the document at the path of each page. It
// responds to other paths with 404. If the client accepts HTML and the path does not look
// like that of a file, the body of the 404 is the document, which shows an error page.
// Otherwise, the body is plain text.
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
		http.Error(w, "Pages support only GET and HEAD.", http.StatusMethodNotAllowed)
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
			links = slices.DeleteFunc(slices.Clone(links), func(link string) bool {
				return strings.Contains(link, "as=fetch")
			})
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
	if f.immutable {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body.ServeStatus(w, r, status)
}
