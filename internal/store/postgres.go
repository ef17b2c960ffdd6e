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
)

// postgresEngine runs each Tx as one transaction at READ COMMITTED behind row
// locks, and each View as one REPEATABLE READ snapshot.
type postgresEngine struct {
	pool *pgxpool.Pool
	db   *sql.DB
}

const (
	postgresConns    = 24     // unless the address says pool_max_conns
	postgresLockWait = "2000" // milliseconds that a statement waits for a lock
	postgresAttempts = 8      // of a transaction that lost a race

	postgresConnect = 3 * time.Second // for each host of the address, unless it says connect_timeout
	postgresSilence = 8 * time.Second // after which a server that does not even confirm what it got is taken for gone
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
	if !strings.Contains(opts.Database, "connect_timeout") {
		cfg.ConnConfig.ConnectTimeout = postgresConnect
	}
	cfg.ConnConfig.DialFunc = postgresDialer(postgresSilence).DialContext
	cfg.ConnConfig.OnNotice = noteUnreplicated
	cfg.PingTimeout = postgresConnect
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	e := &postgresEngine{pool: pool, db: stdlib.OpenDBFromPool(pool)}
	e.db.SetMaxIdleConns(0) // the pool underneath keeps them
	if err := e.db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connect to PostgreSQL: %w", err), e.close())
	}
	if err := migratePostgres(ctx, e.db, opts); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *postgresEngine) dialect() dialect { return dialect{name: "postgres", lock: true} }

// fit refuses nothing: whether the server takes writes is its own affair.
func (e *postgresEngine) fit() error { return nil }

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
	for range postgresAttempts {
		err = e.transact(ctx, nil, fn)
		var p *pgconn.PgError
		if !errors.Is(err, errMoved) && (!errors.As(err, &p) || p.Code != "40001" && p.Code != "40P01") {
			return err
		}
	}
	return fmt.Errorf("%w: the transaction lost every race: %w", errUnavailable, err)
}

func (e *postgresEngine) transact(ctx context.Context, opts *sql.TxOptions, fn func(runner) error) error {
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return postgresAbsent(ctx, fmt.Errorf("connect: %w", err))
	}
	defer func() { _ = conn.Close() }() // back to the pool
	_ = unreplicated(conn)              // what an earlier transaction was told
	tx, err := conn.BeginTx(ctx, opts)
	if err != nil {
		return postgresAbsent(ctx, fmt.Errorf("begin: %w", err))
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := fn(postgresTx{tx}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return postgresFault(fmt.Errorf("commit: %w", err))
	}
	if unreplicated(conn) {
		return errUnreplicated
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

// postgresAbsent is what it means when no transaction could begin, whatever the
// driver says: the server is not there, unless the caller is not any more. The
// pool has words of its own for having tried often enough.
func postgresAbsent(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return postgresFault(err)
	}
	return fmt.Errorf("%w: %w", errUnavailable, err)
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
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	return err
}
