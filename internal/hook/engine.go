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
	maxAttempts   = 2048  // concurrent attempts to all endpoints
	batchSize     = 64    // attempts checked per query
	maxUnrecorded = 4096  // results waiting to be written before new attempts are suspended
	maxOffered    = 16384 // committed deliveries waiting to be queued

	markAfter          = time.Second            // an attempt that takes longer is shown as delivering
	pollInterval       = 30 * time.Second       // in case deliveries were missed
	sharedPollInterval = 100 * time.Millisecond // with several servers, because others write deliveries
	pollRetry          = 5 * time.Second        // minimum pause after a failed poll
	maxPollPause       = 5 * time.Second        // the longest pause that a slow query causes
	pruneAfter         = 100                    // finished deliveries of an endpoint until its log is pruned
	pruneBatch         = 1000                   // maximum number of deliveries that one statement deletes
	recordInterval     = 5 * time.Millisecond   // minimum time between writes, so that one write stores many results
	recordPause        = time.Second            // after the database failed to store a result
	sweepInterval      = time.Minute
	stopTimeout        = 5 * time.Second // for attempts in progress when the server shuts down
)

// DefaultRate is the default number of attempts per second to one endpoint. Zapier
// refuses more than 30.
const DefaultRate = 25

var errStopping = errors.New("hook: the server is shutting down")

// Options configures an Engine.
type Options struct {
	DB    *store.DB
	Guard *Guard
	// Dial makes the connections; nil means Guard.Dial.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Roots are certificate authorities in addition to the system's; nil for none.
	Roots *x509.CertPool
	// Pauses are the pauses between attempts; nil means DefaultPauses.
	Pauses []time.Duration
	// Rate is the maximum number of attempts per second to each endpoint. 0 means DefaultRate,
	// and a negative value means no limit.
	Rate float64
	// Chance returns a random number in [0, 1) for jitter; nil means crypto/rand.
	Chance func() float64
	// Holder is the name of the server in its leases.
	Holder  string
	Metrics *Metrics      // nil for none
	Traces  *trace.Tracer // nil for none
	Log     *slog.Logger
}

// Engine sends deliveries. Each endpoint has a queue. The engine serves the queues
// round-robin, so that a hanging receiver does not delay others.
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
	pollNow   chan struct{}
	shards    chan map[int]bool
	busy      [board.WebhookShards]atomic.Int32 // attempts in progress or not recorded, by shard
	stopped   context.Context                   // cancels attempts that take too long when the server shuts down
	stop      context.CancelCauseFunc

	addresses addressBook
	failures  *backoff.Log

	mu        sync.Mutex
	announced map[string]struct{} // ids of deliveries whose transactions have not ended
	offered   []store.Dispatch
	missed    bool // whether deliveries were dropped because offered was full; the outbox has them
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
	after    store.DeliveryCursor
	limit    int
	due      store.Due
	err      error
}

// New returns an engine. It accepts deliveries that are committed from now on. Run
// sends them.
func New(o Options) *Engine {
	if o.Dial == nil {
		o.Dial = o.Guard.Dial
	}
	if o.Pauses == nil {
		o.Pauses = DefaultPauses()
	}
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
	if o.Chance == nil {
		o.Chance = random
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	e := &Engine{
		o: o, failures: backoff.NewLog(o.Log), transport: newTransport(o.Dial, o.Roots), announced: map[string]struct{}{},
		wake: make(chan struct{}, 1), checks: make(chan []*attempt, 1), results: make(chan result, batchSize),
		records: make(chan record, 1), recorded: make(chan recorded, 1), refills: make(chan refill, batchSize),
		queues: make(chan []store.Queue, 1), pollNow: make(chan struct{}, 1), shards: make(chan map[int]bool, 1),
	}
	o.DB.OnDispatch(e.announce)
	return e
}

// random returns a random number in [0, 1).
func random() float64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return float64(binary.BigEndian.Uint64(b[:])>>11) / (1 << 53)
}

// Run sends deliveries until ctx ends. Then it starts no more attempts, gives
// those in progress a few seconds, records their results and releases its
// leases. The next server sends the rest.
func (e *Engine) Run(ctx context.Context) {
	e.stopped, e.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	defer e.stop(nil)
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	helpers.Go(func() { e.check() })
	helpers.Go(func() { e.record(work) })
	helpers.Go(func() { e.poll(work) })
	helpers.Go(func() { e.lease(work) })
	newLoop(e).run(ctx)
	e.o.DB.OnDispatch(nil)
	close(e.checks)
	close(e.records)
	end()
	helpers.Wait()
	e.transport.CloseIdleConnections()
}

