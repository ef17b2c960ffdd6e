package hook

import (
	"container/heap"
	"net/http"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	maxEndpointAttempts = 8  // concurrent attempts per endpoint
	burst               = 5  // attempts that the rate limit allows without a delay after an idle period
	window              = 64 // deliveries of an endpoint in memory; the others remain in the outbox
	rewindAfter         = 16 // one in this many reads of the outbox starts again with the oldest delivery

	failuresToHold    = 3 // consecutive attempts without a valid response or with a 5xx response
	probePause        = time.Second
	maxProbePause     = 30 * time.Second // equal to the shortest retry pause, so that probing never delays a retry
	maxRequestedPause = time.Hour        // the longest pause that a receiver can request with Retry-After
)

// endpoint is the queue of one webhook, with its rate limit and the state of its
// receiver. The engine's loop owns it.
type endpoint struct {
	id      string
	first   []store.Dispatch    // first attempts, oldest first
	retries []store.Dispatch    // oldest first
	tests   []store.Dispatch    // a person is waiting for them, so holds do not delay them
	known   map[string]struct{} // ids that are queued, in progress, or not recorded yet

	more      bool                 // whether the outbox may have more deliveries that are due
	next      board.Instant        // when the next delivery that is not due yet is due; 0 if there is none
	refilling bool                 // whether a read of the outbox is in progress
	read      store.DeliveryCursor // end of the last read of first attempts; zero to start with the oldest
	reads     int                  // reads since the last one that started with the oldest
	rewind    bool                 // whether the next read must start with the oldest
	recorded  map[string]struct{}  // ids removed from known since the read started

	inProgress int
	tokens     float64   // attempts that the rate limit allows now
	filled     time.Time // when tokens was last updated

	failing  bool          // whether failed deliveries may have been recorded since the last success
	failures int           // consecutive attempts without a valid response or with a 5xx response
	held     bool          // whether only one probe at a time is sent
	since    board.Instant // when held was set
	probeAt  time.Time     // time of the next probe

	until  time.Time // end of the pause that the receiver requested; only tests are sent before it
	pauses int       // consecutive requested pauses without a duration

	ended  int       // deliveries finished since the log was pruned
	ready  bool      // whether the endpoint is in the loop's line
	wakeAt time.Time // when the endpoint must be processed again; zero for never
}

// offer queues a delivery unless it is already in memory. handedOver means that this process
// has just committed the delivery. Such a delivery stays in the outbox if the queue is full or
// the outbox may have earlier ones. A delivery read from the outbox is not queued if it was
// recorded during the read.
func (p *endpoint) offer(d store.Dispatch, handedOver bool) {
	if _, known := p.known[d.ID]; known {
		return
	}
	if _, recorded := p.recorded[d.ID]; recorded && !handedOver {
		return // the outbox was read before the delivery was recorded
	}
	queue := &p.first
	switch {
	case d.Kind == board.KindWebhookTest:
		queue = &p.tests
	case d.Attempts > 0:
		queue = &p.retries
	}
	// Tests have no order relative to other deliveries, and must not wait for held
	// ones.
	if handedOver && (p.more && queue != &p.tests || len(*queue) >= window) {
		p.more = true
		return
	}
	p.known[d.ID] = struct{}{}
	*queue = append(*queue, d)
}

// queued returns the number of deliveries in memory that are waiting to be sent.
func (p *endpoint) queued() int { return len(p.tests) + len(p.first) + len(p.retries) }

// clearQueues drops all queued deliveries.
func (p *endpoint) clearQueues() {
	for _, queue := range [][]store.Dispatch{p.tests, p.first, p.retries} {
		for _, d := range queue {
			p.forget(d.ID)
		}
	}
	p.tests, p.first, p.retries, p.more, p.next, p.rewind = nil, nil, nil, false, 0, true
}

// startRefill marks a read of the outbox as in progress and returns its range. The read
// continues where the last one ended, so that deliveries in memory are not read again.
// If rewind is set, and once every rewindAfter reads, it starts with the oldest delivery.
func (p *endpoint) startRefill() (after store.DeliveryCursor, limit int) {
	p.refilling, p.more = true, false
	if p.reads++; p.rewind || p.reads == rewindAfter {
		p.read, p.reads, p.rewind = store.DeliveryCursor{}, 0, false
	}
	if p.read == (store.DeliveryCursor{}) {
		return p.read, window + len(p.known)
	}
	return p.read, window
}

// finishRefill queues deliveries from the outbox. full means that there may be more.
// Transactions that started earlier but committed later may have added deliveries
// before the position of the last read. So the outbox counts as empty only after a read
// that started with the oldest delivery.
func (p *endpoint) finishRefill(r *refill, full bool) {
	for _, d := range r.due.Deliveries {
		p.offer(d, false)
	}
	clear(p.recorded)
	p.read = r.due.Last
	p.more = p.more || p.read != store.DeliveryCursor{} || r.after != store.DeliveryCursor{} || full
	if next := r.due.Next; next != 0 && (p.next == 0 || next < p.next) {
		p.next = next
	}
}

