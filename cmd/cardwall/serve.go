package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/attach"
	"cardwall/internal/automate"
	"cardwall/internal/board"
	"cardwall/internal/catalog"
	"cardwall/internal/connect"
	"cardwall/internal/guest"
	"cardwall/internal/hook"
	"cardwall/internal/ical"
	"cardwall/internal/job"
	"cardwall/internal/live"
	"cardwall/internal/mail"
	"cardwall/internal/mcp"
	"cardwall/internal/notify"
	"cardwall/internal/op"
	"cardwall/internal/pages"
	"cardwall/internal/rest"
	"cardwall/internal/session"
	"cardwall/internal/spool"
	"cardwall/internal/store"
	"cardwall/internal/transfer"
	"cardwall/web"
)

type serveCommand struct {
	Addr              string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on (default ${default})."`
	RateLimits        string        `default:"on" enum:"on,off" help:"Enforce the rate limits of the plans: on or off (default ${default})."`
	TrustedProxies    []network     `placeholder:"CIDR,…" help:"${help_trusted_proxies}"`
	SignUp            string        `placeholder:"WHO" help:"${help_sign_up}"`
	Operators         []string      `placeholder:"EMAIL,…" help:"${help_operators}"`
	Demo              bool          `help:"Create a demo workspace first and print how to sign in."`
	Drain             time.Duration `default:"2s" placeholder:"TIME" help:"${help_drain}"`
	MetricsAddr       string        `placeholder:"HOST:PORT" help:"${help_metrics_addr}"`
	SecurityContact   string        `placeholder:"URL" help:"${help_security_contact}"`
	DatabaseReplica   string        `placeholder:"ADDRESS" help:"${help_database_replica}"`
	ResponseCache     board.Bytes   `default:"32MB" placeholder:"SIZE" help:"${help_response_cache}"`
	SpoolLimit        board.Bytes   `default:"4GB" placeholder:"SIZE" help:"${help_spool_limit}"`
	KeepActivity      board.Age     `default:"forever" placeholder:"AGE" group:"retention" help:"${help_keep_activity}"`
	KeepCardHistory   board.Age     `default:"forever" placeholder:"AGE" group:"retention" help:"${help_keep_card_history}"`
	KeepAudit         board.Age     `default:"forever" placeholder:"AGE" group:"retention" help:"How long the audit log is kept (default ${default})."`
	KeepNotifications board.Age     `default:"90d" placeholder:"AGE" group:"retention" help:"How long notifications are kept (default ${default})."`
	KeepJobs          board.Age     `default:"30d" placeholder:"AGE" group:"retention" help:"How long finished imports, copies and moves are listed (default ${default})."`
	Archive           string        `type:"path" placeholder:"FOLDER" group:"retention" help:"${help_archive}"`
	oidcFlags
	mailFlags
	hookFlags
	connectFlags

	policy account.SignUpPolicy // of SignUp; set by checkSettings
}

func (serveCommand) Help() string {
	return "Examples:\n" +
		"  cardwall serve\n" +
		"  cardwall serve --addr :8080 --base-url https://cards.example.com --database postgres://cardwall@db/cardwall"
}

const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 32 << 10
	shutdownTimeout   = 10 * time.Second

	housekeepingDelay    = time.Minute // from the start of the server to the first run
	housekeepingInterval = 10 * time.Minute
	retentionTimeout     = time.Minute // how long each run may spend removing old records
)

