// Package job runs long operations: imports, copies of large boards and lists, and moves
// of large lists to another board. A job is a row in the database. It writes in slices of
// a few milliseconds each, with a pause after each slice, so that other writes do not
// wait long. The created objects become visible when they are complete. If a server
// stops, another server continues its jobs.
package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"cardwall/internal/backoff"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	jobsAtOnce  = 2
	pollEvery   = 30 * time.Second // in case a signal was lost
	pollShared  = time.Second      // with several servers, because another one may fail
	lease       = 10 * time.Second // a failed server's jobs continue elsewhere after this time
	renewEvery  = 2 * time.Second  // interval at which leases are renewed
	maxAttempts = 5                // maximum number of attempts for a job that fails unexpectedly or whose server fails
	cardsPurged = 50               // maximum number of cards deleted per transaction from an abandoned board or list
	partsPurged = 20               // maximum number of parts deleted per transaction
	retryAfter  = time.Second      // minimum pause after a failure
)

// Options configures an Engine.
type Options struct {
	DB     *store.DB
	Holder string // the server's name in its leases

	// Draft adds the boards of a job to a draft. For a job whose parts StorePart stores,
	// it is called only if the server stopped before it had stored all of them. It must
	// then return an error.
	Draft func(ctx context.Context, d *store.Draft, j *store.RunningJob) error

	Lists Lists
	Moves Moves

	Metrics *Metrics // may be nil
	Log     *slog.Logger
}

// Engine runs jobs.
type Engine struct {
	o        Options
	wake     chan struct{}
	running  atomic.Int32
	failures *backoff.Log
	sliced   func() // called after each slice, by tests; may be nil
}

// New returns an engine. Run starts it.
func New(o Options) *Engine {
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	return &Engine{o: o, wake: make(chan struct{}, 1), failures: backoff.NewLog(o.Log)}
}

// Run runs jobs until ctx ends. It then releases each running job at the end of its
// current slice.
func (e *Engine) Run(ctx context.Context) {
	stop := e.o.DB.OnCommit(func(c store.Commit) {
		if c.Jobs {
			e.signal()
		}
	})
	defer stop()
	var running sync.WaitGroup
	slots := make(chan struct{}, jobsAtOnce)
	running.Go(func() { e.renew(ctx) })
	for ctx.Err() == nil {
		wait := e.start(ctx, slots, &running)
		select {
		case <-e.wake:
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	running.Wait()
	e.release(ctx)
}

// RunOne runs only the given job. It returns only when ctx ends, even if the job ends
// earlier. It is for programs that are not servers. A server on the same database may
// also claim the job, but never at the same time.
func (e *Engine) RunOne(ctx context.Context, id string) {
	var renewing sync.WaitGroup
	renewing.Go(func() { e.renew(ctx) })
	for {
		j, err := e.o.DB.ClaimJob(ctx, e.o.Holder, id, lease)
		if err == nil && j != nil {
			e.running.Add(1)
			e.run(ctx, j)
			e.running.Add(-1)
		} else if err != nil {
			e.failed(ctx, cannotClaim, err)
		}
		if !backoff.Pause(ctx, pollShared) {
			break
		}
	}
	renewing.Wait()
	e.release(ctx)
}

// release ends the leases of this server, so that another one can claim its jobs.
func (e *Engine) release(ctx context.Context) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease)
	defer cancel()
	if err := e.o.DB.ReleaseJobs(last, e.o.Holder); err != nil {
		e.failures.Failed(cannotRelease, err)
	}
}

func (e *Engine) pollInterval() time.Duration {
	if e.o.DB.Shared() {
		return pollShared
	}
	return pollEvery
}

