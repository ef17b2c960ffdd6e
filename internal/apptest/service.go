package apptest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"database/sql"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/account"
	"cardwall/internal/attach"
	"cardwall/internal/board"
	"cardwall/internal/connect"
	"cardwall/internal/file"
	"cardwall/internal/hook"
	"cardwall/internal/op"
	"cardwall/internal/pages"
	"cardwall/internal/seal"
	"cardwall/internal/server"
	"cardwall/internal/spool"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// BaseURL is the base URL of a service under test.
const BaseURL = "https://cardwall.example.com"

// secretKey seals secrets unless a test sets another key.
const secretKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// Receivers is a host that may receive webhooks because it is one of the operator's exceptions.
// Tests that use it need no DNS.
const Receivers = "receiver.example.com"

// Service is the whole program without a network listener.
type Service struct {
	*server.Server
	T        testing.TB
	DB       *store.DB
	Registry *op.Registry
	Clock    *Clock
	Database string // the file or URL given to New
	Spool    *spool.Folder
	Files    *attach.Files
	opts     Options
	document *document

	mu  sync.Mutex // protects own
	own *sql.DB    // see ownDB; nil until it is used
}

// Options are the options of a service. The zero value selects the defaults.
type Options struct {
	Limits             board.Limits               // zero for the defaults
	Plan               board.Plan                 // plan of new organizations; "" for the default
	Origins            []string                   // other sites whose pages may use the public API and MCP
	RateLimits         bool                       // whether rate limits apply; off for most tests
	Registry           func() *op.Registry        // nil for the program's own operations
	Keys               *seal.Keyring              // nil for a key that all tests share, so that a database can be reopened
	OIDC               account.OIDC               // an identity provider; zero for none
	Storage            map[board.Plan]board.Bytes // replaces the quotas of the plans
	Files              string                     // folder or s3:// address for files; "" for a folder of the test
	CacheSize          board.Bytes                // memory for encoded responses, as in store.Options
	NoJobs             bool                       // run no jobs, because the test runs its own engine
	SignUp             account.SignUpPolicy
	Roots              *x509.CertPool    // authorities trusted when fetching client documents; nil for the system's
	Operators          []string          // email addresses of the operators; Ada's if nil
	NoRegistration     bool              // disables dynamic client registration
	Replica            string            // the URL of a replica of the database; "" for none
	Tools              func(*sdk.Server) // adds tools to the MCP endpoint; nil for none
	ProgramLockTimeout bool              // use the program's timeouts for locks and idle transactions on PostgreSQL
	Unchecked          bool              // cached responses are returned without a comparison with fresh ones
	Log                *slog.Logger      // nil for a logger that writes warnings to the output of the test
	ReportLimit        time.Duration     // time limit of one statement of a report; 0 for wideLimit
	LiveInterval       time.Duration     // live.Hub.Interval; 0 for the default
	QueueTime          time.Duration     // how long operations wait while there is no overload; 0 for wideLimit
	SlowWindow         time.Duration     // window in which slow clients must reach the minimum rate; 0 for the default
	SpoolLimit         int64             // limit in bytes; 0 for a gigabyte
	JobWait            time.Duration     // how long REST calls wait for a job that they start; 0 for wideLimit
	RetryWait          time.Duration     // how long a retry waits for the first request with its key; 0 for the default
	clock              *Clock
	document           *document
}

// lockTimeout is how long a service under test waits for a PostgreSQL lock, and for the counts of
// rate limits that servers share. The program's own limits could expire on a busy machine although
// nothing is wrong.
const lockTimeout = 20 * time.Second

// wideLimit replaces the other limits of the program, for the same reason: those of statements and idle
// transactions, of the time that an operation waits for its turn, and of the time that a REST call
// waits for a job that it starts. The limit for a request is twice as long.
const wideLimit = time.Minute

// Both runs a test on SQLite and on PostgreSQL.
func Both(t *testing.T, fn func(t *testing.T, s *Service)) { BothWith(t, Options{}, fn) }

// BothWith runs a test on both databases with options.
func BothWith(t *testing.T, opts Options, fn func(t *testing.T, s *Service)) {
	t.Helper()
	Databases(t, func(t *testing.T, database string) { fn(t, New(t, database, opts)) })
}

