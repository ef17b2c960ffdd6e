package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"cardwall/internal/trace"
)

// rollbackTimeout limits the rollback that ends a snapshot. The rollback cannot use the
// caller's context, which may have ended.
const rollbackTimeout = 2 * time.Second

// statementTimeout returns the statements that make PostgreSQL enforce the limit, or nil
// for no limit. Because PostgreSQL enforces it, the limit applies even if this process
// hangs.
func statementTimeout(limit time.Duration) []string {
	if limit <= 0 {
		return nil
	}
	return []string{fmt.Sprintf("SET LOCAL statement_timeout = %d", limit.Milliseconds())}
}

// snapshotOn acquires a connection, runs begin on it, and returns the connection and its
// pool.
type snapshotOn func(ctx context.Context, begin func(*postgresPool, *sql.Conn) error) (*postgresPool, *sql.Conn, error)

// primary is a snapshotOn that uses a connection of p.
func (p *postgresPool) primary(ctx context.Context, begin func(*postgresPool, *sql.Conn) error) (*postgresPool, *sql.Conn, error) {
	var conn *sql.Conn
	err := p.onConn(ctx, func(c *sql.Conn) error {
		conn = c
		return begin(p, c)
	})
	return p, conn, err
}

// beginning specifies when a snapshot sends BEGIN: together with the first query, which
// saves a round trip, or immediately, for a function that must not run twice, or never, for
// a function that runs only one query.
type beginning int

const (
	withFirstQuery beginning = iota
	atOnce
	never
)

// snapshot runs fn in a read transaction, or without one if begins is never. If the connection broke while it was idle,
// snapshot may run fn again, unless begins is atOnce.
func snapshot(ctx context.Context, on snapshotOn, begins beginning, settings []string, fn func(Runner) error) error {
	for try := 1; ; try++ {
		err := snapshotOnce(ctx, on, begins, settings, fn)
		if !errors.Is(err, errStale) || begins == atOnce || try == staleAttempts {
			return err
		}
	}
}

func snapshotOnce(ctx context.Context, on snapshotOn, begins beginning, settings []string, fn func(Runner) error) error {
	run := &postgresTx{}
	begin := func(begins beginning) error {
		begin := trace.Of(ctx).Begin("begin", trace.Internal) // includes the wait for a connection
		defer begin.End()
		pool, conn, err := on(ctx, func(p *postgresPool, c *sql.Conn) error {
			return pipelineOf(c, func(line *pipeline) error {
				if begins == never {
					return line.begin()
				}
				err := line.begin(slices.Concat([]string{"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}, p.preamble, settings)...)
				if err == nil && begins == atOnce {
					err = line.flush(ctx)
				}
				return err
			})
		})
		if err != nil {
			return beginFault(ctx, fmt.Errorf("begin: %w", err))
		}
		run.conn, run.tx, run.queues = conn, conn, pool.queues
		return nil
	}
	run.begin = func() error { return begin(atOnce) }
	if err := begin(begins); err != nil {
		return err
	}
	defer run.endSnapshot(ctx)
	return stopped(ctx, fn(run))
}

// endSnapshot rolls back and returns the connection to the pool. The pool discards the
// connection if the rollback failed.
func (p *postgresTx) endSnapshot(ctx context.Context) {
	if p.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	_ = pipelineOf(p.conn, func(line *pipeline) error { return line.rollback(ctx) }) // nothing was written
	_ = p.conn.Close()
	p.conn, p.tx = nil, nil
}

// Pause implements Pauser for a snapshot.
func (p *postgresTx) Pause(ctx context.Context, wait func() error) error {
	if p.begin == nil {
		return errors.New("only a snapshot can pause")
	}
	p.endSnapshot(ctx)
	if err := wait(); err != nil {
		return err
	}
	return p.begin()
}

// stopped adds ErrTooLong to the error of a statement that PostgreSQL canceled, unless
// ctx has ended.
func stopped(ctx context.Context, err error) error {
	var p *pgconn.PgError
	if err == nil || ctx.Err() != nil || !errors.As(err, &p) || p.Code != "57014" {
		return err
	}
	return fmt.Errorf("%w: %w", ErrTooLong, err)
}
