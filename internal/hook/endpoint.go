package hook

import (
	"container/heap"
	"net/http"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	endpointAtOnce = 8  // attempts under way to one endpoint
	burst          = 5  // attempts that the pace lets go at once after a rest
	window         = 64 // deliveries of an endpoint in memory; the others wait in the outbox
	rewindAfter    = 16 // readings of the outbox, of which the next begins with the oldest again

	failuresToHold = 3 // timeouts or 5xx in a row
	probePause     = time.Second
	probePauseMost = 30 * time.Second // the shortest pause of a retry, so that none comes late by it
	askedPauseMost = time.Hour        // that a receiver may ask for with Retry-After
)

// endpoint is the queue of one webhook: what is to be sent, how fast, and
// whether its receiver works. It belongs to the engine's loop.
type endpoint struct {
	id     string
	fresh  []store.Dispatch    // first attempts, oldest first
	again  []store.Dispatch    // retries, oldest first
	tests  []store.Dispatch    // for which a person waits; they are held back by nothing but the pace
	inside map[string]struct{} // ids that are queued, under way or not recorded yet

	more      bool                // the outbox has more whose time has come
	next      board.Instant       // when the next of the others is due; 0 for never
	refilling bool                // the outbox is being asked
	read      store.Place         // of its first attempts up to here; zero to begin with the oldest
	readings  int                 // since it began with the oldest
	rewind    bool                // it has to begin with them again
	left      map[string]struct{} // ids that left inside since

	underWay int
	tokens   float64 // attempts that the pace allows now
	filled   time.Time

	failing bool          // a failed delivery was recorded, or may have been
	row     int           // timeouts and 5xx in a row
	held    bool          // one probe at a time goes out
	since   board.Instant // when that began
	probeAt time.Time

	until time.Time // when the pause ends that the receiver asked for; nothing but tests goes out before
	asked int       // pauses of no stated length that it asked for in a row

	ended  int       // deliveries that ended since the log was pruned
	ready  bool      // it stands in the line of those that may send
	wakeAt time.Time // when it has to be looked at again; zero for never
}

// offer queues a delivery, unless it is known or there is no room for it.
func (p *endpoint) offer(d store.Dispatch, handedOver bool) {
	if _, known := p.inside[d.ID]; known {
		return
	}
	if _, known := p.left[d.ID]; known && !handedOver {
		return // the outbox was read before it was recorded
	}
	queue := &p.fresh
	switch {
	case d.Kind == board.KindWebhookTest:
		queue = &p.tests
	case d.Attempts > 0:
		queue = &p.again
	}
	// Tests stand in no order with others, and must not wait behind what is held.
	if handedOver && (p.more && queue != &p.tests || len(*queue) >= window) {
		p.more = true
		return
	}
	p.inside[d.ID] = struct{}{}
	*queue = append(*queue, d)
}

// queued is how many deliveries wait in memory.
func (p *endpoint) queued() int { return len(p.tests) + len(p.fresh) + len(p.again) }

// empty lets go of all that is queued.
func (p *endpoint) empty() {
	for _, queue := range [][]store.Dispatch{p.tests, p.fresh, p.again} {
		for _, d := range queue {
			p.forget(d.ID)
		}
	}
	p.tests, p.fresh, p.again, p.more, p.next, p.rewind = nil, nil, nil, false, 0, true
}

// ask begins a reading of the outbox: behind what was read of it, so that what
// is in memory is not read again, or from the oldest on.
func (p *endpoint) ask() (behind store.Place, limit int) {
	p.refilling, p.more = true, false
	if p.readings++; p.rewind || p.readings == rewindAfter {
		p.read, p.readings, p.rewind = store.Place{}, 0, false
	}
	if p.read == (store.Place{}) {
		return p.read, window + len(p.inside)
	}
	return p.read, window
}

