package docs

import (
	"net/http"
	"path"
	"strings"

	"cardwall/internal/asset"
)

// site is the rendered pages with their assets. It is immutable.
type site struct {
	pages, assets map[string]*asset.Asset
}

// ServeHTTP responds to GET and HEAD requests for the pages and their assets. It
// considers only the part of the path from the first /docs on.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if h.Get("Content-Security-Policy") == "" {
		h.Set("Content-Security-Policy", Policy)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "The reference supports only GET and HEAD.", http.StatusMethodNotAllowed)
		return
	}
	address := strings.TrimSuffix(r.URL.Path, "/")
	_, name, below := strings.Cut(address+"/", "/"+mount+"/")
	name = strings.TrimSuffix(name, "/")
	if !below {
		http.NotFound(w, r)
		return
	}
	page, ok := s.pages[name]
	if ok && address != r.URL.Path {
		// With a trailing slash, the relative URLs of the assets would be wrong.
		// The redirect is relative, so that it can never lead to another host.
		h.Set("Location", "../"+path.Base(address))
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	if a, ok := s.assets[name]; ok {
		if r.URL.Query().Get("v") == a.Hash {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			h.Set("Cache-Control", "no-cache")
		}
		a.ServeHTTP(w, r)
		return
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	h.Set("Cache-Control", "no-cache")
	page.ServeHTTP(w, r)
}
