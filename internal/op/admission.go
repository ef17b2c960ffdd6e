package op

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cardwall/internal/board"
)

// class is a kind of work, by how soon it is put off when there is too much.
type class int

const (
	reports class = iota // read across boards, or stream
	reads
	writes
	classes
)

func (k class) String() string { return [...]string{"reports", "reads", "writes"}[k] }

// classOf is the class of an operation.
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
	waitTarget  = 50 * time.Millisecond // that work may wait for its place again and again; or as long as it takes, up to
	waitLongest = 500 * time.Millisecond
	waitMost    = time.Second            // while that is an exception
	overAfter   = 200 * time.Millisecond // in which nothing waited less than its target
	calmAfter   = time.Second            // without anybody waiting; until then reports stay away
	queueFactor = 8                      // how many may wait for each place
	laterWork   = time.Second            // Retry-After
	laterReport = 5 * time.Second
)

// admission lets so much work of each class run at once as the database does at
// once, and has the rest wait in line. Whether there is too much it sees by how
// long work waits, as CoDel does (RFC 8289): a line that empties now and then is
// a burst, and waits; one in which for a while nothing waited less than the
// target only makes everybody late, so what has waited longer is refused while
// there is more than the places take. Then reports are refused at once, too, and
// where it is writes that wait, reads get a quarter of their places. So reports
// go first, then reads, then writes.
type admission struct {
	log   func() *slog.Logger
	shed  func(class) // told of each refusal
	mu    sync.Mutex
	lanes [classes]lane
}

// lane is the work of one class.
type lane struct {
	places   int
	takes    time.Duration // what work took of late
	running  int
	waiting  int
	line     []*waiter // oldest first, those too who have gone
	standing time.Time // since when nothing waited less than the target; zero while something does
	over     bool      // there is too much work
	calm     time.Time // when it ended last that there was
	refused  int       // since there is
}

type waiter struct {
	since time.Time
	gone  bool
	let   chan error // takes one: nil, or why not
}

func newAdmission(readPlaces, writePlaces int) *admission {
	a := &admission{log: slog.Default, shed: func(class) {}}
	a.lanes[reports].places, a.lanes[reads].places, a.lanes[writes].places = max(2, readPlaces/8), readPlaces, writePlaces
	return a
}

// target is how long work may wait again and again: in a line that moves at once
// nothing waits longer than what is before it takes.
func (l *lane) target() time.Duration { return min(max(waitTarget, l.takes), waitLongest) }

func tooMuch(k class) error {
	f := &board.Fault{Code: board.CodeUnavailable, Cause: board.CauseOverload, RetryAfter: laterWork, Message: "There is more to do right now than can be done; try again in a moment."}
	if k == reports {
		f.RetryAfter = laterReport
	}
	return f
}

// enter waits for a place; who got one leaves it again, and says when it began.
// It refuses with unavailable what would be late.
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
	if l.waiting == 0 && l.running < a.placesOf(k) {
		l.running++
		a.mu.Unlock()
		return nil
	}
	w := &waiter{since: time.Now(), let: make(chan error, 1)}
	patience := waitMost
	if l.over {
		patience = 2 * l.target() // the line is no longer than the places
	}
	l.line = append(l.line, w)
	l.waiting++
	a.serve(k) // places may have come back to the class
	a.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-w.let:
		return err
	case <-timer.C:
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case err := <-w.let:
		return err // just now
	default:
	}
	w.gone = true
	l.waiting--
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("wait for a place: %w", err)
	}
	l.refused++
	a.shed(k)
	a.late(k, time.Now(), time.Since(w.since))
	return tooMuch(k)
}

// look refuses what would not even be let into the line.
func (a *admission) look(k class) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.full(k)
}

// full refuses more work while the line is full. The lock is held.
func (a *admission) full(k class) error {
	l := &a.lanes[k]
	if !a.putOff(k) && l.waiting < a.lineOf(k) {
		return nil
	}
	l.refused++
	a.shed(k)
	return tooMuch(k)
}

// leave gives a place to who waits.
func (a *admission) leave(k class, began time.Time) {
	took := time.Since(began)
	a.mu.Lock()
	l := &a.lanes[k]
	l.running--
	l.takes += (took - l.takes) / 16
	a.serve(k)
	a.mu.Unlock()
}

// putOff tells whether reports stay away because of more important work.
func (a *admission) putOff(k class) bool {
	if k != reports {
		return false
	}
	for _, l := range a.lanes[reads:] {
		if l.over || !l.calm.IsZero() && time.Since(l.calm) < calmAfter {
			return true
		}
	}
	return false
}

func (a *admission) placesOf(k class) int {
	if n := a.lanes[k].places; k != reads || !a.lanes[writes].over {
		return n
	}
	return max(1, a.lanes[k].places/4)
}

// lineOf is how many may wait: with too much work no more than have a place.
func (a *admission) lineOf(k class) int {
	if a.lanes[k].over {
		return a.placesOf(k)
	}
	return queueFactor * a.lanes[k].places
}

// serve gives free places to those who wait. The lock is held.
func (a *admission) serve(k class) {
	l := &a.lanes[k]
	if len(l.line) == 0 {
		return
	}
	now := time.Now()
	for len(l.line) > 0 && l.running < a.placesOf(k) {
		w := l.line[0]
		l.line[0] = nil
		l.line = l.line[1:]
		if w.gone {
			continue
		}
		waited := now.Sub(w.since)
		a.late(k, now, waited)
		tooMany := l.waiting > a.placesOf(k)-l.running
		l.waiting--
		if l.over && waited > l.target() && tooMany {
			l.refused++
			a.shed(k)
			w.let <- tooMuch(k)
			continue
		}
		l.running++
		w.let <- nil
	}
	if l.waiting == 0 {
		l.line, l.standing = nil, time.Time{}
		if l.over {
			l.over, l.calm = false, now
			a.log().Info("there is not too much to do any more", "work", k.String(), "refused", l.refused)
			l.refused = 0
		}
	}
}

// late learns how long something waited. The lock is held.
func (a *admission) late(k class, now time.Time, waited time.Duration) {
	l := &a.lanes[k]
	switch {
	case waited <= l.target():
		l.standing = time.Time{}
	case l.standing.IsZero():
		l.standing = now
	case !l.over && now.Sub(l.standing) >= overAfter:
		l.over = true
		if now.Sub(l.calm) > 10*calmAfter {
			a.log().Warn("there is more to do than can be done; some is refused", "work", k.String())
		}
	}
}