// learn queues what the outbox had; full says that it may have more. What was committed meanwhile by who had begun
// before may stand before what was read, so its end is believed only when it was
// read from the oldest on.
func (p *endpoint) learn(r *refill, full bool) {
	for _, d := range r.due.Deliveries {
		p.offer(d, false)
	}
	clear(p.left)
	p.read = r.due.Last
	p.more = p.more || p.read != store.Place{} || r.behind != store.Place{} || full
	if next := r.due.Next; next != 0 && (p.next == 0 || next < p.next) {
		p.next = next
	}
}

// forget lets go of a delivery that is recorded.
func (p *endpoint) forget(id string) {
	delete(p.inside, id)
	if p.refilling {
		p.left[id] = struct{}{}
	}
}

// take is the next delivery that may go out now. Without one, wait is how long
// until there may be one; 0 when that depends on what is under way.
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
	// A probe is the delivery that has waited longest, so that those which began
	// first come to their end first.
	case len(p.fresh) == 0 || p.held && len(p.again) > 0:
		queue = &p.again
	}
	d, (*queue)[0] = (*queue)[0], store.Dispatch{} // its body need not be kept with the queue's array
	*queue = (*queue)[1:]
	p.underWay++
	return d, true, 0
}

// judge learns from a result whether the receiver works. Changed is true when
// deliveries are held from now on, or longer, or no longer.
func (p *endpoint) judge(r *result, now time.Time) (changed bool) {
	switch r.verdict {
	case unreachable:
		p.row++
		if p.row >= failuresToHold {
			pause := probePause << min(p.row-failuresToHold, 10)
			p.probeAt = now.Add(min(pause, probePauseMost))
			changed = !p.held
			p.held = true
		}
		if r.status == http.StatusServiceUnavailable && r.later > 0 {
			changed = p.pause(now, r.later) || changed
		}
	case throttled: // says nothing about whether the failures before it are over
		changed = p.pause(now, r.later)
	case accepted, refused, gone:
		p.row = 0
		if now.Before(p.until) {
			return false // it was sent before the receiver asked for a pause, or is a test
		}
		changed = p.held
		p.held, p.asked = false, 0
	case forbidden, skipped, lost, deleted, waiting, interrupted: // nothing was heard of the receiver
	}
	return changed
}

// pause holds everything but tests for as long as the receiver asks, which is at
// most an hour. If it does not say how long, the pauses grow from a second to
// half a minute, as those of probes do; answers to what was under way already
// make them no longer. It reports whether the end of the pause changed.
func (p *endpoint) pause(now time.Time, asked time.Duration) (changed bool) {
	if asked <= 0 {
		if now.Before(p.until) {
			return false
		}
		asked = min(probePause<<min(p.asked, 10), probePauseMost)
		p.asked++
	}
	until := now.Add(min(asked, askedPauseMost))
	if !until.After(p.until) {
		return false
	}
	p.until, p.held = until, true
	return true
}

// hold is what the store keeps of it, now in both clocks.
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

// idle tells that nothing would be lost by forgetting the endpoint.
func (p *endpoint) idle(now time.Time) bool {
	return len(p.inside) == 0 && !p.more && p.next == 0 && !p.refilling && p.row == 0 && !p.held && now.Sub(p.filled) > time.Minute
}

// alarms are endpoints by the time at which they have to be looked at. One may
// stand in it several times; its wakeAt says which is meant.
type alarms []alarm

type alarm struct {
	at       time.Time
	endpoint *endpoint
}

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a alarms) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push and Pop are for container/heap.
func (a *alarms) Push(x any) { *a = append(*a, x.(alarm)) }

// Pop is the other half of Push.
func (a *alarms) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// set has an endpoint looked at no later than at a time.
func (a *alarms) set(p *endpoint, at time.Time) {
	if p.wakeAt.IsZero() || at.Before(p.wakeAt) {
		p.wakeAt = at
		heap.Push(a, alarm{at, p})
	}
}

// due are the endpoints whose time has come.
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
