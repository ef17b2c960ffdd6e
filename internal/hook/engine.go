package hook

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cardwall/internal/backoff"
	"cardwall/internal/board"
	"cardwall/internal/store"
	"cardwall/internal/trace"
)

const (
	attemptsAtOnce = 2048 // attempts under way to all endpoints
	batchSize      = 64   // attempts that are checked in one reading
	unrecordedMost = 4096 // results that wait to be written, before no more attempts begin
	offeredMost    = 16384

	markAfter   = time.Second            // an attempt that takes longer is shown as delivering
	lookEvery   = 30 * time.Second       // in vain, unless deliveries were missed
	lookShared  = 100 * time.Millisecond // with several servers, where others write deliveries
	lookAgain   = 5 * time.Second        // after a failure
	lookMost    = 5 * time.Second        // that a slow reading puts the next one off
	pruneEvery  = 100                    // deliveries of an endpoint that ended
	pruneAtOnce = 1000
	recordEvery = 5 * time.Millisecond // at most, so that one writing takes many results
	recordPause = time.Second          // after the database did not take a record
	sweepEvery  = time.Minute
	stopTime    = 5 * time.Second // for attempts under way when the server stops
)

// DefaultPace is how many attempts a second one endpoint gets (Zapier refuses
// more than 30).
const DefaultPace = 25

var errStopping = errors.New("hook: the server stops")

// Options say how deliveries are sent.
type Options struct {
	DB      *store.DB
	Guard   *Guard
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil is Guard.Dial
	Roots   *x509.CertPool                                                       // authorities besides the system's; nil for those alone
	Pauses  []time.Duration                                                      // between attempts; nil is DefaultPauses
	Pace    float64                                                              // attempts a second and endpoint; 0 is DefaultPace, less is no pace
	Chance  func() float64                                                       // in [0, 1), for jitter; nil is crypto/rand
	Holder  string                                                               // the server's own name, for its leases
	Metrics *Metrics                                                             // nil for none
	Traces  *trace.Tracer                                                        // nil for none
	Log     *slog.Logger
}

// Engine sends deliveries. One endpoint is one queue; all queues are served in
// turn, so that one whose receiver hangs delays no other.
type Engine struct {
	o         Options
	transport *http.Transport
	wake      chan struct{}
	checks    chan []*attempt
	results   chan result
	records   chan record
	recorded  chan recorded
	refills   chan refill
	queues    chan []store.Queue
	lookNow   chan struct{}
	shards    chan map[int]bool
	busy      [board.WebhookShards]atomic.Int32 // attempts that are under way or not recorded, by shard
	stopped   context.Context                   // ends attempts that take too long when the server stops
	stop      context.CancelCauseFunc

	addresses addressBook
	failures  *backoff.Log

	mu        sync.Mutex
	announced map[string]struct{} // ids of deliveries whose transactions have not ended
	offered   []store.Dispatch
	missed    bool // some were not taken; they are in the outbox
}

type record struct {
	outcomes []store.Outcome
	holds    []store.Hold
	marks    []string
	deleted  []string
}

type recorded struct {
	record
	err error
}

type refill struct {
	endpoint *endpoint
	behind   store.Place
	limit    int
	due      store.Due
	err      error
}

// New makes an engine, which takes the deliveries that are committed from now on;
// Run sends them.
func New(o Options) *Engine {
	if o.Dial == nil {
		o.Dial = o.Guard.Dial
	}
	if o.Pauses == nil {
		o.Pauses = DefaultPauses()
	}
	if o.Pace == 0 {
		o.Pace = DefaultPace
	}
	if o.Chance == nil {
		o.Chance = chance
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	e := &Engine{
		o: o, failures: backoff.NewLog(o.Log), transport: newTransport(o.Dial, o.Roots), announced: map[string]struct{}{},
		wake: make(chan struct{}, 1), checks: make(chan []*attempt, 1), results: make(chan result, batchSize),
		records: make(chan record, 1), recorded: make(chan recorded, 1), refills: make(chan refill, batchSize),
		queues: make(chan []store.Queue, 1), lookNow: make(chan struct{}, 1), shards: make(chan map[int]bool, 1),
	}
	o.DB.OnDispatch(e.announce)
	return e
}

// chance is a number in [0, 1).
func chance() float64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return float64(binary.BigEndian.Uint64(b[:])>>11) / (1 << 53)
}

// Run sends deliveries until ctx ends. Then it begins no more attempts, lets
// those under way end within a few seconds, records what came of them and gives
// up its leases. What was not sent then is sent by the next server.
func (e *Engine) Run(ctx context.Context) {
	e.stopped, e.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	defer e.stop(nil)
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	helpers.Go(func() { e.check() })
	helpers.Go(func() { e.record(work) })
	helpers.Go(func() { e.look(work) })
	helpers.Go(func() { e.lease(work) })
	newLoop(e).run(ctx)
	e.o.DB.OnDispatch(nil)
	close(e.checks)
	close(e.records)
	end()
	helpers.Wait()
	e.transport.CloseIdleConnections()
}

