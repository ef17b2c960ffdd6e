package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"
)

// Kind is the role of a span in a trace, as numbered by OTLP.
type Kind int

// The kinds of spans.
const (
	Internal Kind = 1
	Server   Kind = 2
	Client   Kind = 3
)

// Span is a timed piece of work. Only one goroutine at a time may modify it,
// but others may start child spans. All methods do nothing on nil.
type Span struct {
	tracer     *Tracer
	trace      [16]byte
	id, parent [8]byte // parent is zero for the root span of a trace
	remote     bool    // the parent is in another program
	state      string  // the received tracestate
	name       string
	kind       Kind
	begun      time.Time
	took       time.Duration
	attributes []attribute
	links      []Link
	failed     bool
}

// attribute is an attribute of a span. Its name follows OpenTelemetry's
// semantic conventions or starts with "cardwall.".
type attribute struct {
	name   string
	text   string
	number int64
	isText bool
}

// Link identifies a span of another trace. The zero Link identifies none.
type Link struct {
	trace [16]byte
	span  [8]byte
}

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
	return &Span{tracer: s.tracer, trace: s.trace, id: newID(), parent: s.id, state: s.state, name: name, kind: kind, begun: time.Now()}
}

// Past records a child span for work that has already ended.
func (s *Span) Past(name string, from, to time.Time) *Span {
	p := s.Begin(name, Internal)
	if p != nil {
		p.begun, p.took = from, to.Sub(from)
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
		s.name = name
	}
}

// Text sets a text attribute. Empty texts are left out.
func (s *Span) Text(name, value string) {
	if s != nil && value != "" {
		s.attributes = append(s.attributes, attribute{name: name, text: clipped(value), isText: true})
	}
}

// Number sets an integer attribute.
func (s *Span) Number(name string, value int64) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{name: name, number: value})
	}
}

// Fail marks the span as failed. The kind is one of a fixed set of words.
func (s *Span) Fail(kind string) {
	if s != nil {
		s.failed = true
		s.Text("error.type", kind)
	}
}

// End ends the span and queues it. The span must not be used afterwards.
func (s *Span) End() {
	if s == nil {
		return
	}
	if s.took == 0 {
		s.took = time.Since(s.begun)
	}
	s.tracer.take(s)
}

// Link returns a link to the span for another trace.
func (s *Span) Link() Link {
	if s == nil {
		return Link{}
	}
	return Link{trace: s.trace, span: s.id}
}

// TraceID returns the id of the trace in the format of logs; "" for nil.
func (s *Span) TraceID() string {
	if s == nil {
		return ""
	}
	return hex.EncodeToString(s.trace[:])
}

// ID returns the id of the span in the format of logs; "" for nil.
func (s *Span) ID() string {
	if s == nil {
		return ""
	}
	return hex.EncodeToString(s.id[:])
}

// textMost is the maximum length of a text in bytes, for example of a statement
// that writes many rows.
const textMost = 2 << 10

func clipped(text string) string {
	if len(text) <= textMost {
		return text
	}
	end := textMost
	for end > 0 && text[end]&0xc0 == 0x80 { // not inside a UTF-8 character
		end--
	}
	return text[:end]
}

func newID() (id [8]byte) {
	for id == [8]byte{} { // zero is not a valid id
		_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	}
	return id
}

func newTrace() (id [16]byte) {
	for id == [16]byte{} {
		_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	}
	return id
}
