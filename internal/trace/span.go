package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"
)

// Kind is the part that a span plays between programs, by its number in OTLP.
type Kind int

// The kinds of spans.
const (
	Internal Kind = 1
	Server   Kind = 2
	Client   Kind = 3
)

// Span is a piece of work that takes time. It is filled by one goroutine at a
// time; others may begin spans below it. All its methods may be called on nil,
// which records nothing.
type Span struct {
	tracer     *Tracer
	trace      [16]byte
	id, parent [8]byte // parent is zero for the first of a trace
	remote     bool    // the parent is another program's
	state      string  // tracestate, as it came
	name       string
	kind       Kind
	begun      time.Time
	took       time.Duration
	attributes []attribute
	links      []Link
	failed     bool
}

// attribute is what is known of a span, by the name that the semantic conventions
// of OpenTelemetry give it, or one that begins with "cardwall.".
type attribute struct {
	name   string
	text   string
	number int64
	isText bool
}

// Link names a span of another trace. The zero Link names none.
type Link struct {
	trace [16]byte
	span  [8]byte
}

type spanKey struct{}

// Of is the span that a context carries, nil for none.
func Of(ctx context.Context) *Span {
	s, _ := ctx.Value(spanKey{}).(*Span)
	return s
}

// Begin begins a span below the one in ctx. Where there is none it answers ctx and
// nil.
func Begin(ctx context.Context, name string, kind Kind) (context.Context, *Span) {
	s := Of(ctx).Begin(name, kind)
	return s.into(ctx), s
}

// Begin begins a span below this one.
func (s *Span) Begin(name string, kind Kind) *Span {
	if s == nil {
		return nil
	}
	return &Span{tracer: s.tracer, trace: s.trace, id: newID(), parent: s.id, state: s.state, name: name, kind: kind, begun: time.Now()}
}

// Past records a span below this one for what has ended already.
func (s *Span) Past(name string, from, to time.Time) *Span {
	p := s.Begin(name, Internal)
	if p != nil {
		p.begun, p.took = from, to.Sub(from)
	}
	return p
}

// into is a context that carries the span; ctx itself for nil.
func (s *Span) into(ctx context.Context) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(ctx, spanKey{}, s)
}

// Name gives the span a name that was not known when it began.
func (s *Span) Name(name string) {
	if s != nil {
		s.name = name
	}
}

// Text notes a text; an empty one is left out.
func (s *Span) Text(name, value string) {
	if s != nil && value != "" {
		s.attributes = append(s.attributes, attribute{name: name, text: clipped(value), isText: true})
	}
}

// Number notes a number.
func (s *Span) Number(name string, value int64) {
	if s != nil {
		s.attributes = append(s.attributes, attribute{name: name, number: value})
	}
}

// Fail says that the work failed, and by which of few words.
func (s *Span) Fail(kind string) {
	if s != nil {
		s.failed = true
		s.Text("error.type", kind)
	}
}

// End ends the span and hands it over. It is not touched any more then.
func (s *Span) End() {
	if s == nil {
		return
	}
	if s.took == 0 {
		s.took = time.Since(s.begun)
	}
	s.tracer.take(s)
}

// Link names the span for another trace to point to.
func (s *Span) Link() Link {
	if s == nil {
		return Link{}
	}
	return Link{trace: s.trace, span: s.id}
}

// TraceID is the trace's name as logs have it; "" for nil.
func (s *Span) TraceID() string {
	if s == nil {
		return ""
	}
	return hex.EncodeToString(s.trace[:])
}

// ID is the span's own name as logs have it; "" for nil.
func (s *Span) ID() string {
	if s == nil {
		return ""
	}
	return hex.EncodeToString(s.id[:])
}

// textMost is how many bytes of a text are kept, such as of a statement that
// writes many rows.
const textMost = 2 << 10

func clipped(text string) string {
	if len(text) <= textMost {
		return text
	}
	end := textMost
	for end > 0 && text[end]&0xc0 == 0x80 { // not inside a letter
		end--
	}
	return text[:end]
}

func newID() (id [8]byte) {
	for id == [8]byte{} { // zero is no id
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
