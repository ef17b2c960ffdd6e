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
	// queueTime is the longest wait while there is no overload. The other times depend on it.
	queueTime = time.Second

	// The target for the wait of a class is its average running time, but at least a 20th
	// and at most half of the longest wait.
	targetShare  = 20 // 50 ms
	longestShare = 2  // 500 ms

	overloadShare    = 5               // overload starts when every wait has exceeded the target for this share of the longest wait
	recoveryTime     = time.Second     // how long reports are still refused after an overload of reads or writes
	queueFactor      = 8               // maximum queue length per slot while there is no overload
	retryAfter       = time.Second     // Retry-After header
	retryReportAfter = 5 * time.Second // Retry-After header for reports
)

// admission limits the number of concurrent operations of each class to what
// the database can run at the same time. Further work waits in a queue. Overload
// is detected by waiting times, as in CoDel (RFC 8289). If the queue empties now
// and then, the load is only a burst, and the work waits. If every wait has
// exceeded the target for a while, the queue only delays everyone. Then work
// that has waited longer than the target is refused, as long as there is more
// waiting work than free slots. Reports are refused immediately during an
// overload of reads or writes, and for recoveryTime after it. If writes are
// overloaded, reads get only a quarter of their slots. So reports are shed
// first, then reads, then writes.
type admission struct {
	log     func() *slog.Logger
	shed    func(class) // called for each refusal
	longest time.Duration
	mu      sync.Mutex
	lanes   [classes]lane
}

// lane is the queue of one class.
type lane struct {
	slots       int
	average     time.Duration // moving average of running times
	running     int
	waiting     int
	queue       []*waiter // oldest first; includes abandoned waiters
	slowSince   time.Time // time since which every wait has exceeded the target, or zero
	overloaded  bool      // whether work that waits too long is refused
	recoveredAt time.Time // when the last overload ended
	refused     int       // number of refusals since the last overload ended
}

type waiter struct {
	since     time.Time
	abandoned bool
	admitted  chan error // receives nil or the refusal, unless the waiter is abandoned
}

func newAdmission(n store.Concurrency) *admission {
	a := &admission{log: slog.Default, shed: func(class) {}, longest: queueTime}
	a.lanes[reports].slots, a.lanes[reads].slots, a.lanes[writes].slots = n.Reports, n.Reads, n.Writes
	return a
}

// target returns how long work of class k may routinely wait. It depends on the average running
// time, because work may have to wait for a running operation even without overload.
func (a *admission) target(k class) time.Duration {
	return min(max(a.longest/targetShare, a.lanes[k].average), a.longest/longestShare)
}

func overloadError(k class) error {
	f := &board.Fault{
		Code: board.CodeUnavailable, Cause: board.CauseOverload, RetryAfter: retryAfter,
		Message: "The server is overloaded. Try again in a moment.",
	}
	if k == reports {
		f.RetryAfter = retryReportAfter
	}
	return f
}

// enter waits for a slot. It returns an unavailable fault if the work is refused because of
// overload, and an error that wraps ctx.Err() if ctx ends first. If the error is nil, the
// caller must call leave with the returned start time.
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
	maxWait := a.longest
	if l.overloaded {
		maxWait = 2 * a.target(k) // the queue is no longer than the number of slots
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
		return err // the decision arrived just after the wait ended
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

// check returns a fault, and counts a refusal, if work of class k would be refused
// without waiting.
func (a *admission) check(k class) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.full(k)
}

// checkStream refuses streams while reports are refused in favor of more important
// work. Streams have their own slots and do not wait for reports.
func (a *admission) checkStream() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.deferred(reports) {
		return nil
	}
	a.shed(reports)
	return overloadError(reports)
}

// full returns a fault, and counts a refusal, if work of class k is deferred or its
// queue is full. The caller must hold the lock.
func (a *admission) full(k class) error {
	l := &a.lanes[k]
	if !a.deferred(k) && l.waiting < a.queueLimit(k) {
		return nil
	}
	l.refused++
	a.shed(k)
	return overloadError(k)
}

// leave releases a slot, updates the average running time and serves the queue.
func (a *admission) leave(k class, began time.Time) {
	took := time.Since(began)
	a.mu.Lock()
	l := &a.lanes[k]
	l.running--
	l.average += (took - l.average) / 16
	a.serve(k)
	a.mu.Unlock()
}

// deferred reports whether work of class k is refused in favor of more important
// work. Only reports are.
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

// queueLimit returns how many calls may wait. During an overload, it is the
// number of slots.
func (a *admission) queueLimit(k class) int {
	if a.lanes[k].overloaded {
		return a.slotsOf(k)
	}
	return queueFactor * a.lanes[k].slots
}

// serve gives free slots to waiters. During an overload, it refuses waiters that have
// waited too long. An overload ends when nobody waits. The caller must hold the lock.
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
		if l.overloaded && waited > a.target(k) && tooMany {
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

// observe records a waiting time. An overload starts if every wait has exceeded the
// target for a while. The caller must hold the lock.
func (a *admission) observe(k class, now time.Time, waited time.Duration) {
	l := &a.lanes[k]
	switch {
	case waited <= a.target(k):
		l.slowSince = time.Time{}
	case l.slowSince.IsZero():
		l.slowSince = now
	case !l.overloaded && now.Sub(l.slowSince) >= a.longest/overloadShare:
		l.overloaded = true
		if now.Sub(l.recoveredAt) > 10*recoveryTime {
			a.log().Warn("overload started; refusing some work", "work", k.String())
		}
	}
}
