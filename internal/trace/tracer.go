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

// Options say where spans go and which are recorded. FromEnvironment makes them.
type Options struct {
	Endpoint   string            // the whole address of the collector's traces
	Headers    map[string]string // of each request to it
	Timeout    time.Duration     // of one request
	Gzip       bool
	Client     *http.Client
	Service    string
	Version    string
	Attributes map[string]string // of the process, beside its service and version
	Sampler    Sampler
	Queue      int           // spans that wait; those that come when it is full are dropped
	Batch      int           // most spans of one request
	Delay      time.Duration // how long a span waits for others
	Log        *slog.Logger
}

// Sampler decides which traces are recorded, at their first span here.
type Sampler struct {
	Parent bool    // who sent the request decides, where it sent a traceparent
	Share  float64 // of the others, 0 to 1
}

// Tracer records spans and sends them. A nil Tracer records nothing.
type Tracer struct {
	o     Options
	bound uint64 // of a trace's random part, below which it is recorded
	spans chan *Span
	done  chan struct{}

	closing sync.RWMutex // held for reading while a span is handed over
	closed  bool
	stop    context.CancelFunc

	sent, lost atomic.Int64
	complained time.Time
}

// New makes a tracer, which sends what it records until it is closed.
func New(o Options) *Tracer {
	ctx, stop := context.WithCancel(context.Background())
	t := &Tracer{o: o, spans: make(chan *Span, o.Queue), done: make(chan struct{}), stop: stop, bound: uint64(o.Sampler.Share * (1 << 63))}
	go t.run(ctx)
	return t
}

// Close sends what is left, for as long as ctx allows.
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

// Sent is how many spans the collector has taken.
func (t *Tracer) Sent() int64 { return t.sent.Load() }

// Lost is how many spans were dropped: there were too many, or the collector did
// not take them.
func (t *Tracer) Lost() int64 { return t.lost.Load() }

// Start begins the first span of a trace, if the trace is to be recorded. What set
// the work off elsewhere is linked; the zero Link is left out.
func (t *Tracer) Start(ctx context.Context, name string, kind Kind, because Link) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	return t.start(ctx, remote{}, name, kind, because)
}

// Receive begins the span of a request, in the trace of who sent it.
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

// samples decides by the last bytes of the trace's id, so that all programs that
// take the same share take the same traces.
func (t *Tracer) samples(s *Span, from remote) bool {
	if s.remote && t.o.Sampler.Parent {
		return from.sampled
	}
	return binary.BigEndian.Uint64(s.trace[8:])>>1 < t.bound
}

// take queues a span that has ended. It never waits.
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

// run sends spans in batches until the tracer is closed and nothing is left.
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
