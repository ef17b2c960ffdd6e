package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/trace"
)

const (
	writeQueue = 1024                   // writes that wait before further ones wait for a place in the queue
	writeBatch = 128                    // most writes in one transaction
	writeTime  = 100 * time.Millisecond // after which it takes no more: who fails last has all others run again

	busyShort   = 100         // milliseconds that the writer waits for the lock of another process when it waited for long in vain
	settleEvery = time.Second // while what is on disk is not known
)

// writeJob is one write on its way through the writer.
type writeJob struct {
	fn     func(runner) error
	state  atomic.Int32 // waiting, then running or abandoned
	err    error
	done   chan struct{}
	handed time.Time // to the writer
	began  time.Time
	ran    time.Time // until then; what follows is the end of its batch
	batch  int       // writes that were committed with it
}

const (
	jobWaiting int32 = iota
	jobRunning
	jobAbandoned
)

// write hands fn to the writer. Once it runs the outcome is awaited whatever
// becomes of ctx: a cancelled caller must not roll back the others' batch.
func (e *sqliteEngine) write(ctx context.Context, fn func(runner) error) error {
	j := &writeJob{fn: fn, done: make(chan struct{}), handed: time.Now()}
	e.closing.RLock()
	if e.closed {
		e.closing.RUnlock()
		return fmt.Errorf("%w: the server is stopping", errUnavailable)
	}
	select {
	case e.jobs <- j:
		e.closing.RUnlock()
	case <-ctx.Done():
		e.closing.RUnlock()
		return fmt.Errorf("%w: the queue of writes is full: %w", errUnavailable, ctx.Err())
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if j.state.CompareAndSwap(jobWaiting, jobAbandoned) {
			return fmt.Errorf("%w: the write did not begin in time: %w", errUnavailable, ctx.Err())
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
		if e.doubt.Load() && !e.settle() {
			again = time.After(settleEvery)
		}
		for waiting := true; waiting; waiting = again != nil {
			select {
			case j, more := <-e.jobs:
				switch {
				case !more:
					return
				case again == nil:
					e.commit(j)
				case j.state.CompareAndSwap(jobWaiting, jobRunning):
					j.err = e.uncertain()
					close(j.done)
				}
			case <-again:
				again = nil
			}
		}
	}
}

// commit runs one write and whatever else is waiting in one transaction. They
// run without savepoints, for which SQLite would copy every page that changes.
// When one fails that had changed something, all are rolled back, and the others
// run again, each in a savepoint of its own.
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
	if err != nil { // the others that wait would only wait longer for the same
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
			careful, err = true, e.again(ctx, batch)
		}
		if err != nil {
			e.abandon(ctx, batch, err)
			return
		}
		if time.Since(began) > writeTime {
			break
		}
	}
	if err := e.end(ctx, len(batch)); err != nil {
		e.abandon(ctx, batch, err)
	}
}

// start begins a write that was not given up meanwhile.
func (j *writeJob) start(m *Metrics) bool {
	if !j.state.CompareAndSwap(jobWaiting, jobRunning) {
		return false
	}
	j.began = time.Now()
	m.queued.Observe(j.began.Sub(j.handed).Seconds())
	return true
}

// changes counts the rows that the writer has changed since it was opened.
func (e *sqliteEngine) changes(ctx context.Context) (n int64, err error) {
	rows, err := e.writer.query(ctx, "SELECT total_changes()")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if rows.Next() {
		err = rows.Scan(&n)
	}
	return n, errors.Join(err, rows.Err())
}

// run runs one write. It is harmless when it succeeds, or is refused before it has
// changed a row and without SQLite ending the transaction. Of any other failure
// nobody knows what it leaves; a schema may have changed.
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
	if _, refused := board.AsFault(j.err); !refused {
		return false, nil
	}
	after, err := e.changes(ctx)
	if err != nil || after != before {
		return false, err
	}
	_, begun := e.writer.exec(ctx, "BEGIN") // refused while there is a transaction
	return begun != nil, nil
}

// again runs what has not failed of a batch from its beginning.
func (e *sqliteEngine) again(ctx context.Context, batch []*writeJob) error {
	_, _ = e.writer.exec(ctx, "ROLLBACK") // may have been done by SQLite already
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

// end makes a batch durable.
func (e *sqliteEngine) end(ctx context.Context, writes int) error {
	begun := time.Now()
	_, err := e.writer.exec(ctx, "COMMIT")
	if isIOError(err) {
		e.doubt.Store(true)
		e.log.Error("the disk failed while a write was made durable; nothing is written before the log is in the database", "error", err)
	}
	e.metrics.commit.Observe(time.Since(begun).Seconds())
	e.metrics.batch.Observe(float64(writes))
	return err
}

// abandon undoes a batch, and fails what had not failed of it.
func (e *sqliteEngine) abandon(ctx context.Context, batch []*writeJob, err error) {
	_, _ = e.writer.exec(ctx, "ROLLBACK") // may have been done by SQLite already
	for _, j := range batch {
		if j.err == nil {
			j.err = fmt.Errorf("%w: %w", errUnavailable, err)
		}
	}
}

// next is the next write that waits, nil when there is none or the batch is full.
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

// apply runs one write in a savepoint. Its own failure is kept in the job; the
// error that it returns ends the whole batch, as when a full disk made SQLite
// roll back everything.
func (e *sqliteEngine) apply(ctx context.Context, j *writeJob) error {
	if _, err := e.writer.exec(ctx, "SAVEPOINT job"); err != nil {
		return err
	}
	j.err = guarded(j.fn, e.writer)
	j.ran = time.Now()
	if j.err != nil {
		if _, err := e.writer.exec(ctx, "ROLLBACK TO job"); err != nil {
			return err
		}
	}
	_, err := e.writer.exec(ctx, "RELEASE job")
	return err
}

// guarded keeps a panic inside one write from ending the writer.
func guarded(fn func(runner) error, r runner) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", v, debug.Stack())
		}
	}()
	return fn(r)
}
