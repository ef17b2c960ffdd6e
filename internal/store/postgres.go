package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"cardwall/internal/trace"
)

// postgresEngine runs each Tx as one transaction at READ COMMITTED behind row
// locks, and each View as one REPEATABLE READ snapshot.
type postgresEngine struct {
	*postgresPool
	replica *replica // nil for none
}

const (
	postgresConns    = 24     // unless the address says pool_max_conns
	postgresLockWait = "2000" // milliseconds that a statement waits for a lock
	postgresIdle     = "5000" // milliseconds that a transaction waits for its next statement
	postgresAttempts = 8      // of a transaction that lost a race
	postgresLater    = 64     // statements that travel together, at most: an import has hundreds of thousands

	postgresConnect = 3 * time.Second // for each host of the address, unless it says connect_timeout
	postgresSilence = 8 * time.Second // after which a server that does not even confirm what it got is taken for gone
)

// patient lets a transaction wait for its next statement for as long as it takes:
// it holds no lock that others wait for, or is meant to keep everybody out.
const patient = "SET LOCAL idle_in_transaction_session_timeout = 0"

var errAddress = errors.New("the database address is not one that PostgreSQL understands (postgres://user@host/name)") // the driver's own error may repeat a password

func openPostgres(ctx context.Context, opts Options) (_ engine, err error) {
	pool, err := connectPostgres(ctx, opts.Database)
	if err != nil {
		return nil, err
	}
	pool.metrics = opts.Metrics
	e := &postgresEngine{postgresPool: pool}
	if err := migratePostgres(ctx, e.db, opts); err != nil {
		return nil, errors.Join(err, e.close())
	}
	if opts.Replica != "" {
		if e.replica, err = newReplica(opts.Replica, opts.Log); err != nil {
			return nil, errors.Join(err, e.close())
		}
	}
	return e, nil
}

func (e *postgresEngine) dialect() dialect {
	return dialect{name: "postgres", system: "postgresql", lock: true}
}

// fit refuses nothing: whether the server takes writes is its own affair.
func (e *postgresEngine) fit() error { return nil }

// places are the connections. Reads and writes share them.
func (e *postgresEngine) places() (reads, writes int) {
	n := int(e.pool.Config().MaxConns)
	return n, n
}

func (e *postgresEngine) close() error {
	err := e.postgresPool.close()
	if e.replica != nil {
		err = errors.Join(err, e.replica.close())
	}
	return err
}

func (e *postgresEngine) read(ctx context.Context, fn func(runner) error) error {
	return e.transact(ctx, snapshotOptions(), fn)
}

// report reads on the replica when there is one that has all that the primary
// had when it was asked, and else on the primary. Fn may run twice.
func (e *postgresEngine) report(ctx context.Context, fn func(runner) error) error {
	return e.elsewhere(ctx, fn, func() bool { return true })
}

// stream is report whose function runs once: what it wrote is on its way.
func (e *postgresEngine) stream(ctx context.Context, fn func(runner) error) error {
	begun := false
	return e.elsewhere(ctx, func(r runner) error {
		if _, err := r.exec(ctx, patient); err != nil {
			return err
		}
		begun = true
		return fn(r)
	}, func() bool { return !begun })
}

func snapshotOptions() *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

func (e *postgresEngine) write(ctx context.Context, fn func(runner) error) error {
	for try := 1; ; try++ {
		if try > 1 {
			e.metrics.again.Inc()
		}
		err := e.transact(ctx, nil, fn)
		switch {
		case !lostRace(err):
			return err
		case try == postgresAttempts:
			return fmt.Errorf("%w: the transaction lost every race: %w", errUnavailable, err)
		}
		if err := backOff(ctx, try); err != nil {
			return fmt.Errorf("%w: no time is left to try again: %w", errUnavailable, err)
		}
	}
}

// lostRace tells whether a transaction failed by what others did beside it. No
// table has a CHECK, so 23514 is a row on its way to a part that was another's
// when it came there.
func lostRace(err error) bool {
	var p *pgconn.PgError
	return errors.Is(err, errMoved) || errors.As(err, &p) && (p.Code == "40001" || p.Code == "40P01" || p.Code == "23514")
}