func (c *serveCommand) Run(ctx context.Context, g *globals) (err error) {
	tuneGC()
	addThreads()
	if err := c.applySettings(g); err != nil {
		return err
	}
	listener, err := listenOn(ctx, g.log, c.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", c.Addr, err)
	}
	defer func() { _ = listener.Close() }() // fails if the HTTP server has already closed it
	telemetry, err := newTelemetry(g)
	if err != nil {
		return err
	}
	defer telemetry.stop()
	if c.MetricsAddr != "" {
		stopMetrics, err := serveMetrics(ctx, c.MetricsAddr, g.log, telemetry.registry)
		if err != nil {
			return err
		}
		defer stopMetrics()
	}
	starting := rest.NewStarting(g.BaseURL, telemetry.requests)
	server := startHTTPServer(g, listener, starting)
	defer server.close()
	parts, db, err := c.open(ctx, g, starting)
	if err != nil || db == nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	g.warnAboutKeyFile(db)
	spoolFolder, err := spool.Open(filepath.Join(g.Data, "spool"), int64(c.SpoolLimit))
	if err != nil {
		return err
	}
	files, closeFiles, err := g.openFiles(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFiles()) }()
	s := &runningServer{
		serveCommand: c, globals: g, db: db, telemetry: telemetry, spool: spoolFolder, files: files, components: parts,
		holder: store.NewID("srv_"),
	}
	defer s.stop()
	handler, err := s.handler()
	if err != nil {
		return err
	}
	telemetry.register(db, s.hub, spoolFolder)
	s.startWorkers(ctx)
	if c.Demo {
		if err := fillDemo(ctx, g, db); err != nil {
			return err
		}
	}
	if err := printFirstAccountLink(ctx, g, db); err != nil {
		g.log.Warn("link for the first account not printed", "error", err)
	}
	server.setHandler(handler)
	telemetry.ready.Set(1)
	g.log.Info("serving", "address", "http://"+listener.Addr().String(),
		"base", g.BaseURL, "database", db.Dialect(), "version", apiVersion())
	go debug.FreeOSMemory() // startup needs three times the memory of an idle server
	return s.serve(ctx, server)
}

// applySettings validates the flags that kong cannot validate and copies flags to
// g.
func (c *serveCommand) applySettings(g *globals) error {
	if err := c.checkSettings(g); err != nil {
		return err
	}
	g.replica, g.cacheSize = c.DatabaseReplica, c.ResponseCache
	if g.cacheSize == 0 {
		g.cacheSize = -1 // no cache; 0 means the default
	}
	if !session.Trustworthy(g.BaseURL) {
		g.log.Warn("--base-url does not use https; passwords and session cookies are sent unencrypted", "base", g.BaseURL)
	}
	return nil
}

// runningServer is a server whose database is open.
type runningServer struct {
	*serveCommand
	*globals
	components
	db        *store.DB
	telemetry telemetry
	spool     *spool.Folder
	files     *attach.Files
	swept     time.Time // when sweepFiles last ran
	holder    string    // identifies this process as the holder of leases
	hub       *live.Hub
	jobs      *job.Engine
	draining  atomic.Bool
	stops     []func() // functions that stop the gate, the accounts, the hub and the background workers, in starting order
}

// stop calls the functions in stops in reverse order.
func (s *runningServer) stop() {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
}

