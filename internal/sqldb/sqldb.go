// Package sqldb runs transactions on an embedded SQLite file or on PostgreSQL.
//
// Both engines execute the same SQL text. On SQLite, a single connection writes, and it
// commits concurrent writes together. On PostgreSQL, concurrent writes of one server to
// the same group (a board) can share a transaction, and a transaction that loses a race
// runs again. When a write returns nil, it is on disk.
//
// The package also builds statements (Args, Values), migrates the schema, and manages the
// settings that mark a database whose data has moved to another one. It does not depend
// on the application's tables, except for the table settings.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Options specifies a database and how to open it.
type Options struct {
	Database   string // path of a SQLite file, or postgres://…
	Replica    string // postgres://… of a streaming replica that serves reports; "" if there is none
	Readers    int    // SQLite: number of connections that read; 0 means one per core, but at least two
	Litestream bool   // SQLite: Litestream replicates the file and runs its checkpoints

	Migrations fs.FS                // files named NNN_name.sqlite.sql and NNN_name.postgres.sql
	Migrate    bool                 // migrate to the newest schema: after copying the file (SQLite), under a lease (PostgreSQL)
	Progress   func(message string) // called for each step of a migration

	Clock   func() time.Time
	Log     *slog.Logger
	Metrics *Metrics

	// Refused reports whether a write returned err because it refused the request. If
	// such a write has changed no row, the other writes of its batch need not run again.
	Refused func(error) bool

	// RacedIndex is the name of a unique index on PostgreSQL. A transaction that violates it runs
	// again, because it then finds the row that a concurrent transaction has inserted.
	RacedIndex string

	// LockGroup is the PostgreSQL statement that locks the group $1 for a shared transaction. If it
	// is empty, writes never share a transaction.
	LockGroup string
}

// Engine runs transactions. It is safe for concurrent use.
type Engine interface {
	// Read runs fn on a consistent snapshot of the data. A statement that runs longer
	// than limit is stopped and returns ErrTooLong. A limit of 0 means no limit. If the
	// first statement finds a broken connection, Read may run fn again on another one.
	Read(ctx context.Context, limit time.Duration, fn func(Runner) error) error
	// Probe is like Read, but without a transaction, if that is faster. Fn can only run as many
	// queries as need no transaction: one on PostgreSQL, and none on SQLite. If it needs more,
	// Probe returns ErrProbe, whatever fn returns. The query has no time limit of its own, so it
	// should find its rows by their keys.
	Probe(ctx context.Context, fn func(Runner) error) error
	// Report is like Read, but for queries that take longer. On SQLite, it uses its own
	// connections. On PostgreSQL, it may use the replica, and may run fn again on the primary.
	Report(ctx context.Context, limit time.Duration, fn func(Runner) error) error
	// Stream is like Report, but for long reads. It does not limit statements and runs fn at most
	// once. On SQLite, it uses a connection of its own.
	Stream(ctx context.Context, fn func(Runner) error) error
	// Write runs fn in a transaction. It returns nil only once the transaction is on disk. It may
	// run fn several times. The transaction may be shared with other writes: on SQLite with any
	// other write, and on PostgreSQL with writes to the same group (a board). The records are those
	// that fn is going to change. On PostgreSQL, fn gets its own transaction if there are no
	// records, if a record's group is unknown, or if the records belong to different groups.
	Write(ctx context.Context, records []string, fn func(Runner) error) error
	// DataVersion identifies the state of the data that a read would see now. Every commit
	// changes it, even one of another process. Zero means that it is unknown, as always on
	// PostgreSQL.
	DataVersion() DataVersion
	// CheckWritable returns an error while the engine knows that it must refuse writes. A full disk
	// does not count, because reads still work.
	CheckWritable() error
	// Close waits for the writes in progress and then closes all connections.
	Close() error
	Dialect() Dialect
	// Concurrency returns how many calls of each kind should run concurrently. More calls
	// would make all of them slower.
	Concurrency() Concurrency
	// Collectors returns the metrics of the engine.
	Collectors() []prometheus.Collector
}

// DataVersion identifies a committed state of the data.
type DataVersion [48]byte