// forget removes a delivery from memory. A read of the outbox that is in progress does not
// queue it again.
func (p *endpoint) forget(id string) {
	delete(p.known, id)
	if p.refilling {
		p.recorded[id] = struct{}{}
	}
}

// take removes and returns the next delivery that may be sent now, and counts it as in
// progress. If there is none, wait is the time until there may be one, or 0 if that time
// is not known.
func (p *endpoint) take(now time.Time, rate float64) (d store.Dispatch, ok bool, wait time.Duration) {
	held := p.held && len(p.tests) == 0
	probeAt := later(p.probeAt, p.until)
	switch {
	case p.queued() == 0, p.inProgress >= maxEndpointAttempts, held && p.inProgress > 0:
		return d, false, 0
	case held && now.Before(probeAt):
		return d, false, probeAt.Sub(now)
	}
	if rate > 0 {
		p.tokens = min(burst, p.tokens+now.Sub(p.filled).Seconds()*rate)
		p.filled = now
		if p.tokens < 1 {
			return d, false, time.Duration((1 - p.tokens) / rate * float64(time.Second))
		}
		p.tokens--
	}
	queue := &p.first
	switch {
	case len(p.tests) > 0:
		queue = &p.tests
	// A probe is the delivery that has waited longest, so that deliveries
	// finish in the order in which they started.
	case len(p.first) == 0 || p.held && len(p.retries) > 0:
		queue = &p.retries
	}
	d, (*queue)[0] = (*queue)[0], store.Dispatch{} // release its body, which the queue's array would retain
	*queue = (*queue)[1:]
	p.inProgress++
	return d, true, 0
}

// update updates the state of the receiver with a result. It reports whether
// deliveries are now held, held for longer, or no longer held.
func (p *endpoint) update(r *result, now time.Time) (changed bool) {
	switch r.verdict {
	case unreachable:
		p.failures++
		if p.failures >= failuresToHold {
			pause := probePause << min(p.failures-failuresToHold, 10)
			p.probeAt = now.Add(min(pause, maxProbePause))
			changed = !p.held
			p.held = true
		}
		if r.status == http.StatusServiceUnavailable && r.later > 0 {
			changed = p.pause(now, r.later) || changed
		}
	case throttled: // does not show whether earlier failures are over
		changed = p.pause(now, r.later)
	case accepted, refused, gone:
		p.failures = 0
		if now.Before(p.until) {
			return false // a test, or an attempt from before the receiver requested a pause
		}
		changed = p.held
		p.held, p.pauses = false, 0
	case forbidden, skipped, lost, deleted, waiting, interrupted: // says nothing about the receiver
	}
	return changed
}

// pause holds all deliveries except tests for the time that the receiver requested, at
// most an hour. Without a requested time, the pauses grow from a second to half a
// minute, like those of probes. Responses to attempts that are already in progress do
// not prolong them. It reports whether the end of the pause changed.
func (p *endpoint) pause(now time.Time, requested time.Duration) (changed bool) {
	if requested <= 0 {
		if now.Before(p.until) {
			return false
		}
		requested = min(probePause<<min(p.pauses, 10), maxProbePause)
		p.pauses++
	}
	until := now.Add(min(requested, maxRequestedPause))
	if !until.After(p.until) {
		return false
	}
	p.until, p.held = until, true
	return true
}

// hold returns the hold to store. It sets since when a hold begins, and clears it when
// the hold ends. now is the current time of the system clock, and instant that of the
// store's clock.
func (p *endpoint) hold(now time.Time, instant board.Instant) store.Hold {
	h := store.Hold{WebhookID: p.id}
	if !p.held {
		p.since = 0
		return h
	}
	if p.since == 0 {
		p.since = instant
	}
	h.Since = p.since
	if wait := p.until.Sub(now); wait > 0 {
		h.Until = instant + board.Instant(wait.Milliseconds())
	}
	return h
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// idle reports whether the endpoint can be forgotten without losing state.
func (p *endpoint) idle(now time.Time) bool {
	return len(p.known) == 0 && !p.more && p.next == 0 && !p.refilling && p.failures == 0 && !p.held && now.Sub(p.filled) > time.Minute
}

// alarms is a heap of endpoints by the time at which they must be processed. An endpoint
// may have several entries; only the one whose time equals wakeAt is valid.
type alarms []alarm

type alarm struct {
	at       time.Time
	endpoint *endpoint
}

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a alarms) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push implements heap.Interface.
func (a *alarms) Push(x any) { *a = append(*a, x.(alarm)) }

// Pop implements heap.Interface.
func (a *alarms) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// set schedules the processing of an endpoint, unless it is already scheduled for that time or earlier.
func (a *alarms) set(p *endpoint, at time.Time) {
	if p.wakeAt.IsZero() || at.Before(p.wakeAt) {
		p.wakeAt = at
		heap.Push(a, alarm{at, p})
	}
}

// due removes and returns the endpoints whose time has come.
func (a *alarms) due(now time.Time) (out []*endpoint) {
	for len(*a) > 0 && !(*a)[0].at.After(now) {
		x := heap.Pop(a).(alarm)
		if x.endpoint.wakeAt.Equal(x.at) {
			x.endpoint.wakeAt = time.Time{}
			out = append(out, x.endpoint)
		}
	}
	return out
}
