// Package sqldb runs transactions on an embedded SQLite file or on PostgreSQL.
//
// Both engines execute the same SQL text. SQLite has one connection that writes
// and batches many writes into one commit; PostgreSQL runs each write as its own
// transaction and repeats those that lose a race. A write that returns nil is on
// disk.
//
// The package also builds statements (Args, Values), migrates the schema, and
// holds the marks of a database whose data was moved elsewhere. It knows no table
// of the product.
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

// Options say where a database is and how to open it.
type Options struct {
	Database   string // the path of an SQLite file, or postgres://…
	Replica    string // postgres://… of a streaming replica that serves reports; "" for none
	Readers    int    // SQLite: connections that read; 0 means one per core, at least two
	Litestream bool   // SQLite: Litestream replicates the file and runs its checkpoints

	Migrations fs.FS                // files named NNN_name.sqlite.sql and NNN_name.postgres.sql
	Migrate    bool                 // bring the schema up to date: after a copy (SQLite), under a lease (PostgreSQL)
	Progress   func(message string) // called with each step of a migration

	Clock   func() time.Time
	Log     *slog.Logger
	Metrics *Metrics

	// Refused reports whether an error of a write is a refusal by a rule, which
	// leaves the rest of its batch intact if no row was changed.
	Refused func(error) bool
}

// Engine runs transactions. It is safe for concurrent use.
type Engine interface {
	// Read runs fn on one consistent state of the data. The database stops a statement
	// that runs longer than limit, with ErrTooLong. A limit of 0 means none.
	Read(ctx context.Context, limit time.Duration, fn func(Runner) error) error
	// Report is like Read, for queries that take longer. It uses its own connections, may use the
	// replica, and may run fn twice.
	Report(ctx context.Context, limit time.Duration, fn func(Runner) error) error
	// Stream is like Report, for long readers: it uses a separate connection, statements have no
	// limit, and fn runs once.
	Stream(ctx context.Context, fn func(Runner) error) error
	// Write runs fn in one transaction and returns nil only when it is on disk. Fn may run again.
	Write(ctx context.Context, fn func(Runner) error) error
	// CheckWritable returns an error while writes are refused.
	CheckWritable() error
	// Close closes all connections after the writes in progress.
	Close() error
	Dialect() Dialect
	// Concurrency returns how many calls of each kind the engine runs at once; more make
	// all of them slower.
	Concurrency() Concurrency
	// Collectors returns the metrics that are read when they are scraped.
	Collectors() []prometheus.Collector
}

// Concurrency is how many calls of each kind an engine runs at once.
type Concurrency struct{ Reads, Reports, Streams, Writes int }

// Runner executes statements inside one transaction.
type Runner interface {
	Querier
	Exec(ctx context.Context, text string, args ...any) (sql.Result, error)
	// Defer executes a statement before the next Query or Exec, or at the end of
	// the transaction. Its error may be returned by that later call.
	Defer(ctx context.Context, text string, args ...any) error
	// Savepoint executes a SAVEPOINT statement, deferred like others.
	Savepoint(ctx context.Context, text string) error
	// Discard drops the statements that were deferred since the last savepoint and not executed yet.
	Discard()
	// Expect announces a query that will follow with the same text and arguments. It may be executed
	// together with an earlier statement, so nothing in between may change its result.
	Expect(text string, args ...any)
	// AwaitTurn waits for earlier writes of this process to the group of a
	// record: the board that was passed to Learn. It returns at once if the group
	// is unknown, and on SQLite, which has one writer.
	AwaitTurn(ctx context.Context, record string)
	// Learn remembers the group of a record for AwaitTurn.
	Learn(record, group string)
}

// Pauser is a Runner of Stream.
type Pauser interface {
	// Pause ends the snapshot, calls wait without holding a snapshot, and begins a new
	// one. No rows may be open.
	Pause(ctx context.Context, wait func() error) error
}

// Dialect describes how the SQL of the two databases differs.
type Dialect struct {
	Name     string // "sqlite" or "postgres"
	System   string // db.system.name of OpenTelemetry
	RowLocks bool   // rows are locked by FOR UPDATE; SQLite has one writer and needs no locks
}

// Among returns the condition that a value is one of the few that a query selects. The condition
// makes PostgreSQL plan for few values.
func (d Dialect) Among(text string) string {
	if d.RowLocks {
		return "= ANY (ARRAY(" + text + "))"
	}
	return "IN (" + text + ")"
}

var (
	// ErrUnavailable marks failures after which a retry may succeed, such as a full disk or a lost
	// connection.
	ErrUnavailable = errors.New("the database is not available")

	// ErrLocked is the ErrUnavailable of a lock that another transaction held too long.
	ErrLocked = fmt.Errorf("%w: waited too long for a lock", ErrUnavailable)

	// ErrTooLong means that the database stopped a statement that ran longer than its
	// limit.
	ErrTooLong = errors.New("the statement ran longer than its limit")

	// ErrRetry makes a write run again from its beginning. A transaction returns
	// it when a record was moved to another board before its lock was taken.
	ErrRetry = errors.New("the record was moved to another board during the transaction")
)

// Open connects to the database. It refuses a schema that the migrations do not
// know, and an older one unless opts.Migrate is set.
func Open(ctx context.Context, opts Options) (Engine, error) {
	switch {
	case IsPostgres(opts.Database):
		return openPostgres(ctx, opts)
	case opts.Replica != "":
		return nil, errors.New("--database-replica is for PostgreSQL")
	}
	return openSQLite(ctx, opts)
}

// IsPostgres reports whether a database address names PostgreSQL rather than an
// SQLite file.
func IsPostgres(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}
