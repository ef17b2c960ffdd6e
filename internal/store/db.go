package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/seal"
	"cardwall/internal/sqldb"
	"cardwall/internal/trace"
)

// Options specifies where the data is and how to open it.
type Options struct {
	Database string // the path of a SQLite file, or postgres://…
	Replica  string // postgres://… of a streaming replica that serves reports; "" for none
	BaseURL  string // prefix of every URL in a response, without a trailing slash
	Limits   board.Limits
	Plan     board.Plan                 // plan of every new organization; "" means board.DefaultPlan
	Storage  map[board.Plan]board.Bytes // storage quotas that override the defaults of the plans
	Readers  int                        // SQLite: number of read connections; 0 means one per core, at least two
	Clock    func() time.Time           // nil means time.Now
	NewID    func(string) string        // nil means NewID, with the time of Clock if Clock is set
	Log      *slog.Logger               // nil means slog.Default
	Keys     *seal.Keyring              // keys that encrypt secrets; if nil, secrets can be neither stored nor read
	Metrics  *Metrics                   // nil means NewMetrics()

	CountTime time.Duration // time limit of CountRates; 0 means half a second

	// ReadLimit and ReportLimit limit the time of each statement in Read and in Report.
	// Zero means 2 and 10 seconds, respectively.
	ReadLimit, ReportLimit time.Duration

	Litestream bool // SQLite: Litestream replicates the file and runs its checkpoints

	CacheSize   board.Bytes                // size of the cache of encoded responses; 0 means 32 MB, negative means no cache
	CheckCached func(cached, fresh []byte) // for tests: called with each cached response and a fresh encoding of it; may be nil

	SignUpClosed bool     // nobody can create an account
	Operators    []string // email addresses of the server's operators, normalized by board.NormalEmail

	Migrate  bool                 // migrate the schema: SQLite makes a backup first, PostgreSQL holds a lease
	Progress func(message string) // called with each step of a migration; may be nil
}

// The default time limits of one statement. Reads are short, so that they do not slow
// down others. A report may read a whole workspace.
const (
	readLimit   = 2 * time.Second
	reportLimit = 10 * time.Second
)

// DB is the store of one server process.
type DB struct {
	opts     Options
	engine   sqldb.Engine
	cursors  []byte // the key that signs cursors, the same on every server
	sender   atomic.Pointer[Sender]
	cards    atomic.Pointer[cardCount]
	horizons horizons
	unmerged atomic.Bool // this server has added entries to the search index since the last MergeSearchIndex
	storage  storageMeter
	cache    *responseCache
	accesses accessCache
	slices   sync.Mutex // held during WriteSlice

	watching sync.Mutex
	watchers []*func(Commit) // replaced as a whole while watching is held
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations returns the migrations of both databases.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // only if the name above is not a valid path
	}
	return sub
}