// Databases runs a test with the file name or URL of a new, migrated database of each kind.
func Databases(t *testing.T, fn func(t *testing.T, database string)) {
	t.Helper()
	eachDatabase(t, fn, func(t testing.TB) string {
		file := filepath.Join(t.TempDir(), "cardwall.db")
		beginMigrated(t, file)
		return file
	}, PostgresURL)
}

// EmptyDatabases is like Databases, but the databases have no schema.
func EmptyDatabases(t *testing.T, fn func(t *testing.T, database string)) {
	t.Helper()
	eachDatabase(t, fn, func(t testing.TB) string { return filepath.Join(t.TempDir(), "cardwall.db") }, EmptyPostgresURL)
}

func eachDatabase(t *testing.T, fn func(t *testing.T, database string), sqlite, postgres func(t testing.TB) string) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, sqlite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, postgres(t))
	})
}

// collectLessGarbage makes the process collect garbage less often. Each test builds the whole service,
// so collecting took a sixth of the time of tests, and there is enough memory.
var collectLessGarbage = sync.OnceFunc(func() { debug.SetGCPercent(400) })

// New starts the program on a database, which is a file name or a postgres:// URL. A file that
// does not exist is created with the schema. On PostgreSQL the lock timeout is lockTimeout, unless
// the options or the URL set another one.
func New(t testing.TB, database string, opts Options) *Service {
	t.Helper()
	collectLessGarbage()
	if sqldb.IsPostgres(database) && !opts.ProgramLockTimeout {
		if !strings.Contains(database, "lock_timeout") {
			database = WithLockTimeout(t, database, lockTimeout)
		}
		database = WithIdleTimeout(t, database, wideLimit)
	}
	accounts, err := account.New(account.Options{
		BaseURL: BaseURL, OIDC: opts.OIDC, SignUp: opts.SignUp, Unlimited: !opts.RateLimits, Log: opts.Log,
	})
	if err != nil {
		t.Fatalf("create the accounts: %v", err)
	}
	guard, err := hook.NewGuard(hook.GuardOptions{Allow: []string{Receivers, "127.0.0.1"}})
	if err != nil {
		t.Fatalf("create the guard: %v", err)
	}
	log := cmp.Or(opts.Log, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	programs := connect.New(connect.Options{
		BaseURL: BaseURL, Registration: !opts.NoRegistration, Unlimited: !opts.RateLimits, Check: guard.Check,
		Dial: guard.Dial, Roots: opts.Roots, Log: log,
	})
	own := opts.Registry == nil
	if own {
		opts.Registry = func() *op.Registry { return server.Operations(accounts, programs, !opts.RateLimits) }
	}
	s := &Service{T: t, Registry: opts.Registry(), Clock: cmp.Or(opts.clock, &Clock{}), Database: database, opts: opts}
	s.openStore(log)
	if s.Spool, err = spool.Open(t.TempDir(), cmp.Or(opts.SpoolLimit, 1<<30)); err != nil {
		t.Fatalf("open the spool: %v", err)
	}
	s.openFiles()
	s.Server, err = server.New(server.Options{
		DB: s.DB, Accounts: accounts, Programs: programs, Registry: s.Registry, Guard: guard, Spool: s.Spool, Files: s.Files,
		WebApp: application(t), Tools: opts.Tools, Holder: store.NewID("srv_"), BaseURL: BaseURL, Origins: opts.Origins, Version: "test",
		Unlimited: !opts.RateLimits, Log: log,
		Waits: server.Waits{
			Queue: cmp.Or(opts.QueueTime, wideLimit), Job: cmp.Or(opts.JobWait, wideLimit), Call: 2 * wideLimit, Tool: 2 * wideLimit,
			Retry: opts.RetryWait, Upload: opts.SlowWindow, Stream: opts.SlowWindow, Live: opts.LiveInterval,
		},
	})
	if err != nil {
		t.Fatalf("create the server: %v", err)
	}
	t.Cleanup(s.Close)
	if !opts.NoJobs {
		s.Run(context.Background(), s.Jobs.Run)
	}
	if s.document, err = opts.openDocument(own, s.Registry); err != nil {
		t.Fatalf("read the OpenAPI documents: %v", err)
	}
	return s
}

// openStore opens the database, and sets the defaults of the options for it.
func (s *Service) openStore(log *slog.Logger) {
	s.T.Helper()
	if s.opts.Operators == nil {
		s.opts.Operators = []string{"ada@example.com"}
	}
	if s.opts.Keys == nil {
		var err error
		if s.opts.Keys, err = seal.Parse(secretKey); err != nil {
			s.T.Fatalf("create the keyring: %v", err)
		}
	}
	if !sqldb.IsPostgres(s.Database) {
		beginMigrated(s.T, s.Database)
	}
	db, err := store.Open(s.T.Context(), store.Options{
		Database: s.Database, Replica: s.opts.Replica, BaseURL: BaseURL, Limits: s.opts.Limits, Plan: s.opts.Plan,
		Storage: s.opts.Storage, Clock: s.Clock.Now, Log: log, Keys: s.opts.Keys, Migrate: true, Operators: s.opts.Operators,
		SignUpClosed: s.opts.SignUp.Mode == account.SignUpClosed,
		CountTime:    lockTimeout, ReadLimit: wideLimit, ReportLimit: cmp.Or(s.opts.ReportLimit, wideLimit),
		CacheSize: s.opts.CacheSize, CheckCached: s.checkCached(),
	})
	if err != nil {
		s.T.Fatalf("open the store: %v", err)
	}
	s.DB = db
	s.T.Cleanup(func() {
		if err := db.Close(); err != nil {
			s.T.Errorf("close the store: %v", err)
		}
	})
}

// openDocument returns the OpenAPI documents of the program, or of a registry of the test.
func (o Options) openDocument(own bool, r *op.Registry) (*document, error) {
	switch {
	case o.document != nil:
		return o.document, nil
	case own:
		return programDocument()
	}
	return newDocument(r)
}

// openFiles opens the storage for files. Nodes of the service share it.
func (s *Service) openFiles() {
	s.T.Helper()
	if s.opts.Files == "" {
		s.opts.Files = s.T.TempDir()
	}
	blobs, closeBlobs, err := file.Open(s.T.Context(), s.opts.Files)
	if err != nil {
		s.T.Fatalf("open the storage for files: %v", err)
	}
	s.T.Cleanup(func() {
		if err := closeBlobs(); err != nil {
			s.T.Errorf("close the storage for files: %v", err)
		}
	})
	s.Files = &attach.Files{DB: s.DB, Blobs: blobs}
}

// application returns a handler that serves an empty page with the headers of all pages.
func application(t testing.TB) http.Handler {
	t.Helper()
	p, err := pages.New(fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>Cardwall</title>")},
		".routes.json": {Data: []byte(`["/", "/oauth/authorize", "/oauth/device"]`)}})
	if err != nil {
		t.Fatalf("create the page: %v", err)
	}
	return p
}