func (e *Engine) signal() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// start claims jobs while slots are free, and deletes leftovers if no job is queued. It
// returns the pause before the next attempt.
func (e *Engine) start(ctx context.Context, slots chan struct{}, running *sync.WaitGroup) time.Duration {
	for {
		select {
		case slots <- struct{}{}:
		default:
			return e.pollInterval()
		}
		j, err := e.o.DB.ClaimJob(ctx, e.o.Holder, "", lease)
		if err != nil || j == nil {
			<-slots
			if err != nil {
				return e.failed(ctx, cannotClaim, err)
			}
			e.failures.Succeeded(cannotClaim)
			return e.sweep(ctx)
		}
		e.running.Add(1)
		running.Go(func() {
			defer func() { e.running.Add(-1); <-slots; e.signal() }()
			e.run(ctx, j)
		})
	}
}

// renew renews the leases of the jobs that run here.
func (e *Engine) renew(ctx context.Context) {
	for backoff.Pause(ctx, renewEvery) {
		if e.running.Load() == 0 {
			continue
		}
		if err := e.o.DB.RenewJobs(ctx, e.o.Holder, lease); err != nil {
			e.failed(ctx, cannotRenew, err)
		} else {
			e.failures.Succeeded(cannotRenew)
		}
	}
}

// run runs a job until ctx or the job ends, the job is canceled, or another server claims
// it. After an unexpected error, it leaves the job to the next attempt. After maxAttempts,
// the job fails, unless it is moving a list.
func (e *Engine) run(ctx context.Context, j *store.RunningJob) {
	began := time.Now()
	err := e.work(ctx, j)
	var fault *board.Fault
	switch {
	case err == nil:
		e.o.Metrics.ended(j.Kind, "done", time.Since(began))
		return
	case errors.Is(err, store.ErrJobLost):
		e.o.Metrics.ended(j.Kind, "lost", time.Since(began))
		return
	case ctx.Err() != nil:
		return // Run or RunOne releases the job
	}
	if f, ok := board.AsFault(err); ok && f.Code != board.CodeUnavailable && !j.Moving {
		fault = f
	} else {
		e.o.Log.ErrorContext(ctx, "job failed", "job", j.ID, "kind", j.Kind, "attempt", j.Tries, "error", err)
		if j.Tries < maxAttempts || j.Moving {
			if err := e.o.DB.YieldJob(ctx, j.ID, e.o.Holder, lease); err != nil {
				e.failed(ctx, cannotYield, err) // a server claims the job when no other job runs here and the lease expires
			}
			return
		}
		fault = board.Refuse(board.CodeInternal, "An unexpected error occurred. The server's log has the details under %s.", j.ID)
	}
	e.o.Metrics.ended(j.Kind, "failed", time.Since(began))
	if err := e.slice(ctx, func(tx *store.Tx) error {
		held, err := tx.HoldJob(ctx, j.ID, e.o.Holder)
		if err != nil {
			return err
		}
		switch {
		case held.Recorded >= 0: // its results are already visible
			return tx.EndJobList(ctx, j.ID, false)
		case held.Moving:
			return nil
		}
		return tx.FailJob(ctx, j.ID, board.JobError{Code: fault.Code, Message: fault.Message})
	}); err != nil && !errors.Is(err, store.ErrJobLost) {
		e.failed(ctx, cannotFail, err)
	}
}

// work drafts the results of a job, writes them and makes them visible, or moves a list. It
// continues where an earlier attempt stopped.
func (e *Engine) work(ctx context.Context, j *store.RunningJob) error {
	if j.Tries > maxAttempts && !j.Moving {
		return fmt.Errorf("the job did not end in %d attempts", maxAttempts)
	}
	switch {
	case j.Kind == board.JobMoveList:
		return e.moveList(ctx, j)
	case j.Kind.MakesList():
		return e.workOnList(ctx, j)
	}
	if j.Parts < 0 {
		if err := e.draft(ctx, j); err != nil {
			return fmt.Errorf("draft: %w", err)
		}
	}
	for n := j.Written; n < j.Parts; n++ {
		if err := e.write(ctx, j, n); err != nil {
			return fmt.Errorf("write part %d: %w", n, err)
		}
	}
	return e.finish(ctx, j)
}

// dropParts deletes the parts of an earlier, incomplete attempt.
func (e *Engine) dropParts(ctx context.Context, j *store.RunningJob) error {
	for {
		var n int64
		if err := e.held(ctx, j, func(tx *store.Tx) (err error) {
			n, err = tx.PurgeJobParts(ctx, j.ID, partsPurged)
			return err
		}); err != nil || n < partsPurged {
			return err
		}
	}
}

