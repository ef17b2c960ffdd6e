package sqldb

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"cardwall/internal/trace"
)

const (
	writeQueueLimit = 1024                   // writes in the queue before callers block
	writeBatch      = 128                    // most writes in one transaction
	batchTime       = 100 * time.Millisecond // after which a batch accepts no more writes, because all run again if the last one fails

	busyShort    = 100         // milliseconds to wait for the lock of another process after a long wait failed
	recoverEvery = time.Second // while the state on disk is uncertain
)

// writeJob is one write in the queue of the writer.
type writeJob struct {
	fn     func(Runner) error
	state  atomic.Int32 // waiting, then running or abandoned
	err    error
	done   chan struct{}
	queued time.Time
	began  time.Time
	ran    time.Time // when fn returned; what follows is the end of its batch
	batch  int       // writes committed together
}

const (
	jobWaiting int32 = iota
	jobRunning
	jobAbandoned
)

// Write queues fn for the writer. Once fn runs, Write waits for its outcome even
// if ctx ends: a cancelled caller must not roll back the writes of others.
func (e *sqliteEngine) Write(ctx context.Context, fn func(Runner) error) error {
	j := &writeJob{fn: fn, done: make(chan struct{}), queued: time.Now()}
	e.closing.RLock()
	if e.closed {
		e.closing.RUnlock()
		return fmt.Errorf("%w: the server is shutting down", ErrUnavailable)
	}
	select {
	case e.jobs <- j:
		e.closing.RUnlock()
	case <-ctx.Done():
		e.closing.RUnlock()
		return fmt.Errorf("%w: the queue of writes is full: %w", ErrUnavailable, ctx.Err())
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if j.state.CompareAndSwap(jobWaiting, jobAbandoned) {
			return fmt.Errorf("%w: the write did not begin in time: %w", ErrUnavailable, ctx.Err())
		}
		<-j.done
	}
	j.record(trace.Of(ctx))
	return j.err
}

func (e *sqliteEngine) loop() {
	defer close(e.done)
	for {
		var again <-chan time.Time
		if e.uncertain.Load() && !e.recover() {
			again = time.After(recoverEvery)
		}
		for waiting := true; waiting; waiting = again != nil {
			select {
			case j, more := <-e.jobs:
				if more && again == nil && e.uncertain.Load() && !e.recover() { // a checkpoint failed meanwhile
					again = time.After(recoverEvery)
				}
				switch {
				case !more:
					return
				case again == nil:
					e.commit(j)
					e.restartLog()
				case j.state.CompareAndSwap(jobWaiting, jobRunning):
					j.err = e.whyRefused()
					close(j.done)
				}
			case <-again:
				again = nil
			}
		}
	}
}

// commit runs one write and all others that are waiting in one transaction. They
// run without savepoints, for which SQLite would copy every changed page. If one
// fails after it changed a row, all are rolled back, and the others run again,
// each in a savepoint of its own.
func (e *sqliteEngine) commit(first *writeJob) {
	batch := make([]*writeJob, 0, 16)
	defer func() {
		for _, j := range batch {
			j.batch = len(batch)
			close(j.done)
		}
	}()
	ctx := context.Background()
	err := e.begin(ctx)
	if err != nil { // the waiting writes would only fail later
		for j := first; j != nil; j = e.next(len(batch)) {
			if j.start(e.metrics) {
				batch = append(batch, j)
			}
		}
		e.abandon(ctx, batch, fmt.Errorf("begin: %w", err))
		return
	}
	careful, began := false, time.Now()
	for j := first; j != nil; j = e.next(len(batch)) {
		if !j.start(e.metrics) {
			continue
		}
		batch = append(batch, j)
		harmless := true
		if careful {
			err = e.apply(ctx, j)
		} else if harmless, err = e.run(ctx, j); !harmless && err == nil {
			careful, err = true, e.rerun(ctx, batch)
		}
		if err != nil {
			e.abandon(ctx, batch, err)
			return
		}
		if time.Since(began) > batchTime {
			break
		}
	}
	if err := e.end(ctx, len(batch)); err != nil {
		e.abandon(ctx, batch, err)
	}
}

