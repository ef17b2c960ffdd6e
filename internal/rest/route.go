package rest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"

	"cardwall/internal/op"
)

// routeOperations adds the routes of all operations.
func (h *handler) routeOperations() error {
	compressed, err := gzhttp.NewWrapper(
		gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false),
		gzhttp.SuffixETag(op.CompressedTag))
	if err != nil {
		return fmt.Errorf("prepare compression: %w", err)
	}
	methods := map[string][]string{}
	for _, o := range h.Registry.All() {
		var serve http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.operation(w, r, o) })
		// The size of a compressed response can reveal a secret (BREACH). A file is sent in ranges.
		if !o.Secret && !o.HasContent() {
			serve = compressed(serve)
		}
		h.routeOperation(o, Path(o), serve, methods)
		if !o.Promoted.IsZero() {
			h.routeOperation(o, ApplicationPrefix+o.Path, deprecated(o.Promoted, serve), methods)
		}
	}
	for path, allowed := range methods {
		route(h.paths, "", path, func(w http.ResponseWriter, r *http.Request) { h.wrongMethod(w, r, allowed) }, h.notFound)
	}
	h.routeUploads()
	return nil
}

// routeOperation adds a route of an operation, and its method to those of the path.
func (h *handler) routeOperation(o *op.Operation, path string, serve http.Handler, methods map[string][]string) {
	methods[path] = append(methods[path], o.Method)
	route(h.mux, o.Method+" ", path, func(w http.ResponseWriter, r *http.Request) {
		x := exchangeOf(w)
		x.operation, x.streams = o.Name, o.Streams() || o.HasContent() || o.TakesPart() || o.TakesPicture() ||
			o.TakesFile() && isForm(r)
		serve.ServeHTTP(w, r)
	}, h.unknown)
}

// The mux rejects the path of samples beside paths such as /webhooks/{webhookId}/deliveries,
// because neither is more specific. It gets the more general pattern instead.
const (
	samplesPath    = Prefix + "/webhooks/samples/{event}"
	samplesPattern = Prefix + "/webhooks/{folder}/{event}"
)

// route adds a path of operations to a mux. Method is "" for all methods, or ends with a
// space. Other serves requests that match the pattern in the mux, but not the path.
func route(mux *http.ServeMux, method, path string, serve, other http.HandlerFunc) {
	if path != samplesPath {
		mux.HandleFunc(method+path, serve)
		return
	}
	folder := strings.TrimSuffix(samplesPath, "{event}")
	mux.HandleFunc(method+samplesPattern, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, folder) {
			other(w, r)
			return
		}
		r.Pattern = method + samplesPath // for the log and traces
		serve(w, r)
	})
}
