package docs

import (
	"net/http"
	"path"
	"strings"

	"cardwall/internal/asset"
)

// site is the rendered page with its assets. It is read-only once built.
type site struct {
	page   *asset.Asset
	assets map[string]*asset.Asset
}

// ServeHTTP answers GET and HEAD of the page and of its assets. Only the end
// of the path counts, so it works with and without http.StripPrefix.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if h.Get("Content-Security-Policy") == "" {
		h.Set("Content-Security-Policy", Policy)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "The reference can only be read.", http.StatusMethodNotAllowed)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/") {
		// With a slash at the end the relative addresses would miss. Relative to
		// the request, so that no path can turn it into another host.
		h.Set("Location", "../"+mount)
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	name := path.Base(r.URL.Path)
	if a, ok := s.assets[name]; ok {
		if r.URL.Query().Get("v") == a.Hash {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			h.Set("Cache-Control", "no-cache")
		}
		a.ServeHTTP(w, r)
		return
	}
	if name != mount && r.URL.Path != "" {
		http.NotFound(w, r)
		return
	}
	h.Set("Cache-Control", "no-cache")
	s.page.ServeHTTP(w, r)
}
