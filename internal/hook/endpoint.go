package hook

import (
	"container/heap"
	"net/http"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	endpointAtOnce = 8  // concurrent attempts per endpoint
	burst          = 5  // attempts that the rate limit allows at once after a pause
	window         = 64 // deliveries of an endpoint in memory; the others stay in the outbox
	rewindAfter    = 16 // reads of the outbox until one starts again with the oldest delivery

	failuresToHold = 3 // consecutive timeouts or 5xx responses
	probePause     = time.Second
	maxProbePause  = 30 * time.Second // the shortest pause of a retry, so that probing delays no retry
	maxAskedPause  = time.Hour        // that a receiver may request with Retry-After
)

// endpoint is the queue of one webhook: what to send, how fast, and whether its
// receiver works. It is owned by the engine's loop.
type endpoint struct {
	id     string
	fresh  []store.Dispatch    // first attempts, oldest first
	again  []store.Dispatch    // retries, oldest first
	tests  []store.Dispatch    // a person waits for them; only the rate limit delays them
	inside map[string]struct{} // ids that are queued, in progress, or not recorded yet

	more      bool                 // the outbox has more deliveries that are due
	next      board.Instant        // when the next of the others is due; 0 if there are none
	refilling bool                 // a read of the outbox is in progress
	read      store.DeliveryCursor // first attempts are read up to here; zero to start with the oldest
	readings  int                  // reads since it started with the oldest
	rewind    bool                 // it has to start with the oldest again
	left      map[string]struct{}  // ids removed from inside since the read started

	underWay int
	tokens   float64 // attempts that the rate limit allows now
	filled   time.Time

	failing bool          // a failed delivery was, or may have been, recorded
	row     int           // consecutive timeouts and 5xx responses
	held    bool          // only one probe at a time is sent
	since   board.Instant // when held was set
	probeAt time.Time

	until time.Time // end of the pause that the receiver asked for; only tests are sent before
	asked int       // consecutive pauses of no stated length

	ended  int       // deliveries finished since the log was pruned
	ready  bool      // is in the loop's list of endpoints that may send
	wakeAt time.Time // when it has to be processed again; zero for never
}

// offer queues a delivery, unless it is already known or there is no room.
func (p *endpoint) offer(d store.Dispatch, handedOver bool) {
	if _, known := p.inside[d.ID]; known {
		return
	}
	if _, known := p.left[d.ID]; known && !handedOver {
		return // the outbox was read before the delivery was recorded
	}
	queue := &p.fresh
	switch {
	case d.Kind == board.KindWebhookTest:
		queue = &p.tests
	case d.Attempts > 0:
		queue = &p.again
	}
	// Tests are not ordered with other deliveries, and must not wait for held
	// ones.
	if handedOver && (p.more && queue != &p.tests || len(*queue) >= window) {
		p.more = true
		return
	}
	p.inside[d.ID] = struct{}{}
	*queue = append(*queue, d)
}

// queued returns how many deliveries wait in memory.
func (p *endpoint) queued() int { return len(p.tests) + len(p.fresh) + len(p.again) }

// empty drops all queued deliveries.
func (p *endpoint) empty() {
	for _, queue := range [][]store.Dispatch{p.tests, p.fresh, p.again} {
		for _, d := range queue {
			p.forget(d.ID)
		}
	}
	p.tests, p.fresh, p.again, p.more, p.next, p.rewind = nil, nil, nil, false, 0, true
}

// ask starts a read of the outbox. It continues after the last read, so that
// deliveries in memory are not read again, or starts again with the oldest.
func (p *endpoint) ask() (behind store.DeliveryCursor, limit int) {
	p.refilling, p.more = true, false
	if p.readings++; p.rewind || p.readings == rewindAfter {
		p.read, p.readings, p.rewind = store.DeliveryCursor{}, 0, false
	}
	if p.read == (store.DeliveryCursor{}) {
		return p.read, window + len(p.inside)
	}
	return p.read, window
}

