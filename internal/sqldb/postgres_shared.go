package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	sharedWrites = 32                    // maximum number of writes in one transaction
	sharedTime   = 50 * time.Millisecond // time after which a transaction accepts no more writes, because other servers wait for its lock
)

// share runs fn in a transaction that locks a group. The transaction also runs the other
// writes of this server that are waiting for the group. They share one commit, and
// statements whose results are not needed can be sent with the next write. share returns
// errAlone if fn must run in its own transaction. Once fn is running, share waits for its
// outcome even if ctx ends.
func (e *postgresEngine) share(ctx context.Context, group string, fn func(Runner) error) error {
	j := newWriteJob(fn)
	e.queues.add(group, j, func(queue *writeQueue) { e.runShared(group, queue) })
	return j.await(ctx)
}

// runShared runs the jobs of a group until none is waiting.
func (e *postgresEngine) runShared(group string, queue *writeQueue) {
	for !e.queues.stop(group, queue) {
		taken := queue.take(context.Background())
		e.sharedTransaction(group, queue)
		if taken {
			<-queue.turn
		}
	}
}

// sharedTransaction runs waiting jobs of a group in one transaction. If one fails after it may
// have changed something, nothing is committed, and each job runs again alone.
func (e *postgresEngine) sharedTransaction(group string, queue *writeQueue) {
	var batch []*writeJob
	err := e.inShared(group, func(run *postgresTx, line *pipeline) (err error) {
		batch, err = e.runJobs(queue, run, line)
		return err
	})
	if err != nil && batch == nil { // fail all waiting writes now, because they could not begin either
		for j := e.queues.next(queue); j != nil; j = e.queues.next(queue) {
			if j.start(e.metrics.sharedQueued) {
				batch = append(batch, j)
			}
		}
	}
	e.metrics.sharedBatch.Observe(float64(len(batch)))
	for _, j := range batch {
		j.batch = len(batch)
		if err != nil && !errors.Is(j.err, errAlone) {
			j.err = err
		}
		close(j.done)
	}
}

// inShared runs fn in a transaction that locks a group. It returns errAlone if the transaction
// was certainly not committed and running the writes again may succeed.
func (e *postgresEngine) inShared(group string, fn func(*postgresTx, *pipeline) error) error {
	ctx := context.Background()
	conn, tx, err := e.begin(ctx)
	if err != nil {
		return beginFault(ctx, fmt.Errorf("begin: %w", err))
	}
	defer func() { _ = conn.Close() }()  // returns it to the pool
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	run := &postgresTx{conn: conn, tx: tx, queues: e.queues, group: group}
	var line *pipeline
	if err := pipelineOf(conn, func(p *pipeline) error {
		line = p
		for _, setting := range e.preamble {
			if err := p.savepoint(ctx, setting); err != nil {
				return err
			}
		}
		return p.savepoint(ctx, e.lockGroup, group)
	}); err != nil {
		return postgresFault(fmt.Errorf("begin: %w", err))
	}
	if err := fn(run, line); err != nil {
		return err
	}
	return e.commitShared(conn, tx)
}

// commitShared commits. PostgreSQL reports an error only if it did not commit.
func (e *postgresEngine) commitShared(conn *sql.Conn, tx *sql.Tx) error {
	begun := time.Now()
	err := tx.Commit()
	e.metrics.commit.Observe(time.Since(begun).Seconds())
	var refused *pgconn.PgError
	switch {
	case errors.Is(err, errStale), errors.As(err, &refused) && refused.Severity == "ERROR":
		return errAlone
	case err != nil:
		return postgresFault(fmt.Errorf("commit: %w", err))
	case unreplicated(conn):
		return errUnreplicated
	}
	return nil
}

// runJobs runs waiting jobs and returns them. A job that fails before it has changed anything
// leaves the transaction and keeps its error, or gets errAlone if it may succeed in another run.
// If runJobs returns an error, the transaction must be rolled back. The error is that of the
// first job if running the job again would not help, and otherwise errAlone.
func (e *postgresEngine) runJobs(queue *writeQueue, run *postgresTx, line *pipeline) (batch []*writeJob, err error) {
	began := time.Now()
	for len(batch) < sharedWrites && time.Since(began) < e.sharedTime {
		j := e.queues.next(queue)
		if j == nil {
			break
		}
		if !j.start(e.metrics.sharedQueued) {
			continue
		}
		batch = append(batch, j)
		before := line.changes
		j.err = guarded(j.fn, run)
		j.ran = time.Now()
		again := e.lostRace(j.err) || errors.Is(j.err, errStale) || errors.Is(j.err, errPanic)
		switch {
		case j.err == nil && !line.failed():
			line.accept()
		case len(batch) == 1 && j.err != nil && !again: // the error cannot be another write's
			return batch, j.err
		case line.failed() || line.changes != before || errors.Is(j.err, errPanic):
			return batch, errAlone
		default:
			line.discard()
			line.accept()
			if again {
				j.err = errAlone
			}
		}
	}
	return batch, nil
}