// Node returns another server process on the same database, with the same clock.
func (s *Service) Node() *Service {
	s.T.Helper()
	return s.nodeWith(s.opts)
}

// Uncached is like Node, but the server caches no encoded responses.
func (s *Service) Uncached() *Service {
	s.T.Helper()
	opts := s.opts
	opts.CacheSize = -1
	return s.nodeWith(opts)
}

func (s *Service) nodeWith(opts Options) *Service {
	s.T.Helper()
	opts.clock = s.Clock
	return New(s.T, s.Database, opts)
}

// Write runs fn in a transaction, without an operation, as the operator's commands do.
func (s *Service) Write(caller board.Caller, fn func(ctx context.Context, tx *store.Tx) error) {
	s.T.Helper()
	ctx := context.Background()
	if err := s.DB.Write(ctx, caller, func(tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		s.T.Fatalf("write: %v", err)
	}
}

// Clock is a clock that a test can move. Until it is stopped, it also advances with real time,
// so that later events have later times.
type Clock struct {
	mu      sync.Mutex
	ahead   time.Duration
	stopped time.Time // zero while it runs
}

// Now returns the current time of the test.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped.IsZero() {
		return c.stopped
	}
	return time.Now().Add(c.ahead)
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped.IsZero() {
		c.stopped = c.stopped.Add(d)
	}
	c.ahead += d
}

// Stop stops the clock, which then moves only by Advance. Slow tests use it if they count
// events within a time window.
func (c *Clock) Stop() {
	now := c.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = now
}

// checkCached returns a function that fails the test if a cached response differs from a new one.
// Each test that reads cards therefore also checks the response cache.
func (s *Service) checkCached() func(cached, fresh []byte) {
	if s.opts.Unchecked {
		return nil
	}
	return func(cached, fresh []byte) {
		if !bytes.Equal(cached, fresh) {
			s.T.Errorf("the cached response is outdated: got\n%s\nwant\n%s", cached, fresh)
		}
	}
}
