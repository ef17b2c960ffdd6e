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
	logEvery  = time.Minute // shortest time between two log lines about lost spans
	maxReason = 500         // characters of the reason in such a line
)

// exporter counts the spans that its exporter sends or loses, and logs why.
type exporter struct {
	sdk.SpanExporter
	log    *slog.Logger
	hide   *strings.Replacer // of the path of the collector's URL, which may hold a secret
	logged time.Time         // only one batch is exported at a time

	waiting, sent, lost atomic.Int64
}

// ExportSpans sends spans to the collector. Spans that it refuses are dropped,
// so that tracing cannot fill the server's memory. It returns no error, because
// the SDK would log it again.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	n := int64(len(spans))
	e.waiting.Add(-n)
	if err == nil {
		e.sent.Add(n)
		return nil
	}
	e.lost.Add(n)
	if time.Since(e.logged) >= logEvery {
		e.logged = time.Now()
		e.log.Warn("traces not sent to the collector", "spans", n, "lost", e.lost.Load(), "error", e.reason(err))
	}
	return nil
}

// reason returns the text of an error for the log. The text may quote the
// collector's URL and the response.
func (e *exporter) reason(err error) string {
	text := e.hide.Replace(err.Error())
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason]) + "…"
	}
	return text
}

// queue drops spans while as many as the limit are waiting, and after it was
// shut down. The SDK's batch processor would drop them as well, but does not
// report how many.
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
