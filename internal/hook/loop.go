package hook

import (
	"context"
	"sync"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// loop is the state of a running engine. A single goroutine owns it, so there
// are no locks.
type loop struct {
	*Engine
	endpoints map[string]*endpoint
	line      []*endpoint // endpoints that may send, round-robin
	alarms    alarms
	leased    map[int]bool     // the shards leased by this server
	spare     []store.Dispatch // array for the next offers

	batch   []*attempt          // attempts to be checked
	running map[*attempt]string // attempts in progress, with the ids of their deliveries
	reading int                 // reads of the outbox in progress
	pruning sync.WaitGroup

	unwritten record // results to be written
	writing   bool
	writeAt   time.Time // earliest time of the next write
	swept     time.Time
	marked    time.Time
}

func newLoop(e *Engine) *loop {
	l := &loop{Engine: e, endpoints: map[string]*endpoint{}, running: map[*attempt]string{}, swept: time.Now(), marked: time.Now()}
	if !e.o.DB.Shared() {
		l.leased = shardSet(allShards())
	}
	return l
}

// run runs the loop until ctx ends, and then until the attempts in progress have ended.
func (l *loop) run(ctx context.Context) {
	defer l.pruning.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	done, ending := ctx.Done(), false
	for {
		now := time.Now()
		l.maintain(now)
		l.takeOffered()
		for _, p := range l.alarms.due(now) {
			l.activate(p)
		}
		if !ending {
			l.dispatch(now)
		}
		checks := l.checks
		if len(l.batch) == 0 {
			checks = nil
		}
		l.write(now)
		if ending && len(l.running)+len(l.batch)+l.reading == 0 && !l.writing && (l.nothingToWrite() || l.stopped.Err() != nil) {
			return
		}
		timer.Reset(l.rest(now))
		select {
		case checks <- l.batch:
			l.batch = nil
		case <-l.wake:
		case r := <-l.results:
			l.result(r)
			l.moreResults()
		case r := <-l.recorded:
			l.written(r)
		case r := <-l.refills:
			l.refilled(r)
		case found := <-l.queues:
			l.found(found)
		case shards := <-l.shards:
			l.setShards(shards)
		case <-timer.C:
		case <-done:
			done, ending = nil, true
			for _, a := range l.batch {
				l.release(a)
			}
			l.batch = nil
			time.AfterFunc(stopTimeout, func() { l.stop(errStopping) })
		}
	}
}

// moreResults collects the results that are already available, so that they are
// written together.
func (l *loop) moreResults() {
	for range batchSize {
		select {
		case r := <-l.results:
			l.result(r)
		default:
			return
		}
	}
}

// rest returns how long to sleep if no event arrives.
func (l *loop) rest(now time.Time) time.Duration {
	wait := sweepInterval
	if len(l.running) > 0 {
		wait = markAfter
	}
	if len(l.alarms) > 0 {
		wait = min(wait, l.alarms[0].at.Sub(now))
	}
	if l.writeAt.After(now) && !l.nothingToWrite() {
		wait = min(wait, l.writeAt.Sub(now))
	}
	return max(0, wait)
}

// endpointOf returns the queue of a webhook. If there is none, it creates one for a webhook
// in this server's shards, and otherwise returns nil.
func (l *loop) endpointOf(webhookID string) *endpoint {
	p := l.endpoints[webhookID]
	if p == nil && l.leased[board.WebhookShard(webhookID)] {
		p = &endpoint{id: webhookID, known: map[string]struct{}{}, recorded: map[string]struct{}{}, tokens: burst, filled: time.Now()}
		l.endpoints[webhookID] = p
	}
	return p
}

// takeOffered queues deliveries that this process has just committed.
func (l *loop) takeOffered() {
	offered, missed := l.takeOffers(l.spare)
	for _, d := range offered {
		if p := l.endpointOf(d.WebhookID); p != nil && l.leased[board.WebhookShard(d.WebhookID)] {
			p.offer(d, true)
			l.activate(p)
		}
	}
	clear(offered)
	l.spare = offered
	if missed {
		select {
		case l.pollNow <- struct{}{}: // some may belong to endpoints that this server does not know yet
		default:
		}
		for _, p := range l.endpoints {
			p.more = true
			l.activate(p)
		}
	}
}

// activate puts an endpoint in line to send. It reads the outbox if few deliveries of
// the endpoint are in memory.
func (l *loop) activate(p *endpoint) {
	if !l.leased[board.WebhookShard(p.id)] {
		return
	}
	now := board.InstantOf(l.o.DB.Now())
	if p.next != 0 {
		if p.next <= now {
			p.next, p.more = 0, true
		} else {
			l.alarms.set(p, time.Now().Add(time.Duration(p.next-now)*time.Millisecond))
		}
	}
	if p.more && !p.refilling && p.queued() <= window/4 {
		l.reading++
		after, limit := p.startRefill()
		go l.refill(p, after, limit)
	}
	if !p.ready && p.queued() > 0 {
		p.ready = true
		l.line = append(l.line, p)
	}
}

// dispatch starts attempts, one for each endpoint in line at a time.
func (l *loop) dispatch(now time.Time) {
	for len(l.line) > 0 && len(l.running) < maxAttempts && len(l.batch) < batchSize && len(l.unwritten.outcomes) < maxUnrecorded {
		p := l.line[0]
		l.line = l.line[1:]
		p.ready = false
		d, ok, wait := p.take(now, l.o.Rate)
		if ok {
			a := &attempt{endpoint: p, delivery: d, began: now}
			l.running[a] = d.ID
			l.busy[board.WebhookShard(p.id)].Add(1)
			l.batch = append(l.batch, a)
			l.activate(p)
		} else if wait > 0 {
			l.alarms.set(p, now.Add(wait))
		}
	}
}

// release ends an attempt whose result is not recorded. Its delivery remains in the outbox.
func (l *loop) release(a *attempt) {
	l.end(a)
	p := a.endpoint
	p.forget(a.delivery.ID)
	p.more, p.rewind = true, true
	l.busy[board.WebhookShard(p.id)].Add(-1)
}

// end removes an attempt from the attempts in progress.
func (l *loop) end(a *attempt) {
	delete(l.running, a)
	a.endpoint.inProgress--
}

// result processes the result of an attempt.
func (l *loop) result(r result) {
	a, p := r.attempt, r.attempt.endpoint
	now := time.Now()
	switch r.verdict {
	case interrupted:
		l.o.Log.Debug("delivery attempt interrupted", "delivery", a.delivery.ID, "reason", r.reason)
		l.release(a)
		l.alarms.set(p, now.Add(recordPause))
		return
	case waiting: // the pause applies even though another server received the response that requested it
		p.held = true
		p.until = later(p.until, now.Add(time.Duration(a.target.Until-board.InstantOf(l.o.DB.Now()))*time.Millisecond))
		l.release(a)
		l.alarms.set(p, later(p.until, now))
		return
	case deleted:
		l.unwritten.deleted = append(l.unwritten.deleted, p.id)
		l.release(a)
		p.clearQueues()
		return
	case accepted, throttled, unreachable, refused, gone, forbidden, skipped, lost:
	}
	l.end(a)
	p.failing = p.failing || a.target.Failures > 0
	if r.verdict == accepted && a.delivery.SwitchesOn != "" {
		p.until = time.Time{} // a person enabled the webhook, and the receiver accepted the test
	}
	// The log may still show a hold that another server recorded.
	if p.update(&r, now) || a.target.Held && !p.held {
		l.unwritten.holds = append(l.unwritten.holds, p.hold(now, board.InstantOf(l.o.DB.Now())))
	}
	o := l.outcome(&r)
	l.o.Metrics.attempted(&r, &o, board.InstantOf(l.o.DB.Now()))
	p.failing = p.failing && o.Status != board.DeliveryDelivered || o.Counts
	l.unwritten.outcomes = append(l.unwritten.outcomes, o)
	l.activate(p)
}

func (l *loop) nothingToWrite() bool {
	u := &l.unwritten
	return len(u.outcomes)+len(u.holds)+len(u.marks)+len(u.deleted) == 0
}

// write starts writing results, if the previous write has finished.
func (l *loop) write(now time.Time) {
	if l.writing || l.nothingToWrite() || now.Before(l.writeAt) {
		return
	}
	l.writing, l.writeAt = true, now.Add(recordInterval)
	l.records <- l.unwritten
	l.unwritten = record{}
}

// written removes recorded deliveries from memory.
func (l *loop) written(r recorded) {
	l.writing = false
	if r.err != nil {
		l.failures.Failed(cannotRecord, r.err, "deliveries", len(r.outcomes))
		r.outcomes = append(r.outcomes, l.unwritten.outcomes...)
		r.holds = append(r.holds, l.unwritten.holds...)
		l.unwritten = record{outcomes: r.outcomes, holds: r.holds, marks: l.unwritten.marks, deleted: append(r.deleted, l.unwritten.deleted...)}
		l.writeAt = time.Now().Add(recordPause)
		return
	}
	l.failures.Succeeded(cannotRecord)
	for i := range r.outcomes {
		o := &r.outcomes[i]
		l.busy[board.WebhookShard(o.WebhookID)].Add(-1)
		p := l.endpoints[o.WebhookID]
		if p == nil {
			continue
		}
		p.forget(o.ID)
		if o.Next == 0 {
			p.ended++
		} else if p.next == 0 || o.Next < p.next {
			p.next = o.Next
		}
		if p.ended >= pruneAfter {
			p.ended = 0
			l.pruning.Go(func() { l.prune(p.id) })
		}
		l.activate(p)
	}
}

// prune deletes deliveries beyond the limits of the endpoints' logs, at most pruneBatch of
// each endpoint.
func (l *loop) prune(ids ...string) {
	for _, id := range ids {
		if _, err := l.o.DB.PruneDeliveries(l.stopped, id, pruneBatch); err != nil {
			l.failures.Failed(cannotPrune, err, "webhook", id)
			continue
		}
		l.failures.Succeeded(cannotPrune)
	}
}

// refilled queues deliveries read from the outbox.
func (l *loop) refilled(r refill) {
	p := r.endpoint
	l.reading--
	full := len(r.due.Deliveries) >= r.limit
	r.due.Deliveries = l.unannounced(r.due.Deliveries)
	l.takeOffered() // deliveries handed over in the meantime, before the outbox's copies of them
	p.refilling = false
	if !l.leased[board.WebhookShard(p.id)] {
		clear(p.recorded) // another server handles them now
		return
	}
	if r.err != nil {
		l.failures.Failed(cannotRead, r.err, "webhook", p.id)
		p.more, p.rewind = true, true
		clear(p.recorded)
		l.alarms.set(p, time.Now().Add(recordPause))
		return
	}
	l.failures.Succeeded(cannotRead)
	p.finishRefill(&r, full)
	l.activate(p)
}

// found processes webhooks with pending deliveries.
func (l *loop) found(queues []store.Queue) {
	now := board.InstantOf(l.o.DB.Now())
	l.o.Metrics.outbox(queues, now)
	for _, q := range queues {
		p := l.endpointOf(q.WebhookID)
		if p == nil {
			continue
		}
		// The due deliveries may already be in memory. Then a read is only
		// worthwhile if other servers write too.
		if q.FirstDue <= now && (len(p.known) == 0 || l.o.DB.Shared()) {
			p.more = true
		} else if q.FirstDue > now && (p.next == 0 || q.FirstDue < p.next) {
			p.next = q.FirstDue
		}
		l.activate(p)
	}
}

// setShards sets the shards of this server.
func (l *loop) setShards(shards map[int]bool) {
	l.leased = shards
	for id, p := range l.endpoints {
		if !shards[board.WebhookShard(id)] {
			// Queued deliveries now belong to another server. Attempts in
			// progress will be recorded.
			p.clearQueues()
		}
	}
}

// maintain does work that is not urgent. It shows slow attempts as delivering, and
// forgets idle endpoints.
func (l *loop) maintain(now time.Time) {
	if now.Sub(l.marked) < markAfter {
		return
	}
	l.marked = now
	for a, id := range l.running {
		if !a.marked && now.Sub(a.began) >= markAfter {
			a.marked = true
			l.unwritten.marks = append(l.unwritten.marks, id)
		}
	}
	l.o.Metrics.running(len(l.running), len(l.endpoints))
	if now.Sub(l.swept) < sweepInterval {
		return
	}
	l.swept = now
	var ended []string
	for id, p := range l.endpoints {
		if p.idle(now) {
			delete(l.endpoints, id)
			if p.ended > 0 {
				ended = append(ended, id)
			}
		}
	}
	if len(ended) > 0 {
		l.pruning.Go(func() { l.prune(ended...) })
	}
}
