package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"time"

	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/attach"
	"cardwall/internal/board"
	"cardwall/internal/pages"
	"cardwall/internal/rest"
	"cardwall/internal/server"
	"cardwall/internal/session"
	"cardwall/internal/spool"
	"cardwall/internal/store"
	"cardwall/web"
)

type serveCommand struct {
	Addr              string        `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on (default ${default})."`
	RateLimits        string        `default:"on" enum:"on,off" help:"Enforce the rate limits of the plans: on or off (default ${default})."`
	TrustedProxies    []network     `placeholder:"CIDR,…" help:"${help_trusted_proxies}"`
	CORSOrigins       []string      `placeholder:"ORIGIN,…" help:"${help_cors_origins}"`
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
	starting := rest.NewStarting(g.BaseURL, telemetry.Requests)
	front := startHTTPServer(g, listener, starting)
	defer front.close()
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
	parts.DB, parts.Spool, parts.Files = db, spoolFolder, files
	parts.Holder, parts.Metrics, parts.Traces = store.NewID("srv_"), telemetry.Metrics, telemetry.traces
	telemetry.Operations.Announce(parts.Registry.All())
	built, err := server.New(parts)
	if err != nil {
		return err
	}
	defer built.Close()
	s := &runningServer{
		serveCommand: c, globals: g, Server: built, db: db, telemetry: telemetry, files: files, holder: parts.Holder,
	}
	telemetry.register(db, s.Hub, spoolFolder)
	return s.serve(ctx, front, listener.Addr())
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
	*server.Server
	db        *store.DB
	telemetry telemetry
	files     *attach.Files
	swept     time.Time // when sweepFiles last ran
	holder    string    // identifies this process as the holder of leases
}

// serve starts background tasks and the handling of requests. It runs housekeeping
// and removes old records until ctx ends, and then shuts the server down. It returns an
// error as soon as the HTTP server fails.
func (s *runningServer) serve(ctx context.Context, front *httpServer, address net.Addr) error {
	s.Start(ctx)
	if s.Demo {
		if err := fillDemo(ctx, s.globals, s.db); err != nil {
			return err
		}
	}
	if err := printFirstAccountLink(ctx, s.globals, s.db); err != nil {
		s.log.Warn("link for the first account not printed", "error", err)
	}
	front.setHandler(s.Handler)
	s.telemetry.ready.Set(1)
	s.log.Info("serving", "address", "http://"+address.String(),
		"base", s.BaseURL, "database", s.db.Dialect(), "version", apiVersion())
	go debug.FreeOSMemory() // startup needs three times the memory of an idle server
	tick := time.NewTimer(pauseOf(housekeepingDelay))
	defer tick.Stop()
	keep, closeArchive := s.retention(s.globals)
	defer closeArchive()
	for {
		select {
		case err := <-front.ended:
			return fmt.Errorf("serve: %w", err)
		case <-tick.C:
			s.telemetry.housekeeping.record(errors.Join(
				housekeep(ctx, s.globals, s.db, s.holder), retain(ctx, s.globals, s.db, s.holder, keep), s.sweepFiles(ctx)))
			tick.Reset(pauseOf(housekeepingInterval))
		case <-ctx.Done():
			s.telemetry.ready.Set(0)
			return s.shutDown(ctx, front)
		}
	}
}

// assemble returns the parts of the server that do not need the database.
func (c *serveCommand) assemble(g *globals) (o server.Options, err error) {
	unlimited := c.RateLimits == "off"
	o.BaseURL, o.Version, o.Log, o.SecurityContact = g.BaseURL, apiVersion(), g.log, c.SecurityContact
	o.Origins = c.CORSOrigins
	o.Unlimited, o.Proxies, o.Tools = unlimited, prefixes(c.TrustedProxies), extraTools()
	o.Accounts, err = account.New(account.Options{
		BaseURL: g.BaseURL, OIDC: c.provider(), SignUp: c.policy, Unlimited: unlimited, Log: g.log,
	})
	if err != nil {
		return o, err
	}
	if o.Guard, err = c.guard(); err != nil {
		return o, err
	}
	if o.Hooks, err = c.hookOptions(); err != nil {
		return o, err
	}
	if o.Sender, err = c.newSender(g); err != nil {
		return o, err
	}
	if o.WebApp, err = servePages(g); err != nil {
		return o, err
	}
	if o.Programs, err = c.authorization(g, o.Guard, unlimited, c.WebhookCAFile); err != nil {
		return o, err
	}
	o.Registry = server.Operations(o.Accounts, o.Programs, unlimited)
	return o, nil
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
	if done.Boards+done.Trash > 0 {
		g.log.Info("trash emptied", "boards", done.Boards, "cards and lists", done.Trash)
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
