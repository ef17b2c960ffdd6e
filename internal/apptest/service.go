package apptest

import (
	"context"
	"crypto/x509"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/account"
	"cardwall/internal/board"
	"cardwall/internal/catalog"
	"cardwall/internal/connect"
	"cardwall/internal/guest"
	"cardwall/internal/hook"
	"cardwall/internal/ical"
	"cardwall/internal/live"
	"cardwall/internal/mcp"
	"cardwall/internal/notify"
	"cardwall/internal/op"
	"cardwall/internal/pages"
	"cardwall/internal/rest"
	"cardwall/internal/seal"
	"cardwall/internal/session"
	"cardwall/internal/spool"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
	"cardwall/internal/transfer"
)

// BaseURL is where a service under test believes to be.
const BaseURL = "https://cardwall.example.com"

// secretKey seals secrets wherever a test does not say otherwise.
const secretKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// Receivers is a host to which webhooks may point, as an exception of the
// operator's, so that tests ask no name server.
const Receivers = "receiver.example.com"

// Service is the whole program, without a network.
type Service struct {
	T        testing.TB
	DB       *store.DB
	Registry *op.Registry
	Handler  http.Handler
	Clock    *Clock
	Database string // what New was given
	Draining atomic.Bool
	Spool    *spool.Folder
	opts     Options
	document *document
}

// Options of a service.
type Options struct {
	Limits         board.Limits               // zero for the defaults
	Plan           board.Plan                 // of new organizations; "" for the default
	Storage        map[board.Plan]board.Bytes // quotas other than those of the plans
	RateLimits     bool                       // count requests; off unless a test is about them
	Registry       func() *op.Registry        // nil for those of the program
	Keys           *seal.Keyring              // nil for a key that all tests share, so that a database can be opened again
	OIDC           account.OIDC               // an identity provider; zero for none
	SignUp         account.SignUpPolicy
	Roots          *x509.CertPool    // authorities of hosts that documents are fetched from; nil for the system's
	Operators      []string          // addresses of the server's operators; Ada's when nil
	NoRegistration bool              // programs may not register themselves
	Replica        string            // the address of a replica of the database; "" for none
	Tools          func(*sdk.Server) // more for the MCP endpoint; nil for nothing
	Impatient      bool              // who waits for a lock on PostgreSQL waits as long as in the program, not patience
	Log            *slog.Logger      // nil for the test's own, from warnings on
	ReportLimit    time.Duration     // of one statement of a report; 0 for the default
	SlowWindow     time.Duration     // in which slow readers and senders must reach their rate; 0 for the default
	SpoolLimit     int64             // bytes; 0 for a gigabyte
	clock          *Clock
	document       *document
}

// patience is how long a service under test waits for a lock of PostgreSQL, and
// for what other servers have counted: on a busy machine the time that the program
// gives them is over while nothing is wrong.
const patience = 20 * time.Second

// Both runs a test on SQLite and on PostgreSQL.
func Both(t *testing.T, fn func(t *testing.T, s *Service)) { BothWith(t, Options{}, fn) }

// BothWith runs a test on both databases with options.
func BothWith(t *testing.T, opts Options, fn func(t *testing.T, s *Service)) {
	t.Helper()
	Databases(t, func(t *testing.T, database string) { fn(t, New(t, database, opts)) })
}

// Databases runs a test with the address of a new database of each kind, as the
// migrations leave it.
func Databases(t *testing.T, fn func(t *testing.T, database string)) {
	t.Helper()
	eachDatabase(t, fn, func(t testing.TB) string {
		file := filepath.Join(t.TempDir(), "cardwall.db")
		beginMigrated(t, file)
		return file
	}, PostgresURL)
}

// EmptyDatabases is Databases without a schema.
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

