package sqldb

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"cardwall/internal/trace"
)

const (
	writeQueueLimit = 1024                   // maximum number of queued writes; further callers block
	writeBatch      = 128                    // maximum number of writes in one transaction
	batchTime       = 100 * time.Millisecond // time after which a batch accepts no more writes, because all rerun if one fails

	busyShort    = 100         // milliseconds to wait for another process's lock after a long wait has failed
	recoverEvery = time.Second // interval between attempts while the state on disk is uncertain
)

// writeJob is one write in the writer's queue.
type writeJob struct {
	fn     func(Runner) error
	state  atomic.Int32 // waiting, then running or abandoned
	err    error
	done   chan struct{}
	queued time.Time
	began  time.Time
	ran    time.Time // when fn returned; the rest of its batch follows
	batch  int       // number of writes committed together
}

const (
	jobWaiting int32 = iota
	jobRunning
	jobAbandoned
)

// Write queues fn for the writer. Once fn is running, Write waits for its outcome even if
// ctx ends, because a canceled caller must not roll back the writes of others.
func (e *sqliteEngine) Write(ctx context.Context, _ []string, fn func(Runner) error) error {
	j := newWriteJob(fn)
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
		return fmt.Errorf("%w: the write queue is full: %w", ErrUnavailable, ctx.Err())
	}
	return FileFault(e.path, j.await(ctx))
}

func newWriteJob(fn func(Runner) error) *writeJob {
	return &writeJob{fn: fn, done: make(chan struct{}), queued: time.Now()}
}

// await waits for a job and returns its outcome. If ctx ends before the job is running,
// await abandons the job and returns an error.
func (j *writeJob) await(ctx context.Context) error {
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
				if more && again == nil && e.uncertain.Load() && !e.recover() { // a checkpoint has failed in the meantime
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

// commit runs one write and all other waiting writes in one transaction. They run
// without savepoints, because savepoints make SQLite copy every changed page. If a
// write fails and may have changed something, all writes are rolled back. The others
// run again, each in its own savepoint.
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
	if err != nil { // fail all waiting writes now, because they could not begin either
		for j := first; j != nil; j = e.next(len(batch)) {
			if j.start(e.metrics.queued) {
				batch = append(batch, j)
			}
		}
		e.abandon(ctx, batch, fmt.Errorf("begin: %w", err))
		return
	}
	e.writer.undo.careful = false
	began := time.Now()
	for j := first; j != nil; j = e.next(len(batch)) {
		if !j.start(e.metrics.queued) {
			continue
		}
		batch = append(batch, j)
		if e.writer.undo.careful {
			err = e.apply(ctx, j)
		} else if !e.run(ctx, j) {
			err = e.rerun(ctx, batch)
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

// start marks a write as running. It returns false if the caller no longer waits for it.
func (j *writeJob) start(queued prometheus.Observer) bool {
	if !j.state.CompareAndSwap(jobWaiting, jobRunning) {
		return false
	}
	j.began = time.Now()
	queued.Observe(j.began.Sub(j.queued).Seconds())
	return true
}

// run runs one write and reports whether it was harmless: it succeeded, or its failure left
// the transaction as it was.
func (e *sqliteEngine) run(ctx context.Context, j *writeJob) (harmless bool) {
	before := e.writer.undo.changes()
	e.writer.undo.again = false
	j.err = guarded(j.fn, e.writer)
	j.ran = time.Now()
	if e.writer.undo.again {
		if errors.Is(j.err, errAgain) {
			j.err = nil // the error of its second run counts
		}
		return false
	}
	return j.err == nil || e.writer.harmless(ctx, j.err, before)
}

// rerun rolls back a batch and reruns the writes that have not failed, in savepoints.
func (e *sqliteEngine) rerun(ctx context.Context, batch []*writeJob) error {
	e.writer.undo.careful = true
	_, _ = e.writer.Exec(ctx, "ROLLBACK") // SQLite may have rolled back already
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
	select {
	case e.committed <- struct{}{}:
	default:
	}
	if isIOError(err) {
		e.uncertain.Store(true)
		e.log.Error("commit failed because of a disk error; writes refused until the disk recovers", "error", err)
	}
	e.metrics.commit.Observe(time.Since(begun).Seconds())
	e.metrics.batch.Observe(float64(writes))
	return err
}

// abandon rolls back a batch. It sets err as the error of all its writes that have no
// error yet.
func (e *sqliteEngine) abandon(ctx context.Context, batch []*writeJob, err error) {
	_, _ = e.writer.Exec(ctx, "ROLLBACK") // SQLite may have rolled back already
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

// apply runs one write in a savepoint. It stores the write's own error in the job. If it
// returns an error, the whole batch must end, for example because SQLite has rolled back
// everything on a full disk.
func (e *sqliteEngine) apply(ctx context.Context, j *writeJob) (err error) {
	j.err, err = e.writer.inSavepoint(ctx, "job", func() error {
		defer func() { j.ran = time.Now() }()
		return guarded(j.fn, e.writer)
	})
	return err
}

var errPanic = errors.New("panic in a write")

// guarded turns a panic in one write into an error that wraps errPanic, so that the
// writer continues.
func guarded(fn func(Runner) error, r Runner) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, v, debug.Stack())
		}
	}()
	return fn(r)
}

// record adds to a trace how long the write waited for the writer, and how long for the
// end of its batch.
func (j *writeJob) record(s *trace.Span) {
	if s == nil || j.began.IsZero() {
		return
	}
	s.Past("queue", j.queued, j.began).End()
	commit := s.Past("commit", j.ran, time.Now())
	commit.Number("cardwall.batch.size", int64(j.batch))
	commit.End()
}
