package trace

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures a Tracer. FromEnvironment returns them.
type Options struct {
	Endpoint   string            // the full URL of the collector's traces endpoint
	Headers    map[string]string // of each request
	Timeout    time.Duration     // of one request
	Gzip       bool
	Client     *http.Client
	Service    string
	Version    string
	Attributes map[string]string // of the process, in addition to service name and version
	Sampler    Sampler
	Queue      int           // maximum number of waiting spans; more are dropped
	Batch      int           // maximum number of spans per request
	Delay      time.Duration // how long a span waits for others
	Log        *slog.Logger
}

// Sampler decides at the first span here whether a trace is recorded.
type Sampler struct {
	Parent bool    // use the decision of the sender, if the request has a traceparent
	Share  float64 // share of all other traces, from 0 to 1
}

// Tracer records spans and sends them. A nil Tracer does nothing.
type Tracer struct {
	o     Options
	bound uint64 // traces are recorded if their random part is below it
	spans chan *Span
	done  chan struct{}

	closing sync.RWMutex // read-locked while a span is queued
	closed  bool
	stop    context.CancelFunc

	sent, lost atomic.Int64
	complained time.Time
}

// New returns a tracer. It sends spans until it is closed.
func New(o Options) *Tracer {
	ctx, stop := context.WithCancel(context.Background())
	t := &Tracer{o: o, spans: make(chan *Span, o.Queue), done: make(chan struct{}), stop: stop, bound: uint64(o.Sampler.Share * (1 << 63))}
	go t.run(ctx)
	return t
}

// Close sends the remaining spans until ctx ends.
func (t *Tracer) Close(ctx context.Context) {
	if t == nil {
		return
	}
	t.closing.Lock()
	if !t.closed {
		t.closed = true
		close(t.spans)
	}
	t.closing.Unlock()
	defer t.stop()
	select {
	case <-t.done:
	case <-ctx.Done():
		t.stop()
		<-t.done
	}
	t.o.Client.CloseIdleConnections()
}

// Sent returns how many spans the collector has accepted.
func (t *Tracer) Sent() int64 { return t.sent.Load() }

// Lost returns how many spans were dropped, because there were too many or the
// collector refused them.
func (t *Tracer) Lost() int64 { return t.lost.Load() }

// Start starts the first span of a trace, if the trace is sampled. Because
// links the span that caused the work; the zero Link is left out.
func (t *Tracer) Start(ctx context.Context, name string, kind Kind, because Link) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	return t.start(ctx, remote{}, name, kind, because)
}

// Receive starts the span of a request, in the sender's trace.
func (t *Tracer) Receive(r *http.Request, name string) (context.Context, *Span) {
	if t == nil {
		return r.Context(), nil
	}
	from, _ := received(r.Header)
	return t.start(r.Context(), from, name, Server, Link{})
}

func (t *Tracer) start(ctx context.Context, from remote, name string, kind Kind, because Link) (context.Context, *Span) {
	s := &Span{tracer: t, trace: from.trace, id: newID(), parent: from.span, state: from.state, name: name, kind: kind, begun: time.Now()}
	s.remote = s.parent != [8]byte{}
	if !s.remote {
		s.trace = newTrace()
	}
	if !t.samples(s, from) {
		return ctx, nil
	}
	if because != (Link{}) {
		s.links = append(s.links, because)
	}
	return s.into(ctx), s
}

// samples decides by the last bytes of the trace id, so that all programs with
// the same share record the same traces.
func (t *Tracer) samples(s *Span, from remote) bool {
	if s.remote && t.o.Sampler.Parent {
		return from.sampled
	}
	return binary.BigEndian.Uint64(s.trace[8:])>>1 < t.bound
}

// take queues an ended span. It never blocks.
func (t *Tracer) take(s *Span) {
	t.closing.RLock()
	defer t.closing.RUnlock()
	if t.closed {
		t.lost.Add(1)
		return
	}
	select {
	case t.spans <- s:
	default:
		t.lost.Add(1)
	}
}

// run sends spans in batches until the tracer is closed and the queue is empty.
func (t *Tracer) run(ctx context.Context) {
	defer close(t.done)
	batch := make([]*Span, 0, t.o.Batch)
	timer := time.NewTimer(t.o.Delay)
	defer timer.Stop()
	for {
		select {
		case s, open := <-t.spans:
			if !open {
				t.send(ctx, batch)
				return
			}
			if len(batch) == 0 {
				timer.Reset(t.o.Delay)
			}
			if batch = append(batch, s); len(batch) < t.o.Batch {
				continue
			}
		case <-timer.C:
		}
		t.send(ctx, batch)
		clear(batch)
		batch = batch[:0]
	}
}
