package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"cardwall/internal/trace"
)

// postgresEngine runs each Tx as one transaction at READ COMMITTED behind row
// locks, and each View as one REPEATABLE READ snapshot.
type postgresEngine struct {
	pool    *pgxpool.Pool
	db      *sql.DB
	metrics *Metrics
}

const (
	postgresConns    = 24     // unless the address says pool_max_conns
	postgresLockWait = "2000" // milliseconds that a statement waits for a lock
	postgresAttempts = 8      // of a transaction that lost a race
)

func openPostgres(ctx context.Context, opts Options) (_ engine, err error) {
	cfg, err := pgxpool.ParseConfig(opts.Database)
	if err != nil {
		return nil, errors.New("the database address is not one that PostgreSQL understands (postgres://user@host/name)")
	}
	if !strings.Contains(opts.Database, "pool_max_conns") {
		cfg.MaxConns = postgresConns
	}
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "cardwall"
	}
	if cfg.ConnConfig.RuntimeParams["lock_timeout"] == "" {
		cfg.ConnConfig.RuntimeParams["lock_timeout"] = postgresLockWait
	}
	if cfg.ConnConfig.RuntimeParams["jit"] == "" {
		cfg.ConnConfig.RuntimeParams["jit"] = "off" // compiling costs more than any of our queries
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	e := &postgresEngine{pool: pool, db: stdlib.OpenDBFromPool(pool), metrics: opts.Metrics}
	e.db.SetMaxIdleConns(0) // the pool underneath keeps them
	if err := e.db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to PostgreSQL: %w", err), e.close())
	}
	if err := migratePostgres(ctx, e.db, opts); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *postgresEngine) dialect() dialect {
	return dialect{name: "postgres", system: "postgresql", lock: true}
}

func (e *postgresEngine) close() error {
	err := e.db.Close()
	e.pool.Close()
	return err
}

func (e *postgresEngine) read(ctx context.Context, fn func(runner) error) error {
	return e.transact(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, fn)
}

func (e *postgresEngine) stream(ctx context.Context, fn func(runner) error) error {
	return e.read(ctx, fn)
}

func (e *postgresEngine) write(ctx context.Context, fn func(runner) error) error {
	var err error
	for attempt := range postgresAttempts {
		if attempt > 0 {
			e.metrics.again.Inc()
		}
		err = e.transact(ctx, nil, fn)
		var p *pgconn.PgError
		if !errors.Is(err, errMoved) && (!errors.As(err, &p) || p.Code != "40001" && p.Code != "40P01") {
			return err
		}
	}
	return fmt.Errorf("%w: the transaction lost every race: %w", errUnavailable, err)
}

func (e *postgresEngine) transact(ctx context.Context, opts *sql.TxOptions, fn func(runner) error) error {
	span := trace.Of(ctx)
	begin := span.Begin("begin", trace.Internal) // it waits for a connection too
	tx, err := e.db.BeginTx(ctx, opts)
	begin.End()
	if err != nil {
		return postgresFault(fmt.Errorf("begin: %w", err))
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := fn(postgresTx{tx}); err != nil {
		return err
	}
	commit, begun := span.Begin("commit", trace.Internal), time.Now()
	err = tx.Commit()
	commit.End()
	if opts == nil || !opts.ReadOnly {
		e.metrics.commit.Observe(time.Since(begun).Seconds())
	}
	if err != nil {
		return postgresFault(fmt.Errorf("commit: %w", err))
	}
	return nil
}

type postgresTx struct{ tx *sql.Tx }

func (p postgresTx) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	rows, err := p.tx.QueryContext(ctx, text, args...)
	return rows, postgresFault(err)
}

func (p postgresTx) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	res, err := p.tx.ExecContext(ctx, text, args...)
	return res, postgresFault(err)
}

// postgresFault marks the failures that a retry may mend: lost connections,
// servers that stop or start, and missing room.
func postgresFault(err error) error {
	if err == nil {
		return nil
	}
	var p *pgconn.PgError
	if errors.As(err, &p) {
		switch {
		case p.Code == "55P03":
			return fmt.Errorf("%w: %w", errLocked, err)
		case strings.HasPrefix(p.Code, "08"), strings.HasPrefix(p.Code, "53"), strings.HasPrefix(p.Code, "57P"), p.Code == "57014", p.Code == "25006":
			return fmt.Errorf("%w: %w", errUnavailable, err)
		}
		return err
	}
	var (
		connect *pgconn.ConnectError
		network net.Error
	)
	if errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	return err
}
