package sqldb

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
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"cardwall/internal/trace"
)

// postgresEngine runs writes in READ COMMITTED transactions that lock rows, and each
// read in one REPEATABLE READ snapshot.
type postgresEngine struct {
	*postgresPool
	replica    *replica // nil for none
	lockGroup  string   // Options.LockGroup
	racedIndex string   // Options.RacedIndex
	sharedTime time.Duration
}

const (
	postgresConns    = 24     // maximum number of connections, unless the address sets pool_max_conns
	postgresLockWait = "2000" // milliseconds that a statement waits for a lock
	postgresIdle     = "5000" // milliseconds that a transaction waits for its next statement
	postgresAttempts = 8      // maximum number of runs of a transaction that loses races
	staleAttempts    = 3      // maximum number of runs of a transaction on connections that broke while they were idle
	deferredMax      = 64     // maximum number of queued statements; an import has hundreds of thousands

	postgresConnect = 3 * time.Second // for each host in the address, unless the address sets connect_timeout
	postgresSilence = 8 * time.Second // time without an acknowledgement after which the server is considered gone
)

// NoIdleTimeout lets a transaction wait for its next statement without a limit. It
// is for transactions that hold no lock, or that are meant to lock others out.
const NoIdleTimeout = "SET LOCAL idle_in_transaction_session_timeout = 0"

// ErrAddress replaces the driver's error about an address, which may repeat a password.
var ErrAddress = errors.New("the database address is not a valid PostgreSQL address (postgres://user@host/name)")