// Concurrency is the number of concurrent calls of each kind that suits an engine.
type Concurrency struct{ Reads, Reports, Streams, Writes int }

// Runner executes statements inside one transaction.
type Runner interface {
	Querier
	Exec(ctx context.Context, text string, args ...any) (sql.Result, error)
	// Defer schedules a statement to be executed before the next Query or Exec, or at the
	// end of the transaction. That later call may return the statement's error.
	Defer(ctx context.Context, text string, args ...any) error
	// Subtransaction runs fn. If fn fails, it undoes the statements of fn and returns the error.
	// If fn refused the request (see Options.Refused), the transaction can then continue. After
	// any other error, the write must return that error. On SQLite, Subtransaction may also
	// return an error that is not that of fn. The write must return it too, and then runs again.
	// Subtransactions do not nest.
	Subtransaction(ctx context.Context, fn func() error) error
	// Expect announces that Query will be called with this text and these arguments before the
	// transaction changes anything. The query may be executed early, together with another
	// statement.
	Expect(text string, args ...any)
	// ExpectLater is like Expect, but the transaction may make changes first, as long as these do
	// not affect the result.
	ExpectLater(text string, args ...any)
	// Forget makes Query execute the announced queries again.
	Forget()
	// AwaitTurn waits, for a limited time, until the earlier writes of this process to a
	// record's group have ended. The group is the board that was passed to Learn. AwaitTurn
	// returns immediately if the group is unknown, and on SQLite, which has only one writer.
	AwaitTurn(ctx context.Context, record string)
	// Learn remembers the group of a record for AwaitTurn and Write.
	Learn(record, group string)
	// Locked returns the group that the transaction has locked for all its writes, or "" if each
	// write locks what it changes. It returns an error if one of the records is not known to belong
	// to that group. The write must then return that error, and it runs again in its own
	// transaction.
	Locked(records ...string) (group string, err error)
}

// Pauser is implemented by the Runners that Stream passes to fn.
type Pauser interface {
	// Pause ends the snapshot, calls wait without holding a snapshot, and begins a new
	// one. No rows may be open.
	Pause(ctx context.Context, wait func() error) error
}

// Dialect describes how the SQL of a database differs from that of the other one.
type Dialect struct {
	Name     string // "sqlite" or "postgres"
	System   string // value of db.system.name in OpenTelemetry
	RowLocks bool   // FOR UPDATE locks rows; SQLite has only one writer and needs no row locks
}

// Among returns the right-hand side of a condition that is true if a value is in the result of the
// query text. It makes PostgreSQL choose a plan for a small result.
func (d Dialect) Among(text string) string {
	if d.RowLocks {
		return "= ANY (ARRAY(" + text + "))"
	}
	return "IN (" + text + ")"
}

var (
	// ErrUnavailable is wrapped by errors after which a retry may succeed, such as a full disk or a
	// lost connection.
	ErrUnavailable = errors.New("the database is not available")

	// ErrLocked wraps ErrUnavailable. It means that another transaction held a lock for too long.
	ErrLocked = fmt.Errorf("%w: waited too long for a lock", ErrUnavailable)

	// ErrTooLong means that the database stopped a statement that ran longer than its
	// limit.
	ErrTooLong = errors.New("the statement ran longer than its limit")

	// ErrRetry makes a write run again from the beginning. A transaction returns it if a
	// record was moved to another board before the transaction acquired its lock.
	ErrRetry = errors.New("the record was moved to another board during the transaction")

	// errAlone makes a write run again in its own transaction.
	errAlone = errors.New("the write cannot share the transaction of other writes")
)

// Open connects to the database. It returns an error if the schema is newer than the
// newest migration, or if it is older and opts.Migrate is not set.
func Open(ctx context.Context, opts Options) (Engine, error) {
	switch {
	case IsPostgres(opts.Database):
		return openPostgres(ctx, opts)
	case opts.Replica != "":
		return nil, errors.New("--database-replica requires PostgreSQL")
	}
	return openSQLite(ctx, opts)
}

// IsPostgres reports whether a database address refers to PostgreSQL rather than a SQLite
// file.
func IsPostgres(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}
