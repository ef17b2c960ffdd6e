package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"cardwall/internal/trace"
)

// rollbackTimeout limits the end of a snapshot whose caller may be gone.
const rollbackTimeout = 2 * time.Second

// statementTimeout returns the setting that makes PostgreSQL stop a statement, or
// "" for no limit. The server enforces it, so it also holds if this process hangs.
func statementTimeout(limit time.Duration) string {
	if limit <= 0 {
		return ""
	}
	return fmt.Sprintf("SET LOCAL statement_timeout = %d", limit.Milliseconds())
}

// snapshot runs fn in a read transaction on a connection that acquire returns. One
// round trip begins the transaction and sets its settings, which database/sql
// cannot do.
func (p *postgresPool) snapshot(
	ctx context.Context, acquire func(context.Context, func(*sql.Conn) error) error, settings string, fn func(Runner) error,
) error {
	begin := trace.Of(ctx).Begin("begin", trace.Internal) // includes the wait for a connection
	var conn *sql.Conn
	err := acquire(ctx, func(c *sql.Conn) error {
		conn = c
		return c.Raw(func(driven any) error {
			_, err := driven.(*stdlib.Conn).Conn().Exec(ctx,
				"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"+p.preamble+settings)
			return err
		})
	})
	begin.End()
	if err != nil {
		return beginFault(ctx, fmt.Errorf("begin: %w", err))
	}
	defer func() { _ = conn.Close() }() // returns it to the pool, which discards it if the rollback failed
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // nothing was written
	}()
	return stopped(ctx, fn(&postgresTx{conn: conn, tx: conn, queues: p.queues}))
}

// acquire runs begin on a connection of the pool.
func (p *postgresPool) acquire(ctx context.Context, begin func(*sql.Conn) error) error {
	return p.onConn(ctx, begin)
}

// stopped turns the error of a statement that PostgreSQL cancelled into ErrTooLong,
// unless its caller is gone.
func stopped(ctx context.Context, err error) error {
	var p *pgconn.PgError
	if err == nil || ctx.Err() != nil || !errors.As(err, &p) || p.Code != "57014" {
		return err
	}
	return fmt.Errorf("%w: %w", ErrTooLong, err)
}