// start begins a write whose caller still waits.
func (j *writeJob) start(m *Metrics) bool {
	if !j.state.CompareAndSwap(jobWaiting, jobRunning) {
		return false
	}
	j.began = time.Now()
	m.queued.Observe(j.began.Sub(j.queued).Seconds())
	return true
}

// changes returns how many rows the writer has changed since it was opened.
func (e *sqliteEngine) changes(ctx context.Context) (n int64, err error) {
	_, err = One(ctx, e.writer, "SELECT total_changes()", nil, &n)
	return n, err
}

// run runs one write. The write is harmless if it succeeds, or if it is refused
// before it has changed a row and SQLite has not ended the transaction. The
// effects of any other failure are unknown; it may even have changed the
// schema.
func (e *sqliteEngine) run(ctx context.Context, j *writeJob) (harmless bool, err error) {
	before, err := e.changes(ctx)
	if err != nil {
		return false, err
	}
	j.err = guarded(j.fn, e.writer)
	j.ran = time.Now()
	if j.err == nil {
		return true, nil
	}
	if !e.refused(j.err) {
		return false, nil
	}
	after, err := e.changes(ctx)
	if err != nil || after != before {
		return false, err
	}
	_, err = e.writer.Exec(ctx, "BEGIN") // fails inside a transaction
	return err != nil, nil
}

// rerun rolls a batch back and runs the writes that did not fail again.
func (e *sqliteEngine) rerun(ctx context.Context, batch []*writeJob) error {
	_, _ = e.writer.Exec(ctx, "ROLLBACK") // SQLite may have done it already
	if err := e.begin(ctx); err != nil {
		return fmt.Errorf("begin again: %w", err)
	}
	for _, j := range batch {
		if j.err == nil {
			if err := e.apply(ctx, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// end commits a batch.
func (e *sqliteEngine) end(ctx context.Context, writes int) error {
	begun := time.Now()
	_, err := e.writer.Exec(ctx, "COMMIT")
	e.committed.Store(true)
	if isIOError(err) {
		e.uncertain.Store(true)
		e.log.Error("commit failed: disk error; writes refused until the disk recovers", "error", err)
	}
	e.metrics.commit.Observe(time.Since(begun).Seconds())
	e.metrics.batch.Observe(float64(writes))
	return err
}

// abandon rolls back a batch, and fails its writes that had not failed.
func (e *sqliteEngine) abandon(ctx context.Context, batch []*writeJob, err error) {
	_, _ = e.writer.Exec(ctx, "ROLLBACK") // SQLite may have done it already
	for _, j := range batch {
		if j.err == nil {
			j.err = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
}

// next returns the next waiting write, or nil if there is none or the batch is full.
func (e *sqliteEngine) next(have int) *writeJob {
	if have >= writeBatch {
		return nil
	}
	select {
	case j := <-e.jobs:
		return j // nil once the queue is closed and empty
	default:
		return nil
	}
}

// apply runs one write in a savepoint. It stores the write's own error in the job;
// an error that it returns ends the whole batch, for example when a full disk made
// SQLite roll back everything.
func (e *sqliteEngine) apply(ctx context.Context, j *writeJob) error {
	if _, err := e.writer.Exec(ctx, "SAVEPOINT job"); err != nil {
		return err
	}
	j.err = guarded(j.fn, e.writer)
	j.ran = time.Now()
	if j.err != nil {
		if _, err := e.writer.Exec(ctx, "ROLLBACK TO job"); err != nil {
			return err
		}
	}
	_, err := e.writer.Exec(ctx, "RELEASE job")
	return err
}

// guarded turns a panic in one write into an error, so that the writer continues.
func guarded(fn func(Runner) error, r Runner) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", v, debug.Stack())
		}
	}()
	return fn(r)
}

// record adds to a trace how long a write waited for the writer, and for the end
// of its batch.
func (j *writeJob) record(s *trace.Span) {
	if s == nil || j.began.IsZero() {
		return
	}
	s.Past("queue", j.queued, j.began).End()
	commit := s.Past("commit", j.ran, time.Now())
	commit.Number("cardwall.batch.size", int64(j.batch))
	commit.End()
}