// backOff waits ahead of another try: up to 2, 4, 8 … 128 milliseconds, by chance,
// so that those who got in each other's way come back at different times.
func backOff(ctx context.Context, try int) error {
	var chance [4]byte
	_, _ = rand.Read(chance[:]) // never fails (crypto/rand)
	most := time.Millisecond << min(try, 7)
	timer := time.NewTimer(time.Duration(binary.BigEndian.Uint32(chance[:])) % most)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin begins a transaction. A connection that broke while nobody used it is
// replaced: nothing was done on it yet.
func (p *postgresPool) begin(ctx context.Context, opts *sql.TxOptions) (conn *sql.Conn, tx *sql.Tx, err error) {
	const attempts = 3
	for range attempts {
		if conn, err = p.db.Conn(ctx); err != nil {
			return nil, nil, err
		}
		_ = unreplicated(conn) // what an earlier transaction was told
		if tx, err = conn.BeginTx(ctx, opts); err == nil {
			return conn, tx, nil
		}
		_ = conn.Close() // what is wrong with it is known
		if !errors.Is(err, driver.ErrBadConn) && !pgconn.SafeToRetry(err) {
			break
		}
	}
	return nil, nil, err
}

func (p *postgresPool) transact(ctx context.Context, opts *sql.TxOptions, fn func(runner) error) error {
	begin := trace.Of(ctx).Begin("begin", trace.Internal) // it waits for a connection too
	conn, tx, err := p.begin(ctx, opts)
	begin.End()
	if err != nil {
		return postgresAbsent(ctx, fmt.Errorf("begin: %w", err))
	}
	defer func() { _ = conn.Close() }() // gives it back to the pool
	return p.finish(ctx, conn, tx, opts, fn)
}

// finish runs fn in a transaction that has begun, and commits what it did.
func (p *postgresPool) finish(ctx context.Context, conn *sql.Conn, tx *sql.Tx, opts *sql.TxOptions, fn func(runner) error) error {
	run := &postgresTx{conn: conn, tx: tx, turns: p.turns}
	defer run.endTurn()
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if p.preamble != "" {
		if _, err := tx.ExecContext(ctx, p.preamble); err != nil {
			return postgresFault(fmt.Errorf("begin: %w", err))
		}
	}
	if err := fn(run); err != nil {
		return err
	}
	if err := run.flush(ctx); err != nil {
		return err
	}
	commit, begun := trace.Of(ctx).Begin("commit", trace.Internal), time.Now()
	err := tx.Commit()
	commit.End()
	if opts == nil || !opts.ReadOnly {
		p.metrics.commit.Observe(time.Since(begun).Seconds())
	}
	if err != nil {
		return postgresFault(fmt.Errorf("commit: %w", err))
	}
	if unreplicated(conn) {
		return errUnreplicated
	}
	return nil
}

// postgresTx is a transaction. What it is told to do later waits until somebody
// asks for something, or for the end, and then travels in one round trip: on the
// way to a server these are most of the time that a board is locked.
type postgresTx struct {
	conn  *sql.Conn
	tx    *sql.Tx
	later pgx.Batch
	turns *turns
	ends  func() // the turn that it has; nil for none
}

// await waits for the turn at the board of a record, ahead of its lock. One that
// has a turn, and so may hold a lock, does not wait for another.
func (p *postgresTx) await(ctx context.Context, record string) {
	if p.ends == nil {
		p.ends = p.turns.take(ctx, record)
	}
}

func (p *postgresTx) endTurn() {
	if p.ends != nil {
		p.ends()
	}
}

func (p *postgresTx) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if err := p.flush(ctx); err != nil {
		return nil, err
	}
	rows, err := p.tx.QueryContext(ctx, text, args...)
	return rows, postgresFault(err)
}

func (p *postgresTx) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if err := p.flush(ctx); err != nil {
		return nil, err
	}
	res, err := p.tx.ExecContext(ctx, text, args...)
	return res, postgresFault(err)
}

func (p *postgresTx) put(ctx context.Context, text string, args ...any) error {
	if p.later.Len() >= postgresLater {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	p.later.Queue(text, slices.Clone(args)...)
	return nil
}

func (p *postgresTx) forget() { p.later = pgx.Batch{} }

// flush does what waits, in its order.
func (p *postgresTx) flush(ctx context.Context) error {
	n := p.later.Len()
	if n == 0 {
		return nil
	}
	batch := p.later
	p.forget()
	return postgresFault(p.conn.Raw(func(driven any) error {
		results := driven.(*stdlib.Conn).Conn().SendBatch(ctx, &batch)
		for i := range n {
			if _, err := results.Exec(); err != nil {
				_ = results.Close() // says the same
				return fmt.Errorf("%.60s …: %w", batch.QueuedQueries[i].SQL, err)
			}
		}
		return results.Close()
	}))
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
		case strings.HasPrefix(p.Code, "08"), strings.HasPrefix(p.Code, "53"), strings.HasPrefix(p.Code, "57P"), p.Code == "25P03", p.Code == "57014", p.Code == "25006":
			return fmt.Errorf("%w: %w", errUnavailable, err)
		}
		return err
	}
	var (
		connect *pgconn.ConnectError
		network net.Error
	)
	if errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", errUnavailable, err)
	}
	return err
}
