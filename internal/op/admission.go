package op

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// class is a class of work. Under overload, lower classes are refused first.
type class int

const (
	reports class = iota // reads across boards, and streams
	reads
	writes
	classes
)

func (k class) String() string { return [...]string{"reports", "reads", "writes"}[k] }

// classOf returns the class of an operation.
func classOf(o *Operation) class {
	switch {
	case o.Report:
		return reports
	case o.ReadOnly:
		return reads
	}
	return writes
}

const (
	// Work may routinely wait for a slot for waitTarget or, if it is slow, for its
	// average running time, up to waitLongest.
	waitTarget  = 50 * time.Millisecond
	waitLongest = 500 * time.Millisecond

	maxQueueTime     = time.Second            // longest wait while there is no overload
	overloadAfter    = 200 * time.Millisecond // overload starts when every wait was above its target for this long
	recoveryTime     = time.Second            // how long after an overload reports are still refused
	queueFactor      = 8                      // queue length per slot
	retryAfter       = time.Second            // Retry-After
	retryReportAfter = 5 * time.Second
)

// admission limits the number of concurrent operations of each class to what
// the database can run at once. Further work waits in a queue. Overload is
// detected by waiting times, as in CoDel (RFC 8289). A queue that empties now
// and then is a burst, and its work simply waits. If every wait was above the
// target for a while, the queue only delays everyone. Then work that has waited
// longer than the target is refused, as long as more work waits than there are
// free slots. During an overload, reports are refused at once. If writes are
// overloaded, reads get only a quarter of their slots. So reports are shed
// first, then reads, then writes.
type admission struct {
	log   func() *slog.Logger
	shed  func(class) // called for each refusal
	mu    sync.Mutex
	lanes [classes]lane
}

// lane is the queue of one class.
type lane struct {
	slots       int
	average     time.Duration // moving average of running times
	running     int
	waiting     int
	queue       []*waiter // oldest first; includes abandoned waiters
	slowSince   time.Time // since when every wait was above the target; zero otherwise
	overloaded  bool      // there is too much work
	recoveredAt time.Time // when the last overload ended
	refused     int       // during the current overload
}

type waiter struct {
	since     time.Time
	abandoned bool
	admitted  chan error // receives one value: nil, or the refusal
}

func newAdmission(n store.Concurrency) *admission {
	a := &admission{log: slog.Default, shed: func(class) {}}
	a.lanes[reports].slots, a.lanes[reads].slots, a.lanes[writes].slots = n.Reports, n.Reads, n.Writes
	return a
}

// target returns how long work may routinely wait. Even in a queue without
// overload, work may wait for one running operation to finish.
func (l *lane) target() time.Duration { return min(max(waitTarget, l.average), waitLongest) }

func overloadError(k class) error {
	f := &board.Fault{Code: board.CodeUnavailable, Cause: board.CauseOverload, RetryAfter: retryAfter, Message: "The server is " +
		"overloaded. Try again in a moment."}
	if k == reports {
		f.RetryAfter = retryReportAfter
	}
	return f
}

// enter waits for a slot. The caller must call leave with the returned start
// time. It returns unavailable if the wait would be too long.
func (a *admission) enter(ctx context.Context, k class) (began time.Time, err error) {
	if err := a.wait(ctx, k); err != nil {
		return time.Time{}, err
	}
	return time.Now(), nil
}

func (a *admission) wait(ctx context.Context, k class) error {
	a.mu.Lock()
	l := &a.lanes[k]
	if err := a.full(k); err != nil {
		a.mu.Unlock()
		return err
	}
	if l.waiting == 0 && l.running < a.slotsOf(k) {
		l.running++
		a.mu.Unlock()
		return nil
	}
	w := &waiter{since: time.Now(), admitted: make(chan error, 1)}
	maxWait := maxQueueTime
	if l.overloaded {
		maxWait = 2 * l.target() // the queue is no longer than the number of slots
	}
	l.queue = append(l.queue, w)
	l.waiting++
	a.serve(k) // slots may have become free for the class
	a.mu.Unlock()
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case err := <-w.admitted:
		return err
	case <-timer.C:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case err := <-w.admitted:
		return err // arrived just now
	default:
	}
	w.abandoned = true
	l.waiting--
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("wait for a slot: %w", err)
	}
	l.refused++
	a.shed(k)
	a.observe(k, time.Now(), time.Since(w.since))
	return overloadError(k)
}