func openPostgres(ctx context.Context, opts Options) (_ Engine, err error) {
	pool, err := connectPostgres(ctx, opts.Database)
	if err != nil {
		return nil, err
	}
	pool.metrics = opts.Metrics
	e := &postgresEngine{postgresPool: pool, lockGroup: opts.LockGroup, racedIndex: opts.RacedIndex, sharedTime: sharedTime}
	if err := migratePostgres(ctx, e.db, opts); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if opts.Replica != "" {
		if e.replica, err = newReplica(opts.Replica, opts.Log); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

// DataVersion returns zero: only the database knows what other servers have committed.
func (e *postgresEngine) DataVersion() (unknown DataVersion) { return unknown }

func (e *postgresEngine) Dialect() Dialect {
	return Dialect{Name: "postgres", System: "postgresql", RowLocks: true}
}

// CheckWritable returns nil, because PostgreSQL itself refuses writes that it cannot do.
func (e *postgresEngine) CheckWritable() error { return nil }

// Concurrency returns the number of concurrent calls of each kind. All kinds share one pool, but
// reports and streams get only a few of its connections.
func (e *postgresEngine) Concurrency() Concurrency {
	n := int(e.pool.Config().MaxConns)
	few := max(1, min(max(2, n/8), n-1))
	return Concurrency{Reads: n, Reports: few, Streams: few, Writes: n}
}

func (e *postgresEngine) Close() error {
	err := e.postgresPool.close()
	if e.replica != nil {
		err = errors.Join(err, e.replica.close())
	}
	return err
}

func (e *postgresEngine) Read(ctx context.Context, limit time.Duration, fn func(Runner) error) error {
	return snapshot(ctx, e.primary, withFirstQuery, statementTimeout(limit), fn)
}

// Report reads from the replica if the replica has replayed everything that the primary had when
// the report was requested. Otherwise, it reads from the primary.
func (e *postgresEngine) Report(ctx context.Context, limit time.Duration, fn func(Runner) error) error {
	return e.onReplica(ctx, withFirstQuery, statementTimeout(limit), fn, func() bool { return true })
}

// Stream is like Report, but fn runs at most once, because its output has already been sent.
func (e *postgresEngine) Stream(ctx context.Context, fn func(Runner) error) error {
	begun := false
	return e.onReplica(ctx, atOnce, []string{NoIdleTimeout, "SET LOCAL statement_timeout = 0"}, func(r Runner) error {
		begun = true
		return fn(r)
	}, func() bool { return !begun })
}

func (e *postgresEngine) Write(ctx context.Context, records []string, fn func(Runner) error) error {
	if group := e.queues.groupOf(records...); group != "" && e.lockGroup != "" {
		if err := e.share(ctx, group, fn); !errors.Is(err, errAlone) {
			return err
		}
	}
	return e.writeAlone(ctx, fn)
}

// writeAlone runs fn in its own transaction, and runs it again if the transaction loses a race.
func (e *postgresEngine) writeAlone(ctx context.Context, fn func(Runner) error) error {
	for try, stale := 1, 0; ; try++ {
		if try > 1 {
			e.metrics.retries.Inc()
		}
		err := e.transact(ctx, fn)
		switch {
		case errors.Is(err, errStale) && stale < staleAttempts:
			stale++
			continue
		case !e.lostRace(err):
			return err
		case try == postgresAttempts:
			return fmt.Errorf("%w: the transaction lost every race: %w", ErrUnavailable, err)
		}
		if err := backOff(ctx, try); err != nil {
			return fmt.Errorf("%w: no time is left to try again: %w", ErrUnavailable, err)
		}
	}
}

// lostRace reports whether a transaction failed because of concurrent ones. No table has
// a CHECK constraint, so 23514 means that the default partition no longer accepts a row,
// because a server of v0.2.1 attached a partition for it in the meantime.
func (e *postgresEngine) lostRace(err error) bool {
	var p *pgconn.PgError
	switch {
	case errors.Is(err, ErrRetry):
		return true
	case !errors.As(err, &p):
		return false
	case p.Code == "23505":
		return p.ConstraintName == e.racedIndex
	}
	return p.Code == "40001" || p.Code == "40P01" || p.Code == "23514"
}

// backOff waits for a random time before the next try, so that conflicting transactions are
// repeated at different times. The wait is at most 2, 4, 8 … 128 milliseconds.
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

// begin begins a write transaction. It replaces a connection that broke while it was idle,
// which is safe because the transaction has not done anything yet.
func (p *postgresPool) begin(ctx context.Context) (conn *sql.Conn, tx *sql.Tx, err error) {
	err = p.onConn(ctx, func(c *sql.Conn) (err error) {
		_ = unreplicated(c) // clears the mark of an earlier transaction
		conn = c
		tx, err = c.BeginTx(ctx, nil)
		return err
	})
	return conn, tx, err
}

// onConn runs begin on a connection. It tries another one if the connection broke
// while it was idle. The caller must close the connection if there is no error.
func (p *postgresPool) onConn(ctx context.Context, begin func(*sql.Conn) error) (err error) {
	const attempts = 3
	for range attempts {
		var conn *sql.Conn
		if conn, err = p.db.Conn(ctx); err != nil {
			return err
		}
		if err = begin(conn); err == nil {
			return nil
		}
		_ = conn.Close() // the error is already known
		if !errors.Is(err, driver.ErrBadConn) && !errors.Is(err, errStale) && !pgconn.SafeToRetry(err) {
			break
		}
	}
	return err
}

func (p *postgresPool) transact(ctx context.Context, fn func(Runner) error) error {
	begin := trace.Of(ctx).Begin("begin", trace.Internal) // the wait for a connection
	conn, tx, err := p.begin(ctx)
	begin.End()
	if err != nil {
		return beginFault(ctx, fmt.Errorf("begin: %w", err))
	}
	defer func() { _ = conn.Close() }()  // returns it to the pool
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	run := &postgresTx{conn: conn, tx: tx, queues: p.queues}
	defer run.leaveQueue()
	for _, setting := range p.preamble {
		if err := run.enqueue(ctx, setting); err != nil {
			return postgresFault(fmt.Errorf("begin: %w", err))
		}
	}
	if err := fn(run); err != nil {
		return err
	}
	commit, begun := trace.Of(ctx).Begin("commit", trace.Internal), time.Now()
	err = tx.Commit()
	commit.End()
	p.metrics.commit.Observe(time.Since(begun).Seconds())
	if err != nil {
		return postgresFault(fmt.Errorf("commit: %w", err))
	}
	if unreplicated(conn) {
		return errUnreplicated
	}
	return nil
}

// postgresTx is a transaction on a pipeline.
type postgresTx struct {
	conn   *sql.Conn
	tx     statements
	queues *writeQueues
	leave  func()       // ends the turn in a queue; nil if there is none
	group  string       // the group that a shared transaction has locked; "" for a transaction of one write
	begin  func() error // begins a snapshot; nil for a write
}

// statements runs statements in a transaction. For a snapshot, it is the connection itself.
type statements interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

// AwaitTurn does nothing in a transaction that already has a turn, because such a
// transaction may hold a lock.
func (p *postgresTx) AwaitTurn(ctx context.Context, record string) {
	if p.leave == nil && p.group == "" {
		p.leave = p.queues.enter(ctx, record)
	}
}

func (p *postgresTx) Learn(record, group string) { p.queues.learn(record, group) }

func (p *postgresTx) Locked(records ...string) (string, error) {
	if p.group == "" {
		return "", nil
	}
	for _, record := range records {
		if p.queues.groupOf(record) != p.group {
			return "", errAlone
		}
	}
	return p.group, nil
}

func (p *postgresTx) leaveQueue() {
	if p.leave != nil {
		p.leave()
	}
}

// statementContext returns the context of a statement. In a shared transaction, a canceled caller
// must not end the connection, because this would also end the writes of others.
func (p *postgresTx) statementContext(ctx context.Context) context.Context {
	if p.group != "" {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

func (p *postgresTx) Query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	ctx = p.statementContext(ctx)
	rows, err := p.tx.QueryContext(ctx, text, args...)
	return rows, postgresFault(err)
}

func (p *postgresTx) Exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	ctx = p.statementContext(ctx)
	res, err := p.tx.ExecContext(ctx, text, args...)
	return res, postgresFault(err)
}

func (p *postgresTx) Defer(ctx context.Context, text string, args ...any) error {
	ctx = p.statementContext(ctx)
	return postgresFault(pipelineOf(p.conn, func(line *pipeline) error { return line.defers(ctx, text, args) }))
}

// enqueue defers a statement that changes no data and that a failed subtransaction keeps.
func (p *postgresTx) enqueue(ctx context.Context, text string) error {
	ctx = p.statementContext(ctx)
	return postgresFault(pipelineOf(p.conn, func(line *pipeline) error { return line.savepoint(ctx, text) }))
}

// Subtransaction runs fn in a savepoint.
func (p *postgresTx) Subtransaction(ctx context.Context, fn func() error) error {
	if err := p.enqueue(ctx, "SAVEPOINT subtransaction"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	err := fn()
	if err != nil {
		p.onLine((*pipeline).discard)
		if _, failed := p.Exec(ctx, "ROLLBACK TO SAVEPOINT subtransaction"); failed != nil {
			return errors.Join(err, failed)
		}
	}
	if failed := p.Defer(ctx, "RELEASE SAVEPOINT subtransaction"); failed != nil {
		return failed
	}
	return err
}

func (p *postgresTx) Expect(text string, args ...any) {
	p.onLine(func(line *pipeline) { line.expect(text, args, false) })
}

func (p *postgresTx) ExpectLater(text string, args ...any) {
	p.onLine(func(line *pipeline) { line.expect(text, args, true) })
}

func (p *postgresTx) Forget() { p.onLine(func(line *pipeline) { line.forget(true) }) }

// onLine changes the queue of the connection. A broken connection has no queue; the next
// statement returns its error.
func (p *postgresTx) onLine(change func(*pipeline)) {
	_ = pipelineOf(p.conn, func(line *pipeline) error {
		change(line)
		return nil
	})
}

// beginFault classifies the error of a transaction that could not begin. The database counts as
// unavailable, unless the caller's context was canceled. postgresFault alone is not enough,
// because it does not recognize the pool's own errors.
func beginFault(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return postgresFault(err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// postgresFault adds ErrUnavailable to errors after which a retry may succeed, such as lost
// connections, full disks, and servers that are starting or stopping. It adds ErrLocked to lock
// timeouts.
func postgresFault(err error) error {
	if err == nil {
		return nil
	}
	var p *pgconn.PgError
	if errors.As(err, &p) {
		switch {
		case p.Code == "55P03":
			return fmt.Errorf("%w: %w", ErrLocked, err)
		case strings.HasPrefix(p.Code, "08"), strings.HasPrefix(p.Code, "53"), strings.HasPrefix(p.Code, "57P"), p.Code == "25P03",
			p.Code == "57014", p.Code == "25006":
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
		return err
	}
	var (
		connect *pgconn.ConnectError
		network net.Error
	)
	if errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}
