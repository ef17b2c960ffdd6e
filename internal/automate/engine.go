package automate

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"cardwall/internal/backoff"
	"cardwall/internal/op"
	"cardwall/internal/store"
	"cardwall/internal/trace"
)

const (
	boardsAtOnce = 8
	runsAtOnce   = 32
	changesRead  = 256 // of a board in one reading

	gatherTime = 5 * time.Millisecond   // changes that come within it are looked at together
	lookEvery  = 30 * time.Second       // in vain, unless something was missed
	lookShared = 100 * time.Millisecond // with several servers, where others write changes
	lookMost   = 5 * time.Second        // that a slow reading puts the next one off
	noteEvery  = time.Second            // how far boards are handled
	claimTime  = 5 * time.Second        // a dead server's boards are free after this
	againAfter = time.Second            // after a failure
	clockEvery = 15 * time.Second       // due times are looked at
	stopTime   = 5 * time.Second
	clockLease = "automation:clock"
	triesOfRun = 3 // of one that fails in a way that nobody expected
	pauseOfRun = 100 * time.Millisecond
	unexpected = "Something unexpected went wrong; the server's log says more."
)

// Options say what automation works with.
type Options struct {
	DB       *store.DB
	Registry *op.Registry
	Holder   string        // the server's own name, for its leases
	Clock    time.Duration // how often due times are looked at; 0 is every 15 seconds
	Metrics  *Metrics      // nil for none
	Traces   *trace.Tracer // nil for none
	Log      *slog.Logger
}

// Engine runs rules.
type Engine struct {
	o    Options
	wake chan struct{}
	runs chan struct{} // a place for each run at once

	failures *backoff.Log

	mu      sync.Mutex
	dirty   map[string]bool  // boards with changes that nobody looked at
	busy    map[string]bool  // boards that are worked on
	handled map[string]int64 // how far boards are, where that is not in the database yet
	known   map[string]int64 // how far boards are
}

// New makes an engine; Run starts it.
func New(o Options) *Engine {
	if o.Clock == 0 {
		o.Clock = clockEvery
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	return &Engine{
		o: o, wake: make(chan struct{}, 1), runs: make(chan struct{}, runsAtOnce),
		failures: backoff.NewLog(o.Log), dirty: map[string]bool{}, busy: map[string]bool{}, handled: map[string]int64{}, known: map[string]int64{},
	}
}

// Run handles what happens until ctx ends. Then runs under way end, and what was
// not handled is handled by the next server.
func (e *Engine) Run(ctx context.Context) {
	stop := e.o.DB.OnChange(e.changed)
	defer stop()
	var helpers, boards sync.WaitGroup
	helpers.Go(func() { e.look(ctx) })
	helpers.Go(func() { e.note(ctx) })
	helpers.Go(func() { e.clock(ctx) })
	places := make(chan struct{}, boardsAtOnce)
	for ctx.Err() == nil {
		select {
		case <-e.wake:
		case <-ctx.Done():
			continue
		}
		pause(ctx, gatherTime)
		for _, id := range e.watched(ctx) {
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				e.leave(id, false)
				continue
			}
			boards.Go(func() {
				defer func() { <-places }()
				e.leave(id, e.work(ctx, id))
			})
		}
	}
	boards.Wait()
	helpers.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	e.write(last)
}

// changed notes boards that were just changed here. It never waits.
func (e *Engine) changed(boardIDs []string) {
	e.mu.Lock()
	for _, id := range boardIDs {
		e.dirty[id] = true
	}
	e.mu.Unlock()
	e.rouse()
}