// announce learns of deliveries that are about to be committed here, and takes
// them when they are. It never waits.
//
// A commit is visible in the outbox before its goroutine gets to hand it over. A
// reading of the outbox must leave such a delivery to the hand-over: if it took
// it, the delivery could be sent and recorded, and so forgotten, by the time that
// it is handed over, and would be sent again.
func (e *Engine) announce(deliveries []store.Dispatch) (ended func(committed bool)) {
	e.mu.Lock()
	for _, d := range deliveries {
		e.announced[d.ID] = struct{}{}
	}
	e.mu.Unlock()
	return func(committed bool) { e.offer(deliveries, committed) }
}

// offer takes deliveries whose transaction has ended, if it was committed.
func (e *Engine) offer(deliveries []store.Dispatch, committed bool) {
	e.mu.Lock()
	for _, d := range deliveries {
		delete(e.announced, d.ID)
	}
	if !committed {
		e.mu.Unlock()
		return
	}
	if len(e.offered)+len(deliveries) > offeredMost {
		e.missed = true
	} else {
		e.offered = append(e.offered, deliveries...)
	}
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// unannounced is those of the deliveries that no transaction of this process is
// about to hand over.
func (e *Engine) unannounced(deliveries []store.Dispatch) []store.Dispatch {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(deliveries, func(d store.Dispatch) bool {
		_, coming := e.announced[d.ID]
		return coming
	})
}

// taken are the deliveries that were offered since it was last called.
func (e *Engine) taken(into []store.Dispatch) (out []store.Dispatch, missed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	out, missed = e.offered, e.missed
	e.offered, e.missed = into[:0], false
	return out, missed
}

// check asks for each attempt whether it may be made, in batches, and begins it.
func (e *Engine) check() {
	var under sync.WaitGroup
	for batch := range e.checks {
		deliveries := make([]store.Dispatch, len(batch))
		for i, a := range batch {
			deliveries[i] = a.delivery
		}
		targets, err := e.o.DB.Targets(e.stopped, deliveries)
		for i, a := range batch {
			a.at = board.InstantOf(e.o.DB.Now())
			r := result{attempt: a}
			switch {
			case err != nil: // the outbox still has it
				r.verdict, r.reason = interrupted, err.Error()
			case !targets[i].Found:
				r.verdict = deleted
			case targets[i].Sealed != nil:
				e.o.Log.Error("a webhook's address or secret cannot be opened", "webhook", a.endpoint.id, "error", targets[i].Sealed)
				r.verdict, r.reason = forbidden, "refused: the webhook's address or secret cannot be opened with the server's key"
			case targets[i].Lost:
				r.verdict, r.reason = lost, targets[i].Refusal
			case targets[i].Refusal != "":
				r.verdict, r.reason = skipped, targets[i].Refusal
			case targets[i].Until != 0 && a.delivery.Kind != board.KindWebhookTest:
				a.target, r.verdict = targets[i], waiting
			default:
				a.target = targets[i]
				under.Go(func() { e.results <- e.traced(e.stopped, a) })
				continue
			}
			e.results <- r
		}
	}
	under.Wait()
}

// record writes what came of attempts. What is not written is handed back.
func (e *Engine) record(ctx context.Context) {
	for r := range e.records {
		var err error
		if len(r.marks) > 0 { // before what came of them meanwhile
			err = e.o.DB.MarkDelivering(ctx, r.marks)
		}
		if err == nil && len(r.outcomes)+len(r.holds) > 0 {
			err = e.o.DB.Record(ctx, r.outcomes, r.holds)
		}
		for _, id := range r.deleted {
			if err == nil {
				err = e.o.DB.ForgetDeliveries(ctx, id)
			}
		}
		e.recorded <- recorded{r, err}
	}
}

// What the log says while a task fails.
const (
	cannotReadOutbox = "the outbox of webhooks cannot be read"
	cannotRead       = "deliveries cannot be read"
	cannotRecord     = "deliveries wait to be recorded"
	cannotPrune      = "a delivery log was not pruned"
	cannotLease      = "the shards of webhooks are not leased"
)

// look reads now and then which webhooks have open deliveries: at the start,
// and for what another server wrote.
func (e *Engine) look(ctx context.Context) {
	every := lookEvery
	if e.o.DB.Shared() {
		every = lookShared
	}
	if err := e.o.DB.Reschedule(ctx); err != nil && ctx.Err() == nil {
		e.failures.Failed("retries are not compared with the clock", err)
	}
	for {
		began, pause := time.Now(), every
		found, err := e.o.DB.Queues(ctx)
		switch {
		case err == nil:
			e.failures.Succeeded(cannotReadOutbox)
			select {
			case e.queues <- found:
			case <-ctx.Done():
				return
			}
		case ctx.Err() == nil:
			pause = max(lookAgain, e.failures.Failed(cannotReadOutbox, err))
		}
		select {
		case <-time.After(lookRest(pause, time.Since(began))):
		case <-e.lookNow:
		case <-ctx.Done():
			return
		}
	}
}

// lookRest is how long not to look after a reading that took so long: a twentieth
// of the time goes into looking. A reading that hung because the database could
// not be reached says nothing about its cost, and puts the next off by little.
func lookRest(pause, took time.Duration) time.Duration {
	return max(pause, min(20*took, lookMost))
}

// refill reads deliveries of an endpoint whose time has come.
func (e *Engine) refill(p *endpoint, behind store.Place, limit int) {
	due, err := e.o.DB.Due(e.stopped, p.id, behind, limit)
	e.refills <- refill{p, behind, limit, due, err}
}