// draft divides the records of a job into parts and stores them.
func (e *Engine) draft(ctx context.Context, j *store.RunningJob) error {
	if err := e.dropParts(ctx, j); err != nil {
		return err
	}
	parts, total := 0, 0
	err := e.o.DB.Stream(ctx, j.Caller, func(v *store.View) error {
		w, err := allowed(ctx, v, j)
		if err != nil {
			return err
		}
		d := v.NewDraft(w, func(p store.Part) error {
			if err := e.storeOwnPart(ctx, j, parts, p); err != nil {
				return err
			}
			parts++
			total += p.Records
			return nil
		})
		if err := e.o.Draft(ctx, d, j); err != nil {
			return err
		}
		if err := d.Flush(ctx); err != nil {
			return err
		}
		return v.CheckStorage(ctx, w.OrganizationID, d.Bytes())
	})
	if err != nil {
		return err
	}
	j.Parts = parts
	return e.held(ctx, j, func(tx *store.Tx) error { return tx.SetJobParts(ctx, j.ID, parts, total, nil) })
}

// allowed returns the workspace of a job. It returns an error if the caller can no
// longer create boards in it.
func allowed(ctx context.Context, v *store.View, j *store.RunningJob) (board.Workspace, error) {
	if err := callerAllowed(ctx, v); err != nil {
		return board.Workspace{}, err
	}
	w, err := v.Workspace(ctx, j.WorkspaceID, board.CreateBoards)
	if board.IsCode(err, board.CodeNotFound) {
		err = board.Refuse(board.CodeNotFound, "The workspace is no longer available to you.")
	}
	return w, err
}

// callerAllowed returns an error if the account or token that started the job is no
// longer valid.
func callerAllowed(ctx context.Context, v *store.View) error {
	ok, err := v.JobCallerAllowed(ctx)
	if err == nil && !ok {
		err = board.Forbidden("The account that started this job was closed, or its token was revoked.")
	}
	return err
}

// storeOwnPart is StorePart for a job that the engine runs.
func (e *Engine) storeOwnPart(ctx context.Context, j *store.RunningJob, n int, p store.Part) error {
	body, err := pack(p)
	if err != nil {
		return err
	}
	return e.held(ctx, j, func(tx *store.Tx) error { return tx.StoreJobPart(ctx, j.ID, n, body) })
}

// StorePart stores a part of a job whose parts another component receives, and renews that
// component's lease. It returns store.ErrJobLost if the job accepts no more parts, for
// example because it was canceled.
func (e *Engine) StorePart(ctx context.Context, jobID string, n int, p store.Part) error {
	body, err := pack(p)
	if err != nil {
		return err
	}
	return e.slice(ctx, func(tx *store.Tx) error { return tx.ReceiveJobPart(ctx, jobID, n, body) })
}

// part reads and decompresses one part of a job.
func (e *Engine) part(ctx context.Context, j *store.RunningJob, n int) (store.Part, error) {
	var packed []byte
	if err := e.o.DB.Read(ctx, board.System(), func(v *store.View) (err error) {
		packed, err = v.JobPart(ctx, j.ID, n)
		return err
	}); err != nil {
		return store.Part{}, err
	}
	return unpack(packed)
}

// write writes the records of one part.
func (e *Engine) write(ctx context.Context, j *store.RunningJob, n int) error {
	p, err := e.part(ctx, j, n)
	if err != nil {
		return err
	}
	return e.held(ctx, j, func(tx *store.Tx) error { return tx.WriteJobPart(ctx, j.ID, n, p.Body, p.Records) })
}