// announce registers deliveries that this process is about to commit. It never blocks.
//
// After the commit the deliveries are visible in the outbox, possibly before
// the committing goroutine hands them over. A read of the outbox must skip
// them. Otherwise a delivery could be read, sent, recorded and forgotten before
// it is handed over, and would then be sent again.
func (e *Engine) announce(deliveries []store.Dispatch) (ended func(committed bool)) {
	e.mu.Lock()
	for _, d := range deliveries {
		e.announced[d.ID] = struct{}{}
	}
	e.mu.Unlock()
	return func(committed bool) { e.offer(deliveries, committed) }
}

// offer hands over deliveries whose transaction has ended, if it was committed.
func (e *Engine) offer(deliveries []store.Dispatch, committed bool) {
	e.mu.Lock()
	for _, d := range deliveries {
		delete(e.announced, d.ID)
	}
	if !committed {
		e.mu.Unlock()
		return
	}
	if len(e.offered)+len(deliveries) > maxOffered {
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

// unannounced returns the deliveries that are not announced: no transaction of this
// process will hand them over.
func (e *Engine) unannounced(deliveries []store.Dispatch) []store.Dispatch {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(deliveries, func(d store.Dispatch) bool {
		_, announced := e.announced[d.ID]
		return announced
	})
}

// takeOffers returns the deliveries offered since the last call, and whether some were
// missed. It reuses the array of into for later offers.
func (e *Engine) takeOffers(into []store.Dispatch) (out []store.Dispatch, missed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	out, missed = e.offered, e.missed
	e.offered, e.missed = into[:0], false
	return out, missed
}

// check asks the store in batches whether attempts are still allowed, and starts those
// that are.
func (e *Engine) check() {
	var attempts sync.WaitGroup
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
			case err != nil: // still in the outbox
				r.verdict, r.reason = interrupted, err.Error()
			case !targets[i].Found:
				r.verdict = deleted
			case targets[i].OpenErr != nil:
				e.o.Log.Error("webhook secrets not readable", "webhook", a.endpoint.id, "error", targets[i].OpenErr)
				r.verdict, r.reason = forbidden, "refused: the webhook's address or secret cannot be opened with the "+
					"server's key"
			case targets[i].Lost:
				r.verdict, r.reason = lost, targets[i].Refusal
			case targets[i].Refusal != "":
				r.verdict, r.reason = skipped, targets[i].Refusal
			case targets[i].Until != 0 && a.delivery.Kind != board.KindWebhookTest:
				a.target, r.verdict = targets[i], waiting
			default:
				a.target = targets[i]
				attempts.Go(func() { e.results <- e.traced(e.stopped, a) })
				continue
			}
			e.results <- r
		}
	}
	attempts.Wait()
}

// record writes the results of attempts. It returns them with any error, so that the
// loop can retry.
func (e *Engine) record(ctx context.Context) {
	for r := range e.records {
		var err error
		if len(r.marks) > 0 { // before their results
			err = e.o.DB.MarkDelivering(ctx, r.marks)
		}
		if err == nil && len(r.outcomes)+len(r.holds) > 0 {
			err = e.o.DB.Record(ctx, r.outcomes, r.holds)
		}
		for _, id := range r.deleted {
			if err == nil {
				err = e.o.DB.DeletePendingDeliveries(ctx, id)
			}
		}
		e.recorded <- recorded{r, err}
	}
}

// Log messages for failing tasks.
const (
	cannotReadOutbox = "webhook outbox not read"
	cannotRead       = "deliveries not read"
	cannotRecord     = "deliveries not recorded"
	cannotPrune      = "delivery log not pruned"
	cannotLease      = "webhook shards not leased"
)

// poll searches the outbox for webhooks with pending deliveries when it starts, when the
// loop requests a poll, and periodically. Other servers write deliveries too, and this
// server may have missed some.
func (e *Engine) poll(ctx context.Context) {
	every := pollInterval
	if e.o.DB.Shared() {
		every = sharedPollInterval
	}
	if err := e.o.DB.Reschedule(ctx); err != nil && ctx.Err() == nil {
		e.failures.Failed("retries not rescheduled after a clock change", err)
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
			pause = max(pollRetry, e.failures.Failed(cannotReadOutbox, err))
		}
		select {
		case <-time.After(pollPause(pause, time.Since(began))):
		case <-e.pollNow:
		case <-ctx.Done():
			return
		}
	}
}

// pollPause returns the pause after a poll that took a given time. Polling takes at most
// a twentieth of the time. The pause is limited, because a poll may hang while the
// database is unreachable.
func pollPause(pause, took time.Duration) time.Duration {
	return max(pause, min(20*took, maxPollPause))
}

// refill reads due deliveries of an endpoint from the outbox.
func (e *Engine) refill(p *endpoint, after store.DeliveryCursor, limit int) {
	due, err := e.o.DB.Due(e.stopped, p.id, after, limit)
	e.refills <- refill{p, after, limit, due, err}
}
