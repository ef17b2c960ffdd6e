package rest

import (
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cardwall/internal/trace"
)

// slowThreshold is the shortest duration of an operation that is logged as slow.
const slowThreshold = time.Second

// exchange wraps the response writer of a request in progress. It holds what end logs,
// counts and traces.
type exchange struct {
	http.ResponseWriter
	start     time.Time
	status    int    // 0 until the response begins
	operation string // name of the called operation; "" if none
	streams   bool   // the response is a stream or the request an upload, so the duration depends on the client
	span      *trace.Span
}

// begin counts a request as in flight and starts its span. It returns the request's
// exchange, and the request with the span in its context. It starts no span for health
// checks, without a tracer, or if the trace is not sampled.
func (h *handler) begin(w http.ResponseWriter, r *http.Request, id string) (*exchange, *http.Request) {
	x := &exchange{ResponseWriter: w, start: time.Now()}
	h.Metrics.inFlight.Inc()
	if h.Traces == nil || doorOf(r) == doorProbe {
		return x, r
	}
	ctx, span := h.Traces.Receive(r, methodOf(r))
	if span == nil {
		return x, r
	}
	x.span = span
	span.SetHeader(w.Header())
	span.Text("cardwall.request.id", id)
	return x, r.WithContext(ctx)
}

// end counts a request, logs it and ends its span. The log and the span contain
// the route instead of the path, because a path can contain a secret.
func (h *handler) end(x *exchange, r *http.Request, id string, aborted bool) {
	took := time.Since(x.start)
	if x.status == 0 {
		x.status = http.StatusOK // the default in net/http
	}
	h.Metrics.inFlight.Dec()
	h.Metrics.completed(r, x.status, took, x.streams)
	level := slog.LevelDebug
	if took >= slowThreshold && x.operation != "" && !x.streams {
		level = slog.LevelWarn
	}
	if ctx := r.Context(); h.Log.Enabled(ctx, level) {
		attrs := []slog.Attr{
			slog.String("request", id), slog.String("method", methodOf(r)), slog.String("route", routeOf(r)),
		}
		if x.operation != "" {
			attrs = append(attrs, slog.String("operation", x.operation))
		}
		message := "request"
		if level == slog.LevelWarn {
			message = "slow request"
		}
		attrs = append(attrs, slog.Int("status", x.status), slog.Float64("seconds", took.Seconds()))
		h.Log.LogAttrs(ctx, level, message, attrs...)
	}
	if x.span != nil {
		x.endSpan(r, aborted)
	}
}

// endSpan sets the span's name, attributes and status, and ends the span. The attributes
// follow OpenTelemetry's semantic conventions for HTTP servers, but without url.path.
func (x *exchange) endSpan(r *http.Request, aborted bool) {
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

// otherMethod stands for the methods that methodOf does not list. OpenTelemetry's
// semantic conventions define this value.
const otherMethod = "_OTHER"

// methodOf returns the method of a request, or otherMethod, so that clients cannot
// invent span names.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return otherMethod
}

// routeOf returns the route that matched a request, or "".
func routeOf(r *http.Request) string {
	if _, route, ok := strings.Cut(r.Pattern, " "); ok {
		return route
	}
	return r.Pattern
}

// Operation sets the name of the operation that the request calls, for the log.
// Package mcp calls it.
func (x *exchange) Operation(name string) { x.operation = name }

// exchangeOf returns w as an exchange. If w is another writer, such as one that wraps
// an exchange, it returns a new exchange whose fields nothing reads.
func exchangeOf(w http.ResponseWriter) *exchange {
	if x, ok := w.(*exchange); ok {
		return x
	}
	return &exchange{}
}

// WriteHeader implements http.ResponseWriter.
func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= http.StatusOK {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (x *exchange) Write(p []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	return x.ResponseWriter.Write(p)
}

// ReadFrom implements io.ReaderFrom, so that net/http can send a file without copying it.
func (x *exchange) ReadFrom(src io.Reader) (int64, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	return io.Copy(x.ResponseWriter, src)
}

// Unwrap returns the underlying writer. http.ResponseController calls it.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Flush implements http.Flusher. It ignores errors, because http.Flusher cannot return
// them.
func (x *exchange) Flush() { _ = http.NewResponseController(x.ResponseWriter).Flush() }
