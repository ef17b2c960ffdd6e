package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// replica is a streaming replica that serves reports. A report reads from it only once
// the replica has replayed everything that the primary had on disk when the report was
// requested. This way, a report never misses a committed change. Asking the primary for
// that position costs almost nothing.
type replica struct {
	address string
	log     *slog.Logger
	skip    atomic.Int64 // time (UnixNano) until which the replica is not used

	mu   sync.Mutex
	pool *postgresPool // nil before the first connection
	away bool          // whether the last log line says that reports read from the primary
}

const (
	replicaWait  = 250 * time.Millisecond // longest wait for the replica to catch up
	replicaBound = 2 * time.Second        // lag above which a report waits only replicaWait/10
	replicaSkip  = 2 * time.Second        // pause after a failure
	replicaDial  = time.Second
)

// errReplica means that a replica cannot be used.
var errReplica = errors.New("the replica cannot be read")

func newReplica(address string, log *slog.Logger) (*replica, error) {
	if !IsPostgres(address) {
		return nil, errors.New("--database-replica must begin with postgres://")
	}
	if _, err := postgresConfig(address); err != nil {
		return nil, fmt.Errorf("replica: %w", err)
	}
	return &replica{address: address, log: log}, nil
}

func (r *replica) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pool == nil {
		return nil
	}
	return r.pool.close()
}

// onReplica runs fn on the replica if the replica is up to date, and otherwise on the
// primary. If the replica fails and fn may run again, it also runs fn on the primary.
func (e *postgresEngine) onReplica(ctx context.Context, begins beginning, settings []string, fn func(Runner) error,
	again func() bool) error {
	if e.replica == nil || time.Now().UnixNano() < e.replica.skip.Load() {
		return snapshot(ctx, e.primary, begins, settings, fn)
	}
	err := e.replica.read(ctx, e.postgresPool, begins, settings, fn)
	if !failed(err) {
		e.replica.report(nil)
		return err
	}
	e.replica.report(err)
	if ctx.Err() != nil || !again() {
		return err
	}
	return snapshot(ctx, e.primary, begins, settings, fn)
}

// read runs fn on the replica once the replica is up to date.
func (r *replica) read(ctx context.Context, primary *postgresPool, begins beginning, settings []string,
	fn func(Runner) error) error {
	return snapshot(ctx, func(ctx context.Context, begin func(*postgresPool, *sql.Conn) error) (*postgresPool, *sql.Conn, error) {
		pool, conn, err := r.upToDate(ctx, primary)
		if err != nil {
			return nil, nil, err
		}
		if err := begin(pool, conn); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", errReplica, errors.Join(err, conn.Close()))
		}
		return pool, conn, nil
	}, begins, settings, fn)
}

// failed reports whether err comes from the database rather than from fn or from the time
// limit. This includes queries that a replica canceled because they blocked replay.
func failed(err error) bool {
	var p *pgconn.PgError
	return !errors.Is(err, ErrTooLong) &&
		(errors.Is(err, ErrUnavailable) || errors.Is(err, errReplica) || errors.As(err, &p))
}

// upToDate returns a connection to the replica once the replica has replayed everything
// that the primary had on disk. The caller must begin its snapshot after that.
func (r *replica) upToDate(ctx context.Context, primary *postgresPool) (*postgresPool, *sql.Conn, error) {
	var position string
	if err := primary.db.QueryRowContext(ctx, "SELECT CAST(pg_current_wal_flush_lsn() AS TEXT)").Scan(&position); err != nil {
		return nil, nil, fmt.Errorf("ask the primary for its position: %w", postgresFault(err))
	}
	pool, err := r.connect(ctx, primary)
	if err != nil {
		return nil, nil, err
	}
	dial, cancel := context.WithTimeout(ctx, replicaDial)
	defer cancel()
	conn, err := pool.db.Conn(dial)
	if err != nil {
		return nil, nil, fmt.Errorf("reach the replica: %w", postgresFault(err))
	}
	begin := time.Now()
	for pause := time.Millisecond; ; pause *= 2 {
		var (
			copies, there bool
			lag           float64 // seconds since the commit of the last replayed transaction
		)
		err = conn.QueryRowContext(dial, `SELECT pg_is_in_recovery(), COALESCE(pg_last_wal_replay_lsn() >= CAST($1 AS pg_lsn), FALSE),
			COALESCE(CAST(EXTRACT(EPOCH FROM clock_timestamp() - pg_last_xact_replay_timestamp()) AS DOUBLE PRECISION), 0)`,
			position).Scan(&copies, &there, &lag)
		switch {
		case err != nil:
			err = fmt.Errorf("ask the replica for its position: %w", postgresFault(err))
		case !copies:
			err = fmt.Errorf("%w: it is a primary, not a replica", errReplica)
		case there:
			return pool, conn, nil
		case lag > replicaBound.Seconds() && time.Since(begin) > replicaWait/10, time.Since(begin) > replicaWait:
			err = fmt.Errorf("%w: it is %.1f s behind", errReplica, lag)
		}
		if err != nil {
			return nil, nil, errors.Join(err, conn.Close())
		}
		select {
		case <-time.After(min(pause, 20*time.Millisecond)):
		case <-dial.Done():
			return nil, nil, errors.Join(errReplica, dial.Err(), conn.Close())
		}
	}
}

// connect connects to the replica unless it is already connected. It returns an error for
// a replica of another installation, because log positions of different databases cannot
// be compared.
func (r *replica) connect(ctx context.Context, primary *postgresPool) (*postgresPool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pool != nil {
		return r.pool, nil
	}
	ctx, cancel := context.WithTimeout(ctx, replicaDial)
	defer cancel()
	pool, err := connectPostgres(ctx, r.address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errReplica, err)
	}
	var ours, theirs string
	const key = "SELECT value FROM settings WHERE key = 'cursor_key'"
	if err = primary.db.QueryRowContext(ctx, key).Scan(&ours); err == nil {
		err = pool.db.QueryRowContext(ctx, key).Scan(&theirs)
	}
	if err == nil && ours != theirs {
		err = errors.New("it is a replica of a different installation")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", errReplica, err), pool.close())
	}
	r.pool = pool
	return pool, nil
}

// report handles the outcome of a read. After a failure, the replica is not used for a
// while. report logs when reports switch to the primary and back.
func (r *replica) report(err error) {
	if err != nil {
		r.skip.Store(time.Now().Add(replicaSkip).UnixNano())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil && !r.away:
		r.log.Warn("reports read from the primary: replica unavailable", "error", err)
	case err == nil && r.away:
		r.log.Info("reports read from the replica again")
	}
	r.away = err != nil
}
