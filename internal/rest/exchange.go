package rest

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cardwall/internal/trace"
)

// slow is how long an operation takes that is worth a line of the log.
const slow = time.Second

// exchange is one request on its way, and what is known of its answer.
type exchange struct {
	http.ResponseWriter
	begun     time.Time
	status    int    // 0 before the answer begins
	operation string // that it calls; "" for none
	streams   bool   // for as long as its reader likes
	span      *trace.Span
}

// begin notes a request. Where it is recorded, the context of the one that it
// answers carries the span. Probes are not recorded.
func (h *handler) begin(w http.ResponseWriter, r *http.Request, id string) (*exchange, *http.Request) {
	x := &exchange{ResponseWriter: w, begun: time.Now()}
	h.Metrics.underWay.Inc()
	if h.Traces == nil || doorOf(r) == doorProbe {
		return x, r
	}
	ctx, span := h.Traces.Receive(r, methodOf(r))
	if span == nil {
		return x, r
	}
	x.span = span
	span.Answer(w.Header())
	span.Text("cardwall.request.id", id)
	return x, r.WithContext(ctx)
}

// end counts a request, logs it and ends its span. Neither has its path, which may
// hold what lets in whoever reads it, but the route.
func (h *handler) end(x *exchange, r *http.Request, id string, aborted bool) {
	took := time.Since(x.begun)
	if x.status == 0 {
		x.status = http.StatusOK // as net/http answers who wrote nothing
	}
	h.Metrics.underWay.Dec()
	h.Metrics.answered(r, x.status, took, x.streams)
	level := slog.LevelDebug
	if took >= slow && x.operation != "" && !x.streams {
		level = slog.LevelWarn
	}
	if ctx := r.Context(); h.Log.Enabled(ctx, level) {
		line := []slog.Attr{slog.String("request", id), slog.String("method", methodOf(r)), slog.String("route", routeOf(r))}
		if x.operation != "" {
			line = append(line, slog.String("operation", x.operation))
		}
		text := "request"
		if level == slog.LevelWarn {
			text = "slow request"
		}
		h.Log.LogAttrs(ctx, level, text, append(line, slog.Int("status", x.status), slog.Float64("seconds", took.Seconds()))...)
	}
	if x.span != nil {
		x.record(r, aborted)
	}
}

// record ends the span (semantic conventions of OpenTelemetry for HTTP servers,
// without url.path).
func (x *exchange) record(r *http.Request, aborted bool) {
	s, method, route := x.span, methodOf(r), routeOf(r)
	s.Name(strings.TrimSpace(method + " " + route))
	if method == otherMethod {
		s.Name(strings.TrimSpace("HTTP " + route))
	}
	s.Text("http.request.method", method)
	s.Text("http.route", route)
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	s.Text("url.scheme", scheme)
	s.Number("http.response.status_code", int64(x.status))
	switch {
	case aborted:
		s.Fail("aborted")
	case x.status >= http.StatusInternalServerError:
		s.Fail(strconv.Itoa(x.status))
	}
	s.End()
}

const otherMethod = "_OTHER" // of a client's own making

func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return otherMethod
}

// routeOf is the route that answers a request; "" for none.
func routeOf(r *http.Request) string {
	if _, route, ok := strings.Cut(r.Pattern, " "); ok {
		return route
	}
	return r.Pattern
}

// Operation says which operation the request calls.
func (x *exchange) Operation(name string) { x.operation = name }

// noted is what is known of the answer that a handler writes.
func noted(w http.ResponseWriter) *exchange {
	if x, ok := w.(*exchange); ok {
		return x
	}
	return &exchange{} // who wraps the writer is not told of
}

// WriteHeader begins the answer.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= http.StatusOK {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write writes a piece of the answer.
func (x *exchange) Write(p []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	return x.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Flush sends what is written so far, if the connection can.
func (x *exchange) Flush() { _ = http.NewResponseController(x.ResponseWriter).Flush() }