// New boots the program on a database, which is a file or postgres://… A file
// that is not there begins with the schema. Who waits for a lock on PostgreSQL is
// patient, unless the options or the address say otherwise.
func New(t testing.TB, database string, opts Options) *Service {
	t.Helper()
	if sqldb.IsPostgres(database) && !opts.Impatient && !strings.Contains(database, "lock_timeout") {
		database = LockWait(t, database, patience)
	}
	accounts, err := account.New(account.Options{
		BaseURL: BaseURL, OIDC: opts.OIDC, SignUp: opts.SignUp, Unlimited: !opts.RateLimits, Log: opts.Log,
	})
	if err != nil {
		t.Fatalf("make the accounts: %v", err)
	}
	guard, err := hook.NewGuard(hook.GuardOptions{Allow: []string{Receivers, "127.0.0.1"}})
	if err != nil {
		t.Fatalf("make the guard: %v", err)
	}
	log := opts.Log
	if log == nil {
		log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	programs := connect.New(connect.Options{
		BaseURL: BaseURL, Registration: !opts.NoRegistration, Unlimited: !opts.RateLimits, Check: guard.Check,
		Dial: guard.Dial, Roots: opts.Roots, Log: log,
	})
	own := opts.Registry == nil
	if own {
		opts.Registry = func() *op.Registry {
			return catalog.New(catalog.Parts{Accounts: accounts, Programs: programs,
				Pages: guest.New(guest.Options{Unlimited: !opts.RateLimits})})
		}
	}
	s := &Service{T: t, Registry: opts.Registry(), Clock: opts.clock, Database: database, opts: opts}
	if s.Clock == nil {
		s.Clock = &Clock{}
	}
	if s.opts.Operators == nil {
		s.opts.Operators = []string{"ada@example.com"}
	}
	if s.opts.Keys == nil {
		var err error
		if s.opts.Keys, err = seal.Parse(secretKey); err != nil {
			t.Fatalf("make the keyring: %v", err)
		}
	}
	if !sqldb.IsPostgres(database) {
		beginMigrated(t, database)
	}
	db, err := store.Open(t.Context(), store.Options{
		Database: database, Replica: opts.Replica, BaseURL: BaseURL, Limits: opts.Limits, Plan: opts.Plan, Storage: opts.Storage,
		Clock: s.Clock.Now, Log: log, Keys: s.opts.Keys, Migrate: true, Operators: s.opts.Operators,
		CountTime: patience, ReportLimit: opts.ReportLimit,
	})
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	s.DB = db
	gate := session.NewGate(db, log, session.Options{BaseURL: BaseURL, Unlimited: !opts.RateLimits})
	hub := live.NewHub(db, log)
	t.Cleanup(func() {
		hub.Close()
		gate.Close()
		accounts.Close()
		if err := db.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	served := programs.Pages(db, gate, application(t))
	maps.Copy(served, accounts.Pages(db, gate, rest.ApplicationPrefix))
	maps.Copy(served, notify.Pages(db, gate))
	maps.Copy(served, ical.Pages(ical.Options{DB: db, Gate: gate, BaseURL: BaseURL, Unlimited: !opts.RateLimits,
		Log: log}))
	limit := opts.SpoolLimit
	if limit == 0 {
		limit = 1 << 30
	}
	if s.Spool, err = spool.Open(t.TempDir(), limit); err != nil {
		t.Fatalf("open the spool: %v", err)
	}
	engine := op.NewEngine(db)
	engine.CheckAddress, engine.Spool = guard.Check, s.Spool
	tools, err := mcp.New(mcp.Config{Registry: s.Registry, Engine: engine, Gate: gate, BaseURL: BaseURL, Version: "test",
		Log: log, Extra: opts.Tools})
	if err != nil {
		t.Fatalf("make the tools: %v", err)
	}
	s.Handler, err = rest.New(rest.Config{
		Refusals: map[string]rest.Refusal{board.MCPPath: tools.Refuse},
		Mounts: map[string]rest.Mount{
			board.MCPPath: tools.Serve,
			"GET " + rest.ApplicationPrefix + "/live": hub.Serve,
			"POST " + rest.ApplicationPrefix + "/workspaces/{workspaceId}/import": transfer.Upload(db, log,
				transfer.NewMetrics(), transfer.NewUploads(s.Spool, opts.SlowWindow)),
		},
		Uploads: map[string]bool{"POST " + rest.ApplicationPrefix + "/workspaces/{workspaceId}/import": true},
		Pages:   served, Draining: &s.Draining, StreamWindow: opts.SlowWindow,
		DB: db, Registry: s.Registry, Engine: engine, Gate: gate, BaseURL: BaseURL, Version: "test", Log: log,
	})
	if err != nil {
		t.Fatalf("make the handler: %v", err)
	}
	switch {
	case opts.document != nil:
		s.document = opts.document
	case own:
		s.document, err = programDocument()
	default:
		s.document, err = newDocument(s.Registry)
	}
	if err != nil {
		t.Fatalf("read the OpenAPI documents: %v", err)
	}
	return s
}

// application serves one empty page, with the headers of all pages.
func application(t testing.TB) http.Handler {
	t.Helper()
	p, err := pages.New(fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>Cardwall</title>")},
		".routes.json": {Data: []byte(`["/", "/oauth/authorize", "/oauth/device"]`)}})
	if err != nil {
		t.Fatalf("make the page: %v", err)
	}
	return p
}

// Node is another server process on the same database, by the same clock.
func (s *Service) Node() *Service {
	s.T.Helper()
	opts := s.opts
	opts.clock = s.Clock
	return New(s.T, s.Database, opts)
}

// Write changes the data behind the interface's back, as the operator's
// commands do.
func (s *Service) Write(caller board.Caller, fn func(ctx context.Context, tx *store.Tx) error) {
	s.T.Helper()
	ctx := context.Background()
	if err := s.DB.Write(ctx, caller, func(tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		s.T.Fatalf("write: %v", err)
	}
}

// Clock is a clock that a test moves. It runs on with real time, so that
// what happens later has a later time, until it is stopped.
type Clock struct {
	mu      sync.Mutex
	ahead   time.Duration
	stopped time.Time // zero while it runs
}

// Now is the time of the test.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped.IsZero() {
		return c.stopped
	}
	return time.Now().Add(c.ahead)
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped.IsZero() {
		c.stopped = c.stopped.Add(d)
	}
	c.ahead += d
}

// Stop has Advance alone move the clock, for a test that counts within a window
// and may be slow.
func (c *Clock) Stop() {
	now := c.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = now
}