// check refuses work for which the queue has no room.
func (a *admission) check(k class) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.full(k)
}

// checkStream refuses streams like reports, in favour of more important work. Streams
// have slots of their own and do not wait behind reports.
func (a *admission) checkStream() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.deferred(reports) {
		return nil
	}
	a.shed(reports)
	return overloadError(reports)
}

// full refuses work if the queue is full. The caller must hold the lock.
func (a *admission) full(k class) error {
	l := &a.lanes[k]
	if !a.deferred(k) && l.waiting < a.queueLimit(k) {
		return nil
	}
	l.refused++
	a.shed(k)
	return overloadError(k)
}

// leave releases a slot and gives it to the next waiter.
func (a *admission) leave(k class, began time.Time) {
	took := time.Since(began)
	a.mu.Lock()
	l := &a.lanes[k]
	l.running--
	l.average += (took - l.average) / 16
	a.serve(k)
	a.mu.Unlock()
}

// deferred reports whether reports are refused in favour of more important
// work.
func (a *admission) deferred(k class) bool {
	if k != reports {
		return false
	}
	for _, l := range a.lanes[reads:] {
		if l.overloaded || !l.recoveredAt.IsZero() && time.Since(l.recoveredAt) < recoveryTime {
			return true
		}
	}
	return false
}

func (a *admission) slotsOf(k class) int {
	if n := a.lanes[k].slots; k != reads || !a.lanes[writes].overloaded {
		return n
	}
	return max(1, a.lanes[k].slots/4)
}

// queueLimit returns how many may wait. During an overload it is the number of
// slots.
func (a *admission) queueLimit(k class) int {
	if a.lanes[k].overloaded {
		return a.slotsOf(k)
	}
	return queueFactor * a.lanes[k].slots
}

// serve gives free slots to waiters. The caller must hold the lock.
func (a *admission) serve(k class) {
	l := &a.lanes[k]
	if len(l.queue) == 0 {
		return
	}
	now := time.Now()
	for len(l.queue) > 0 && l.running < a.slotsOf(k) {
		w := l.queue[0]
		l.queue[0] = nil
		l.queue = l.queue[1:]
		if w.abandoned {
			continue
		}
		waited := now.Sub(w.since)
		a.observe(k, now, waited)
		tooMany := l.waiting > a.slotsOf(k)-l.running
		l.waiting--
		if l.overloaded && waited > l.target() && tooMany {
			l.refused++
			a.shed(k)
			w.admitted <- overloadError(k)
			continue
		}
		l.running++
		w.admitted <- nil
	}
	if l.waiting == 0 {
		l.queue, l.slowSince = nil, time.Time{}
		if l.overloaded {
			l.overloaded, l.recoveredAt = false, now
			a.log().Info("overload ended", "work", k.String(), "refused", l.refused)
			l.refused = 0
		}
	}
}

// observe records a waiting time. The caller must hold the lock.
func (a *admission) observe(k class, now time.Time, waited time.Duration) {
	l := &a.lanes[k]
	switch {
	case waited <= l.target():
		l.slowSince = time.Time{}
	case l.slowSince.IsZero():
		l.slowSince = now
	case !l.overloaded && now.Sub(l.slowSince) >= overloadAfter:
		l.overloaded = true
		if now.Sub(l.recoveredAt) > 10*recoveryTime {
			a.log().Warn("overload started; refusing some work", "work", k.String())
		}
	}
}