func (e *Engine) rouse() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// watched are the boards among those that changed that have rules, and that nobody
// works on. From here on somebody does.
func (e *Engine) watched(ctx context.Context) []string {
	e.mu.Lock()
	ids := make([]string, 0, len(e.dirty))
	for id := range e.dirty {
		if !e.busy[id] { // it looks again at its end
			ids = append(ids, id)
			delete(e.dirty, id)
		}
	}
	e.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	found, err := e.o.DB.Backlogs(ctx, ids)
	if err != nil {
		e.later(ids, e.failed(ctx, cannotReadBoards, err))
		return nil
	}
	e.failures.Succeeded(cannotReadBoards)
	e.mu.Lock()
	defer e.mu.Unlock()
	ids = ids[:0]
	for _, l := range found {
		if at := max(l.Handled, e.known[l.BoardID]); l.Version > at {
			e.known[l.BoardID], e.busy[l.BoardID] = at, true
			ids = append(ids, l.BoardID)
		}
	}
	return ids
}

// leave ends the work on a board; again says that some is left.
func (e *Engine) leave(id string, again bool) {
	e.mu.Lock()
	delete(e.busy, id)
	changed := e.dirty[id]
	e.mu.Unlock()
	if again {
		time.AfterFunc(againAfter, func() { e.changed([]string{id}) })
	} else if changed {
		e.rouse()
	}
}

// later looks at boards again after a pause.
func (e *Engine) later(ids []string, wait time.Duration) {
	time.AfterFunc(wait, func() { e.changed(ids) })
}

// look finds boards with changes that nobody here was told of: at the start, and
// what other servers wrote.
func (e *Engine) look(ctx context.Context) {
	every := lookEvery
	if e.o.DB.Shared() {
		every = lookShared
	}
	for {
		began := time.Now()
		found, err := e.o.DB.Backlogs(ctx, nil)
		// A twentieth of the time goes into looking. A reading that hung because the
		// database could not be reached says nothing about its cost.
		wait := max(every, min(20*time.Since(began), lookMost))
		if err != nil {
			wait = e.failed(ctx, cannotLook, err)
		} else {
			e.failures.Succeeded(cannotLook)
		}
		ids := make([]string, 0, len(found))
		e.mu.Lock()
		for _, l := range found {
			if l.Version > e.known[l.BoardID] && !e.busy[l.BoardID] {
				ids = append(ids, l.BoardID)
			}
		}
		e.mu.Unlock()
		if len(ids) > 0 {
			e.changed(ids)
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

// note writes now and then how far boards are handled, where one process alone
// works on them: what is handled twice is done once all the same.
func (e *Engine) note(ctx context.Context) {
	wait := noteEvery
	for pause(ctx, wait) {
		wait = max(noteEvery, e.write(ctx))
	}
}

// write returns how long to wait at least before the next try.
func (e *Engine) write(ctx context.Context) (wait time.Duration) {
	e.mu.Lock()
	handled := maps.Clone(e.handled)
	e.mu.Unlock()
	if err := e.o.DB.Progress(ctx, e.o.Holder, handled, true); err != nil {
		return e.failed(ctx, cannotNote, err)
	}
	e.failures.Succeeded(cannotNote)
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, at := range handled {
		if e.handled[id] == at {
			delete(e.handled, id)
		}
	}
	return 0
}

// What the log says while a task fails.
const (
	cannotReadBoards = "the boards with rules cannot be read"
	cannotLook       = "the boards with rules cannot be looked for"
	cannotNote       = "how far rules are is not noted"
	cannotClaim      = "a board with rules is not claimed"
	cannotRead       = "the changes of a board with rules cannot be read"
	cannotRun        = "a rule waits for the database"
	cannotGiveUp     = "a failed run is not noted"
	cannotLease      = "the clock of rules is not leased"
	cannotReadTimed  = "the boards with rules of time cannot be read"
	cannotReadDue    = "due cards cannot be read"
	cannotNoteTime   = "the time of rules is not noted"
)

// failed notes what went wrong, unless the server is shutting down, and returns
// how long to wait before the next try.
func (e *Engine) failed(ctx context.Context, what string, err error) (wait time.Duration) {
	if ctx.Err() != nil {
		return againAfter
	}
	return max(againAfter, e.failures.Failed(what, err))
}

// pause waits; it is false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