// Open connects to the database. It returns an error if this program does not know the
// schema version, or if the schema is older and Options.Migrate is not set.
func Open(ctx context.Context, opts Options) (*DB, error) {
	if opts.NewID == nil && opts.Clock != nil {
		opts.NewID = clockedIDs(opts.Clock)
	}
	if opts.NewID == nil {
		opts.NewID = NewID
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	if opts.Limits == (board.Limits{}) {
		opts.Limits = board.DefaultLimits()
	}
	if opts.Metrics == nil {
		opts.Metrics = NewMetrics()
	}
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	opts.CountTime = cmp.Or(opts.CountTime, countTime)
	opts.ReadLimit, opts.ReportLimit = cmp.Or(opts.ReadLimit, readLimit), cmp.Or(opts.ReportLimit, reportLimit)
	opts.BaseURL = strings.TrimSuffix(opts.BaseURL, "/")
	e, err := sqldb.Open(ctx, sqldb.Options{
		Database: opts.Database, Replica: opts.Replica, Readers: opts.Readers, Litestream: opts.Litestream,
		Migrations: Migrations(), Migrate: opts.Migrate, Progress: opts.Progress,
		Clock: opts.Clock, Log: opts.Log, Metrics: opts.Metrics.engine, Refused: refused,
		LockGroup: boardLock, RacedIndex: keyIndex,
	})
	if err != nil {
		return nil, err
	}
	db := &DB{opts: opts, engine: e}
	if db.cache, err = newResponseCache(opts.CacheSize); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if err := db.checkHere(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if err := db.checkComplete(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if err := db.loadCursorKey(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if err := db.checkKeys(ctx); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return db, nil
}

// refused reports whether an error is a refusal by a rule of the service.
func refused(err error) bool {
	_, ok := board.AsFault(err)
	return ok
}

// Close waits for the writes in progress, and then closes all connections.
func (db *DB) Close() error { return db.engine.Close() }

// checkHere returns an error if the data has moved to another database, or has not
// completely arrived in this one.
func (db *DB) checkHere(ctx context.Context) error {
	return db.engine.Read(ctx, 0, func(r sqldb.Runner) error { return sqldb.CheckHere(ctx, r) })
}

// ErrInterruptedUpgrade means that the upgrade of a database to v0.2.1 is not complete.
var ErrInterruptedUpgrade = errors.New("the upgrade of the database to v0.2.1 was interrupted: start Cardwall v0.2.1 again, " +
	"and wait until /readyz responds with 200")

// checkComplete returns ErrInterruptedUpgrade if settings are present that v0.2.1 deletes
// when its upgrade is complete.
func (db *DB) checkComplete(ctx context.Context) error {
	return db.Read(ctx, board.System(), func(v *View) error {
		left, err := v.count(ctx, `SELECT count(*) FROM settings
			WHERE key IN ('texts', 'texts_workspace', 'texts_scripts', 'comment_texts', 'done_cards')`)
		if err == nil && left > 0 {
			err = ErrInterruptedUpgrade
		}
		return err
	})
}

func (db *DB) dialect() sqldb.Dialect { return db.engine.Dialect() }

// Engine returns the engine that the store runs on. Apart from tests, only packages
// dbtool and apptest may use it, because nothing authorizes statements that run on it
// directly.
func (db *DB) Engine() sqldb.Engine { return db.engine }

// Dialect returns "sqlite" or "postgres".
func (db *DB) Dialect() string { return db.dialect().Name }

// CursorKey returns the key that signs pagination cursors.
func (db *DB) CursorKey() []byte { return db.cursors }

// Now returns the time of the server's clock.
func (db *DB) Now() time.Time { return db.opts.Clock() }

// Read runs fn on one consistent state of the data. The database cancels a statement that
// runs longer than Options.ReadLimit, unless the caller is board.System. Fn may run
// twice. The caller must use the results of the last run.
func (db *DB) Read(ctx context.Context, caller board.Caller, fn func(*View) error) error {
	ctx, span := trace.Begin(ctx, "read transaction", trace.Internal)
	err := fault(db.engine.Read(ctx, limitOf(caller, db.opts.ReadLimit), func(r sqldb.Runner) error {
		return fn(db.view(r, caller, span))
	}))
	db.ended(span, "read", err)
	return err
}

// Report is Read for queries across boards. Its statements may run for
// Options.ReportLimit. On SQLite, reports have their own connections, so that short reads
// never wait for them. It uses the replica only if the replica is up to date, so fn
// always sees every earlier commit. Fn may run twice. The caller must use the results of
// the last run.
func (db *DB) Report(ctx context.Context, caller board.Caller, fn func(*View) error) error {
	ctx, span := trace.Begin(ctx, "report transaction", trace.Internal)
	err := fault(db.engine.Report(ctx, limitOf(caller, db.opts.ReportLimit), func(r sqldb.Runner) error {
		return fn(db.view(r, caller, span))
	}))
	db.ended(span, "report", err)
	return err
}

// limitOf returns how long a statement may run for the caller; 0 means no limit. The
// server's own work, such as a migration or the doctor, has no limit.
func limitOf(caller board.Caller, limit time.Duration) time.Duration {
	if caller.System {
		return 0
	}
	return limit
}

// Stream is Report without a time limit, for long reads such as exports. Fn runs at most
// once. On SQLite, each stream opens its own connection, so that short reads never wait
// for it.
func (db *DB) Stream(ctx context.Context, caller board.Caller, fn func(*View) error) error {
	ctx, span := trace.Begin(ctx, "long read transaction", trace.Internal)
	err := fault(db.engine.Stream(ctx, func(r sqldb.Runner) error {
		return fn(db.view(r, caller, span))
	}))
	db.ended(span, "stream", err)
	return err
}

// Pause ends the snapshot of a stream, calls wait, and continues with a new snapshot. The
// caller must reload any permissions and records that it loaded before.
func (v *View) Pause(ctx context.Context, wait func() error) error {
	p, ok := v.run.(sqldb.Pauser)
	if !ok {
		return errors.New("pause: not a stream")
	}
	v.seen = nil
	return fault(p.Pause(ctx, wait))
}

// Write runs fn in one transaction and returns nil only after the transaction is on disk.
// If fn fails, nothing is written. Fn may run again, for example after a serialization
// failure on PostgreSQL, or after the failure of another write that shares the
// transaction. The caller must use the results of the last run.
func (db *DB) Write(ctx context.Context, caller board.Caller, fn func(*Tx) error) error {
	return db.WriteTo(ctx, caller, nil, fn)
}

// WriteTo is Write for changes to the given records: boards, or objects on boards. On
// PostgreSQL, naming the records lets this server's writes to one board share
// transactions. A missing or unnecessary record costs time, but does not change the
// result.
func (db *DB) WriteTo(ctx context.Context, caller board.Caller, records []string, fn func(*Tx) error) error {
	var tx *Tx
	ended := func(bool) {} // reports to the sender whether the announced deliveries were committed
	defer func() { ended(false) }()
	ctx, span := trace.Begin(ctx, "write transaction", trace.Internal)
	err := fault(db.engine.Write(ctx, records, func(r sqldb.Runner) error {
		tx = &Tx{View: db.view(r, caller, span)}
		tx.writes = true
		ended(false) // an earlier run of fn was rolled back
		ended = func(bool) {}
		if err := fn(tx); err != nil {
			return err
		}
		if err := tx.flush(ctx); err != nil {
			return err
		}
		if announce := db.sender.Load(); announce != nil && len(tx.effects.dispatched) > 0 {
			ended = (*announce)(tx.effects.dispatched)
		}
		return nil
	}))
	db.ended(span, "write", err)
	if errors.Is(err, sqldb.ErrLocked) && tx != nil && tx.claim.key != "" {
		return board.InFlight() // another transaction uses the same idempotency key
	}
	if err != nil {
		return err
	}
	ended(true)
	ended = func(bool) {}
	db.committed(tx)
	return nil
}

// Commit is what a committed transaction changed, for those who wait for it.
type Commit struct {
	Boards   []string // boards that changed or became visible; ids may be repeated
	Notified []string // people whose notifications changed
	Jobs     bool     // a job was queued or canceled

	dispatched  []Dispatch       // deliveries that the commit passes to the sender
	switchedOff []board.Off      // reasons why webhooks were disabled
	stored      map[string]int64 // bytes that the transaction added, by organization
}

// committed passes on what a committed transaction changed.
func (db *DB) committed(tx *Tx) {
	tx.effects.Boards = append(tx.effects.Boards, tx.touched...)
	for _, id := range tx.effects.Boards {
		db.noteChanged(id)
	}
	db.opts.Metrics.committed(tx)
	db.storage.committed(tx.effects.stored)
	db.watching.Lock()
	watchers := db.watchers
	db.watching.Unlock()
	for _, watch := range watchers {
		(*watch)(tx.effects)
	}
}

// OnCommit registers fn, which is called after each commit of this process until stop is
// called. Fn must not block.
func (db *DB) OnCommit(fn func(Commit)) (stop func()) {
	db.watching.Lock()
	defer db.watching.Unlock()
	db.watchers = append(slices.Clip(db.watchers), &fn)
	return func() {
		db.watching.Lock()
		defer db.watching.Unlock()
		db.watchers = slices.DeleteFunc(slices.Clone(db.watchers), func(f *func(Commit)) bool { return f == &fn })
	}
}

// Sender receives the deliveries of a transaction before the commit, and so before anyone
// can read them from the outbox. The returned function is called once, after the
// transaction; committed reports whether the transaction was committed. Neither function
// may block.
type Sender func(deliveries []Dispatch) (ended func(committed bool))

// OnDispatch sets the sender that receives the deliveries of this process, so that the
// sender does not have to poll the outbox for them. The sender may drop deliveries,
// because they are also in the outbox. A nil sender removes the current one.
func (db *DB) OnDispatch(s Sender) {
	if s == nil {
		db.sender.Store(nil)
		return
	}
	db.sender.Store(&s)
}

// Shared reports whether several servers can use this database at the same time.
func (db *DB) Shared() bool { return db.dialect().RowLocks }

// Concurrency is the number of calls of each kind that a database should run
// concurrently.
type Concurrency = sqldb.Concurrency

// Concurrency returns the number of calls of each kind that the database should run
// concurrently. Additional calls would make all of them slower.
func (db *DB) Concurrency() Concurrency { return db.engine.Concurrency() }

func (db *DB) view(r sqldb.Runner, caller board.Caller, span *trace.Span) *View {
	return &View{db: db, run: r, caller: caller, now: board.InstantOf(db.opts.Clock()), span: span}
}

// Ping returns an error if the database does not respond. On SQLite, it also returns an
// error if the engine knows that it must refuse writes, for example because the data has
// moved to another database.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.engine.CheckWritable(); err != nil {
		return fault(err)
	}
	return db.Read(ctx, board.System(), func(v *View) error {
		var n int
		_, err := v.one(ctx, "SELECT 1", nil, &n)
		return err
	})
}

// fault turns an error after which a retry may succeed, or the error of a statement that
// exceeded its time limit, into an unavailable error. It returns other errors unchanged.
func fault(err error) error {
	if err != nil && errors.Is(err, sqldb.ErrTooLong) {
		return fmt.Errorf("%w: %w", &board.Fault{
			Code: board.CodeUnavailable, Reason: board.ReasonTimeLimit, RetryAfter: tooLongRetry,
			Message: "This request reads too much and was stopped. Narrow the search: choose one board, " +
				"or add a word, a person or a date.",
		}, err)
	}
	if err == nil || !errors.Is(err, sqldb.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", &board.Fault{
		Code:       board.CodeUnavailable,
		Message:    "The service cannot do this right now; try again in a moment.",
		RetryAfter: time.Second,
	}, err)
}

// tooLongRetry is the Retry-After of a request that took too long. A retry is likely to
// take just as long, so it should not follow immediately.
const tooLongRetry = 10 * time.Second

// loadCursorKey reads the signing key that all servers share. It creates the
// key if there is none.
func (db *DB) loadCursorKey(ctx context.Context) error {
	var text string
	read := func() (bool, error) {
		var found bool
		err := db.Read(ctx, board.System(), func(v *View) (err error) {
			found, err = v.one(ctx, "SELECT value FROM settings WHERE key = $1", []any{"cursor_key"}, &text)
			return err
		})
		return found, err
	}
	found, err := read()
	if err == nil && !found {
		fresh := make([]byte, 32)
		_, _ = rand.Read(fresh) // never fails (crypto/rand)
		err = db.Write(ctx, board.System(), func(tx *Tx) error {
			return tx.exec(ctx, "INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", "cursor_key", hex.EncodeToString(fresh))
		})
		if err == nil {
			_, err = read()
		}
	}
	if err != nil {
		return fmt.Errorf("load cursor key: %w", err)
	}
	db.cursors, err = hex.DecodeString(text)
	return err
}
