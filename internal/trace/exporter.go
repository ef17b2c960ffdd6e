package trace

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	logInterval = time.Minute // minimum time between two log lines about lost spans
	maxReason   = 500         // maximum number of characters of the error in such a line
)

// exporter wraps the exporter of the SDK. It counts the spans that are sent and lost,
// and logs why spans are lost.
type exporter struct {
	sdk.SpanExporter
	log    *slog.Logger
	hide   *strings.Replacer // hides the path of the collector's URL, which may contain a secret
	logged time.Time         // time of the last log line; needs no lock, because batches are exported one at a time

	waiting, sent, lost atomic.Int64
}

// ExportSpans sends spans to the collector. It drops spans that cannot be sent, so that
// tracing cannot fill the server's memory. It returns no error, because the SDK would
// log the error again.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	n := int64(len(spans))
	e.waiting.Add(-n)
	if err == nil {
		e.sent.Add(n)
		return nil
	}
	e.lost.Add(n)
	if time.Since(e.logged) >= logInterval {
		e.logged = time.Now()
		e.log.Warn("traces not sent to the collector", "spans", n, "lost", e.lost.Load(), "error", e.reason(err))
	}
	return nil
}

// reason returns the text of an error for the log. The text may quote the collector's
// URL and response, so reason hides the URL's path and truncates the text.
func (e *exporter) reason(err error) string {
	text := e.hide.Replace(err.Error())
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason]) + "…"
	}
	return text
}

// queue drops spans while the maximum number of spans is waiting, and after it has
// been shut down. The SDK's batch processor would drop them too, but does not report how
// many.
type queue struct {
	sdk.SpanProcessor
	exporter *exporter
	limit    int64

	closing sync.RWMutex // read-locked while a span is queued
	closed  bool
}

// OnEnd queues an ended span. It does not wait for the collector.
func (q *queue) OnEnd(s sdk.ReadOnlySpan) {
	q.closing.RLock()
	defer q.closing.RUnlock()
	switch {
	case q.closed:
		q.exporter.lost.Add(1)
	case q.exporter.waiting.Add(1) > q.limit:
		q.exporter.waiting.Add(-1)
		q.exporter.lost.Add(1)
	default:
		q.SpanProcessor.OnEnd(s)
	}
}

// Shutdown exports the spans that are waiting. Spans that end later are lost.
func (q *queue) Shutdown(ctx context.Context) error {
	q.closing.Lock()
	q.closed = true
	q.closing.Unlock()
	return q.SpanProcessor.Shutdown(ctx)
}