// handler returns the handler for all requests.
func (s *runningServer) handler() (http.Handler, error) {
	db, telemetry, unlimited := s.db, s.telemetry, s.RateLimits == "off"
	gate := session.NewGate(db, s.log, session.Options{
		BaseURL: s.BaseURL, Unlimited: unlimited, Proxies: prefixes(s.TrustedProxies), Metrics: telemetry.gate,
	})
	s.hub = live.NewHub(db, s.log)
	s.stops = append(s.stops, gate.Close, s.accounts.Close, s.hub.Close)
	s.jobs = job.New(job.Options{DB: db, Holder: s.holder, Draft: app.DraftJob,
		Lists:   job.Lists{Draft: app.DraftListJob, Show: app.ShowListJob, Event: app.EventOfListJob},
		Moves:   job.Moves{Check: app.CheckListMove, Start: app.StartListMove, Continue: app.ContinueListMove},
		Metrics: telemetry.jobs, Log: s.log})
	imports := transfer.Importer{DB: db, Jobs: s.jobs, Uploads: transfer.NewUploads(s.spool, 0), Holder: s.holder + ":upload",
		JobWait: op.JobWait, Log: s.log, Metrics: telemetry.imports}
	engine := op.NewEngine(db)
	engine.CheckAddress, engine.Log, engine.Metrics = s.guard.Check, s.log, telemetry.operations
	engine.Spool, engine.Version = s.spool, apiVersion()
	telemetry.operations.Announce(s.operations.All())
	routes := s.oauth.Pages(db, gate, s.application)
	maps.Copy(routes, s.accounts.Pages(db, gate, rest.ApplicationPrefix))
	maps.Copy(routes, notify.Pages(db, gate))
	maps.Copy(routes, ical.Pages(ical.Options{
		DB: db, Gate: gate, BaseURL: s.BaseURL, Unlimited: unlimited, Log: s.log,
	}))
	tools, err := mcp.New(mcp.Config{
		Registry: s.operations, Engine: engine, Gate: gate,
		BaseURL: s.BaseURL, Version: apiVersion(), Log: s.log, Extra: extraTools(),
	})
	if err != nil {
		return nil, err
	}
	return rest.New(rest.Config{
		Draining: &s.draining,
		Refusals: map[string]rest.Refusal{board.MCPPath: tools.Refuse},
		Mounts: map[string]rest.Mount{
			board.MCPPath: tools.Serve,
			"GET " + rest.ApplicationPrefix + "/live":                             s.hub.Serve,
			"POST " + rest.ApplicationPrefix + "/workspaces/{workspaceId}/import": imports.Serve,
		},
		Uploads:     map[string]bool{"POST " + rest.ApplicationPrefix + "/workspaces/{workspaceId}/import": true},
		Application: s.application,
		Pages:       routes, Files: s.files,
		DB: db, Registry: s.operations, Engine: engine, Gate: gate,
		BaseURL: s.BaseURL, Version: apiVersion(), Log: s.log,
		Metrics: telemetry.requests, Traces: telemetry.traces, SecurityContact: s.SecurityContact,
	})
}

// startWorkers starts the background workers.
func (s *runningServer) startWorkers(ctx context.Context) {
	metrics, traces := s.telemetry, s.telemetry.traces
	hooks := s.hooks
	hooks.DB, hooks.Holder, hooks.Metrics, hooks.Traces = s.db, s.holder, metrics.hooks, traces
	rules := automate.Options{
		DB: s.db, Registry: s.operations, Holder: s.holder, Metrics: metrics.rules, Traces: traces, Log: s.log,
	}
	emails := mail.Worker{
		Queue: emailQueue(s.db), Sender: s.sender, Log: s.log, Metrics: metrics.emails, Traces: traces,
	}
	for _, run := range []func(context.Context){
		hook.New(hooks).Run, // if stopped: another server repeats attempts that were not recorded
		automate.New(rules).Run,
		s.jobs.Run, // if stopped: another server continues the jobs
		emails.Run, // if stopped: another server sends the email after the lease expires
		notify.New(s.db, s.holder, s.log).Run,
		app.Summaries{DB: s.db, Holder: s.holder, Log: s.log}.Run,
		app.SearchIndex{DB: s.db, Log: s.log}.Run,
	} {
		s.stops = append(s.stops, startWorker(ctx, run))
	}
}

// serve runs housekeeping and removes old records until ctx ends, and then shuts the
// server down. It returns an error as soon as the HTTP server fails.
func (s *runningServer) serve(ctx context.Context, server *httpServer) error {
	tick := time.NewTimer(housekeepingDelay)
	defer tick.Stop()
	keep, closeArchive := s.retention(s.globals)
	defer closeArchive()
	for {
		select {
		case err := <-server.ended:
			return fmt.Errorf("serve: %w", err)
		case <-tick.C:
			s.telemetry.housekeeping.record(errors.Join(
				housekeep(ctx, s.globals, s.db, s.holder), retain(ctx, s.globals, s.db, s.holder, keep), s.sweepFiles(ctx)))
			tick.Reset(housekeepingInterval)
		case <-ctx.Done():
			s.telemetry.ready.Set(0)
			return s.shutDown(ctx, s.log, shutdown{
				db: s.db, holder: s.holder, draining: &s.draining, server: server.server, hub: s.hub,
			})
		}
	}
}

