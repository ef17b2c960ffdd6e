package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// site is the rendered page with its assets. It is read-only once built.
type site struct {
	page   *asset
	assets map[string]*asset
}

// asset is one body in both encodings. Each encoding has an entity tag of its
// own, since a strong tag names exact bytes (RFC 9110, 8.8.3).
type asset struct {
	kind  string
	hash  string
	plain []byte
	gzip  []byte
}

func newAsset(body []byte, kind string) (*asset, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return &asset{kind: kind, hash: hex.EncodeToString(sum[:8]), plain: body, gzip: packed.Bytes()}, nil
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
		if r.URL.Query().Get("v") == a.hash {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			h.Set("Cache-Control", "no-cache")
		}
		a.serve(w, r)
		return
	}
	if name != mount && r.URL.Path != "" {
		http.NotFound(w, r)
		return
	}
	h.Set("Cache-Control", "no-cache")
	s.page.serve(w, r)
}

func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	body, tag := a.plain, `"`+a.hash+`"`
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	h.Set("Content-Type", a.kind)
	if acceptsGzip(r.Header.Values("Accept-Encoding")) {
		body, tag = a.gzip, `"`+a.hash+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	if matches(r.Header.Values("If-None-Match"), tag) {
		h.Del("Content-Type")
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body) // the reader may have left; there is nobody to tell
}

// matches compares weakly, as RFC 9110, 13.1.2 asks for If-None-Match.
func matches(headers []string, tag string) bool {
	for one := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		one = strings.TrimSpace(one)
		if one == "*" || strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}

// acceptsGzip reads Accept-Encoding (RFC 9110, 12.5.3): gzip by name decides,
// else the star; a weight of zero refuses.
func acceptsGzip(headers []string) bool {
	star := false
	for one := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		name, params, _ := strings.Cut(one, ";")
		ok := true
		if key, q, found := strings.Cut(strings.TrimSpace(params), "="); found && strings.EqualFold(strings.TrimSpace(key), "q") {
			weight, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
			ok = err == nil && weight > 0
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			return ok
		case "*":
			star = ok
		}
	}
	return star
}
