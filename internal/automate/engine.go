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
	changesRead  = 256 // maximum number of changes to a board read per query

	gatherTime   = 5 * time.Millisecond   // changes within this time are handled together
	pollEvery    = 30 * time.Second       // only finds changes that were missed
	pollShared   = 100 * time.Millisecond // poll interval if several servers can use the database, because the others write changes too
	maxPollPause = 5 * time.Second        // limit of the pause after a slow poll
	storeEvery   = time.Second            // interval for storing the handled versions
	claimTime    = 5 * time.Second        // after this time, other servers can claim the boards of a failed server
	retryAfter   = time.Second            // pause after a failure
	clockEvery   = 15 * time.Second       // interval for checking time-based triggers
	stopTime     = 5 * time.Second        // time limit for storing the progress, even after the engine was stopped
	clockLease   = "automation:clock"
	maxAttempts  = 3 // maximum number of attempts for a run that fails unexpectedly
	attemptPause = 100 * time.Millisecond
	unexpected   = "An unexpected error occurred. The server's log has the details."
)

// Options configures an Engine.
type Options struct {
	DB       *store.DB
	Registry *op.Registry
	Holder   string        // the server's name in its leases
	Clock    time.Duration // interval for checking time-based triggers; 0 means 15 seconds
	Metrics  *Metrics      // may be nil
	Traces   *trace.Tracer // may be nil
	Log      *slog.Logger
}

// Engine runs rules.
type Engine struct {
	o    Options
	wake chan struct{}
	runs chan struct{} // semaphore for concurrent runs

	failures *backoff.Log

	mu      sync.Mutex
	dirty   map[string]bool  // boards with changes that have not been handled
	busy    map[string]bool  // boards in progress
	handled map[string]int64 // handled versions that are not stored yet, by board
	known   map[string]int64 // handled versions, by board
}

// New returns an engine. Run starts it.
func New(o Options) *Engine {
	if o.Clock == 0 {
		o.Clock = clockEvery
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	return &Engine{
		o: o, wake: make(chan struct{}, 1), runs: make(chan struct{}, runsAtOnce),
		failures: backoff.NewLog(o.Log), dirty: map[string]bool{}, busy: map[string]bool{}, handled: map[string]int64{},
		known: map[string]int64{},
	}
}

// Run handles events until ctx ends. Then it finishes the runs in progress. The
// remaining events are handled after the next start, or by another server.
func (e *Engine) Run(ctx context.Context) {
	stop := e.o.DB.OnCommit(func(c store.Commit) {
		if len(c.Boards) > 0 {
			e.changed(c.Boards)
		}
	})
	defer stop()
	var helpers, boards sync.WaitGroup
	helpers.Go(func() { e.poll(ctx) })
	helpers.Go(func() { e.storeProgress(ctx) })
	helpers.Go(func() { e.clock(ctx) })
	slots := make(chan struct{}, boardsAtOnce)
	for ctx.Err() == nil {
		select {
		case <-e.wake:
		case <-ctx.Done():
			continue
		}
		backoff.Pause(ctx, gatherTime)
		for _, id := range e.claimChanged(ctx) {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				e.release(id, false)
				continue
			}
			boards.Go(func() {
				defer func() { <-slots }()
				e.release(id, e.work(ctx, id))
			})
		}
	}
	boards.Wait()
	helpers.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	e.write(last)
}

// changed marks boards as having changes that have not been handled, and wakes Run.
func (e *Engine) changed(boardIDs []string) {
	e.mu.Lock()
	for _, id := range boardIDs {
		e.dirty[id] = true
	}
	e.mu.Unlock()
	e.notify()
}

func (e *Engine) notify() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// claimChanged returns the changed boards that have rules and are not in progress,
// and marks them as in progress.
func (e *Engine) claimChanged(ctx context.Context) []string {
	e.mu.Lock()
	ids := make([]string, 0, len(e.dirty))
	for id := range e.dirty {
		if !e.busy[id] { // otherwise, the board is checked again when the work on it ends
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

// release ends the work on a board. If again is true, the board is handled again
// after a pause.
func (e *Engine) release(id string, again bool) {
	e.mu.Lock()
	delete(e.busy, id)
	changed := e.dirty[id]
	e.mu.Unlock()
	if again {
		time.AfterFunc(retryAfter, func() { e.changed([]string{id}) })
	} else if changed {
		e.notify()
	}
}

// later marks boards as changed after the given pause.
func (e *Engine) later(ids []string, wait time.Duration) {
	time.AfterFunc(wait, func() { e.changed(ids) })
}

// poll looks for boards with unhandled changes, once when the engine starts and then
// periodically. It finds the changes of other servers, and any that were missed.
func (e *Engine) poll(ctx context.Context) {
	every := pollEvery
	if e.o.DB.Shared() {
		every = pollShared
	}
	for {
		began := time.Now()
		found, err := e.o.DB.Backlogs(ctx, nil)
		// Polling takes at most about a twentieth of the time. The pause is limited, because
		// a poll also takes long if the database is unreachable.
		wait := max(every, min(20*time.Since(began), maxPollPause))
		if err != nil {
			wait = e.failed(ctx, cannotPoll, err)
		} else {
			e.failures.Succeeded(cannotPoll)
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
		if !backoff.Pause(ctx, wait) {
			return
		}
	}
}

// storeProgress periodically stores the version up to which each board is handled. If
// several servers can use the database, work stores it instead. After a crash, some
// changes are handled again, but rules do not run for them a second time.
func (e *Engine) storeProgress(ctx context.Context) {
	wait := storeEvery
	for backoff.Pause(ctx, wait) {
		wait = max(storeEvery, e.write(ctx))
	}
}

// write stores the handled versions. It returns the minimum pause before the next
// attempt.
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

// Log messages for failures.
const (
	cannotReadBoards = "boards with rules not read"
	cannotPoll       = "boards with rules not found"
	cannotNote       = "progress of rules not stored"
	cannotClaim      = "board with rules not claimed"
	cannotRead       = "changes of a board with rules not read"
	cannotRun        = "rule delayed by a database error"
	cannotGiveUp     = "failed run not recorded"
	cannotLease      = "lease for time-based rules not acquired"
	cannotReadTimed  = "boards with time-based rules not read"
	cannotReadDue    = "due cards not read"
	cannotNoteTime   = "progress of time-based rules not stored"
)

// failed logs an error, unless the server is shutting down, and returns the
// pause before the next attempt.
func (e *Engine) failed(ctx context.Context, what string, err error) (wait time.Duration) {
	if ctx.Err() != nil {
		return retryAfter
	}
	return max(retryAfter, e.failures.Failed(what, err))
}