// components holds the components of a server that do not need the database.
type components struct {
	accounts    *account.Accounts
	guard       *hook.Guard
	oauth       *connect.Server
	application http.Handler // nil if the web app was not built
	operations  *op.Registry
	hooks       hook.Options // without the fields that need the database
	sender      *mail.Sender
	err         error
}

// assemble creates the components. It reports an error in the field err.
func (c *serveCommand) assemble(g *globals) (p components) {
	unlimited := c.RateLimits == "off"
	p.accounts, p.err = account.New(account.Options{
		BaseURL: g.BaseURL, OIDC: c.provider(), SignUp: c.policy, Unlimited: unlimited, Log: g.log,
	})
	if p.err != nil {
		return p
	}
	if p.guard, p.err = c.guard(); p.err != nil {
		return p
	}
	if p.hooks, p.err = c.hookOptions(g, p.guard); p.err != nil {
		return p
	}
	if p.sender, p.err = c.newSender(g); p.err != nil {
		return p
	}
	if p.application, p.err = servePages(g); p.err != nil {
		return p
	}
	if p.oauth, p.err = c.authorization(g, p.guard, unlimited, c.WebhookCAFile); p.err != nil {
		return p
	}
	p.operations = catalog.New(catalog.Parts{
		Accounts: p.accounts, Programs: p.oauth, Pages: guest.New(guest.Options{Unlimited: unlimited}),
	})
	return p
}

// servePages returns the handler of the web app. It returns nil and logs a
// warning if the web app was not built into this program.
func servePages(g *globals) (http.Handler, error) {
	dist, err := fs.Sub(web.Dist, "dist")
	if err != nil {
		return nil, err
	}
	p, err := pages.New(dist)
	if errors.Is(err, pages.ErrNotBuilt) {
		g.log.Warn("this program was built without the web app; run make web and build again, or use only the API")
		return nil, nil
	}
	return p, err
}

// housekeep deletes expired data, unless another server is doing so or has recently
// done so.
func housekeep(ctx context.Context, g *globals, db *store.DB, holder string) error {
	done, err := app.Housekeep(ctx, db, holder)
	if err != nil {
		g.log.Warn("housekeeping failed", "error", err)
	}
	if done.Boards > 0 {
		g.log.Info("trash emptied", "boards", done.Boards)
	}
	return err
}

// retention returns how long to keep records, and a function that closes the
// archive.
func (c *serveCommand) retention(g *globals) (app.Retention, func()) {
	keep := app.Retention{
		Activity: c.KeepActivity, CardHistory: c.KeepCardHistory, Audit: c.KeepAudit, Notifications: c.KeepNotifications,
		Jobs: c.KeepJobs,
	}
	if c.Archive == "" {
		return keep, func() {}
	}
	folder := app.NewFolderArchive(c.Archive, g.now())
	keep.Archive = folder
	return keep, func() {
		if err := folder.Close(); err != nil {
			g.log.Warn("archive not closed", "error", err)
		}
	}
}

// retain archives and removes records that are older than their retention period. If
// this takes longer than retentionTimeout, the next run continues.
func retain(ctx context.Context, g *globals, db *store.DB, holder string, keep app.Retention) error {
	done, err := app.Retain(ctx, db, holder, keep, retentionTimeout)
	if err != nil {
		g.log.Warn("old records not removed", "error", err)
	}
	if done.Activity+done.Audit > 0 {
		g.log.Info("old records removed", "activity", done.Activity, "audit", done.Audit)
	}
	return err
}