// learn queues deliveries from the outbox. Full means that there may be more.
// Transactions that started earlier but committed later may have added
// deliveries before the position of the last read. So the outbox counts as
// empty only after a read that started with the oldest.
func (p *endpoint) learn(r *refill, full bool) {
	for _, d := range r.due.Deliveries {
		p.offer(d, false)
	}
	clear(p.left)
	p.read = r.due.Last
	p.more = p.more || p.read != store.DeliveryCursor{} || r.behind != store.DeliveryCursor{} || full
	if next := r.due.Next; next != 0 && (p.next == 0 || next < p.next) {
		p.next = next
	}
}

// forget removes a delivery that has been recorded.
func (p *endpoint) forget(id string) {
	delete(p.inside, id)
	if p.refilling {
		p.left[id] = struct{}{}
	}
}

// take returns the next delivery that may be sent now. If there is none, wait
// is how long until there may be one, or 0 if that depends on attempts in
// progress.
func (p *endpoint) take(now time.Time, pace float64) (d store.Dispatch, ok bool, wait time.Duration) {
	held := p.held && len(p.tests) == 0
	probeAt := later(p.probeAt, p.until)
	switch {
	case p.queued() == 0, p.underWay >= endpointAtOnce, held && p.underWay > 0:
		return d, false, 0
	case held && now.Before(probeAt):
		return d, false, probeAt.Sub(now)
	}
	if pace > 0 {
		p.tokens = min(burst, p.tokens+now.Sub(p.filled).Seconds()*pace)
		p.filled = now
		if p.tokens < 1 {
			return d, false, time.Duration((1 - p.tokens) / pace * float64(time.Second))
		}
		p.tokens--
	}
	queue := &p.fresh
	switch {
	case len(p.tests) > 0:
		queue = &p.tests
	// A probe is the delivery that has waited longest, so that deliveries
	// finish in the order in which they started.
	case len(p.fresh) == 0 || p.held && len(p.again) > 0:
		queue = &p.again
	}
	d, (*queue)[0] = (*queue)[0], store.Dispatch{} // release its body, which the queue's array would keep
	*queue = (*queue)[1:]
	p.underWay++
	return d, true, 0
}

// judge updates the state of the receiver from a result. Changed reports
// whether deliveries are now held, held for longer, or no longer held.
func (p *endpoint) judge(r *result, now time.Time) (changed bool) {
	switch r.verdict {
	case unreachable:
		p.row++
		if p.row >= failuresToHold {
			pause := probePause << min(p.row-failuresToHold, 10)
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
		p.row = 0
		if now.Before(p.until) {
			return false // a test, or sent before the receiver asked for a pause
		}
		changed = p.held
		p.held, p.asked = false, 0
	case forbidden, skipped, lost, deleted, waiting, interrupted: // says nothing about the receiver
	}
	return changed
}

// pause holds all deliveries except tests for as long as the receiver asked, at
// most an hour. If it gave no length, the pauses grow from a second to half a
// minute, like those of probes. Responses to attempts already in progress do
// not make them longer. It reports whether the end of the pause changed.
func (p *endpoint) pause(now time.Time, asked time.Duration) (changed bool) {
	if asked <= 0 {
		if now.Before(p.until) {
			return false
		}
		asked = min(probePause<<min(p.asked, 10), maxProbePause)
		p.asked++
	}
	until := now.Add(min(asked, maxAskedPause))
	if !until.After(p.until) {
		return false
	}
	p.until, p.held = until, true
	return true
}

// hold returns the state to store. The two arguments are the current time in
// both clocks.
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
	return len(p.inside) == 0 && !p.more && p.next == 0 && !p.refilling && p.row == 0 && !p.held && now.Sub(p.filled) > time.Minute
}

// alarms is a heap of endpoints by the time at which they have to be processed.
// An endpoint may be in it several times; its wakeAt says which entry is valid.
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

// set schedules an endpoint for no later than a time.
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
