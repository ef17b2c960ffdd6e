package trace

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	api "go.opentelemetry.io/otel/trace"
)

// Kind is the role of a span in a trace.
type Kind = api.SpanKind

// The kinds of spans.
const (
	Internal = api.SpanKindInternal
	Server   = api.SpanKindServer
	Client   = api.SpanKindClient
)

// Span is a timed piece of work. Only one goroutine at a time may modify it,
// but others may start child spans. On a nil Span, methods do nothing and return
// zero values.
type Span struct {
	tracer api.Tracer
	span   api.Span
	below  context.Context // holds only the span, for its children
	ended  time.Time       // zero unless the work had ended before the span was started
}

// Link identifies a span of another trace. The zero Link identifies none.
type Link struct{ context api.SpanContext }

type spanKey struct{}

// Of returns the span in a context, or nil.
func Of(ctx context.Context) *Span {
	s, _ := ctx.Value(spanKey{}).(*Span)
	return s
}

// Begin starts a child of the span in ctx. If there is none, it returns ctx and
// nil.
func Begin(ctx context.Context, name string, kind Kind) (context.Context, *Span) {
	s := Of(ctx).Begin(name, kind)
	return s.into(ctx), s
}

// Begin starts a child span.
func (s *Span) Begin(name string, kind Kind) *Span {
	if s == nil {
		return nil
	}
	return start(s.below, s.tracer, name, kind)
}

// Past starts a child span for work that began at from and ended at to. The caller must
// call End, which ends the span at to.
func (s *Span) Past(name string, from, to time.Time) *Span {
	if s == nil {
		return nil
	}
	p := start(s.below, s.tracer, name, Internal, api.WithTimestamp(from))
	if p != nil {
		p.ended = to
	}
	return p
}

// into returns a context with the span, or ctx itself for nil.
func (s *Span) into(ctx context.Context) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(ctx, spanKey{}, s)
}

// Name sets the name of the span.
func (s *Span) Name(name string) {
	if s != nil {
		s.span.SetName(name)
	}
}

// Text sets a string attribute. It ignores an empty string.
func (s *Span) Text(name, value string) {
	if s != nil && value != "" {
		s.span.SetAttributes(attribute.String(name, value))
	}
}

// Number sets an integer attribute.
func (s *Span) Number(name string, value int64) {
	if s != nil {
		s.span.SetAttributes(attribute.Int64(name, value))
	}
}

// Fail marks the span as failed and sets error.type to kind. The kind must be one of a
// fixed set of values.
func (s *Span) Fail(kind string) {
	if s != nil {
		s.span.SetStatus(codes.Error, "")
		s.Text("error.type", kind)
	}
}

// End ends the span and queues it. The span must not be used afterwards.
func (s *Span) End() {
	if s != nil {
		s.span.End(api.WithTimestamp(s.ended)) // the zero time means now
	}
}

// SetHeader sets the Traceresponse header to the ids of the trace and the span (W3C Trace
// Context, level 2).
func (s *Span) SetHeader(header http.Header) {
	if s != nil {
		header.Set("Traceresponse", "00-"+s.TraceID()+"-"+s.ID()+"-01")
	}
}

// Link returns a link to the span, for use in another trace.
func (s *Span) Link() Link {
	if s == nil {
		return Link{}
	}
	return Link{s.span.SpanContext()}
}

// TraceID returns the id of the trace as it appears in logs, or "" for nil.
func (s *Span) TraceID() string {
	if s == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// ID returns the id of the span as it appears in logs, or "" for nil.
func (s *Span) ID() string {
	if s == nil {
		return ""
	}
	return s.span.SpanContext().SpanID().String()
}