// finish makes the boards of a job visible, on behalf of the job's caller.
func (e *Engine) finish(ctx context.Context, j *store.RunningJob) error {
	return e.o.DB.Write(ctx, j.Caller, func(tx *store.Tx) error {
		if _, err := tx.HoldJob(ctx, j.ID, e.o.Holder); err != nil {
			return err
		}
		if _, err := allowed(ctx, tx.View, j); err != nil {
			return err
		}
		boards, err := tx.FinishJob(ctx, j.ID)
		if err != nil {
			return err
		}
		subject := j.WorkspaceID
		if len(boards) > 0 && j.Kind != board.JobImport {
			subject = boards[0]
		}
		if len(boards) > 0 {
			if _, err := tx.View.Board(ctx, boards[len(boards)-1], board.View); err != nil {
				return err
			}
		}
		return tx.Audit(ctx, string(j.Kind), subject)
	})
}

// held runs fn in a slice if this server still holds the lease for the job. Otherwise it
// returns store.ErrJobLost.
func (e *Engine) held(ctx context.Context, j *store.RunningJob, fn func(*store.Tx) error) error {
	return e.heldFor(ctx, board.System(), j, fn)
}

// heldFor is like held, but on behalf of a caller.
func (e *Engine) heldFor(ctx context.Context, caller board.Caller, j *store.RunningJob, fn func(*store.Tx) error) error {
	return e.sliceFor(ctx, caller, func(tx *store.Tx) error {
		if _, err := tx.HoldJob(ctx, j.ID, e.o.Holder); err != nil {
			return err
		}
		return fn(tx)
	})
}

// slice runs one short transaction on behalf of the server itself, and then pauses.
func (e *Engine) slice(ctx context.Context, fn func(*store.Tx) error) error {
	return e.sliceFor(ctx, board.System(), fn)
}

func (e *Engine) sliceFor(ctx context.Context, caller board.Caller, fn func(*store.Tx) error) error {
	took, err := e.o.DB.WriteSliceFor(ctx, caller, fn)
	e.o.Metrics.sliced(took)
	if e.sliced != nil {
		e.sliced()
	}
	return err
}

// sweep deletes some leftovers of jobs that have ended: hidden boards, hidden lists and
// parts. It returns the pause before the next attempt, which is 0 if there may be more.
func (e *Engine) sweep(ctx context.Context) time.Duration {
	var held, more bool
	left, err := e.o.DB.HasJobLeftovers(ctx)
	if err == nil && left {
		held, err = e.o.DB.Lease(ctx, "jobs:sweep", e.o.Holder, lease)
	}
	if err == nil && held {
		more, err = e.deleteLeftovers(ctx)
	}
	if err != nil {
		return e.failed(ctx, cannotSweep, err)
	}
	e.failures.Succeeded(cannotSweep)
	switch {
	case more:
		return 0
	case left && !held:
		return min(e.pollInterval(), lease) // the other server may have failed
	}
	return e.pollInterval()
}

// deleteLeftovers deletes some leftovers of jobs. It reports whether there may be more.
func (e *Engine) deleteLeftovers(ctx context.Context) (more bool, err error) {
	err = e.slice(ctx, func(tx *store.Tx) error {
		more = false
		id, err := tx.AbandonedBoard(ctx)
		if err != nil {
			return err
		}
		if id != "" {
			more = true
			_, err = tx.PurgeBoard(ctx, id, cardsPurged)
			return err
		}
		if id, err = tx.AbandonedList(ctx); err != nil {
			return err
		}
		if id != "" {
			more = true
			_, err = tx.PurgeHiddenList(ctx, id, cardsPurged)
			return err
		}
		n, err := tx.PurgeJobParts(ctx, "", partsPurged)
		more = n > 0
		return err
	})
	return more, err
}

// Log messages for failing tasks.
const (
	cannotClaim   = "jobs not claimed"
	cannotRenew   = "job leases not renewed"
	cannotRelease = "jobs not released"
	cannotYield   = "failed job not released"
	cannotFail    = "failed job not recorded"
	cannotSweep   = "job leftovers not deleted"
)

// failed logs an error, unless ctx has ended, and returns the pause before the next
// attempt.
func (e *Engine) failed(ctx context.Context, what string, err error) time.Duration {
	if ctx.Err() != nil {
		return retryAfter
	}
	return max(retryAfter, e.failures.Failed(what, err))
}
