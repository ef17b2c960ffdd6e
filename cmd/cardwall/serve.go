package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"cardwall/internal/account"
	"cardwall/internal/app"
	"cardwall/internal/automate"
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
	"cardwall/internal/session"
	"cardwall/internal/store"
	"cardwall/internal/transfer"
	"cardwall/web"
)

type serveCommand struct {
	Addr            string         `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on; 127.0.0.1:8080 when absent."`
	RateLimits      string         `default:"on" enum:"on,off" help:"Count requests against the plans: on or off."`
	TrustedProxies  []netip.Prefix `placeholder:"CIDR,…" help:"Proxies of one's own in front of the server, such as 10.0.0.0/8: their X-Forwarded-For says where a request came from, which limits count by. None when absent."`
	Operators       []string       `placeholder:"EMAIL,…" help:"Addresses of the people who look after the server: signed in, they change organizations' plans on a page. None when absent."`
	Demo            bool           `help:"Fill a demo workspace first, and print how to look at it."`
	Drain           time.Duration  `default:"2s" placeholder:"TIME" help:"How long a server that is told to stop goes on answering while /readyz fails, so that what stands in front sends to others; 2s when absent. On SQLite there are no others, and it stops at once."`
	MetricsAddr     string         `placeholder:"HOST:PORT" help:"Second address, for Prometheus: /metrics; none when absent."`
	DatabaseReplica string         `placeholder:"ADDRESS" help:"Streaming replica of the PostgreSQL database, postgres://…, on which reports are read while it keeps up. None when absent."`
	oidcFlags
	mailFlags
	hookFlags
	connectFlags
}

func (serveCommand) Help() string {
	return "Examples:\n  cardwall serve\n  cardwall serve --addr :8080 --base-url https://cards.example.com --database postgres://cardwall@db/cardwall"
}

// The time-outs and sizes of every connection.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 32 << 10
	shutdownTimeout   = 10 * time.Second
	housekeeping      = 10 * time.Minute
)

func (c *serveCommand) Run(ctx context.Context, g *globals) (err error) {
	tuneGC()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", c.Addr, err)
	}
	defer func() { _ = listener.Close() }() // closed by the server already, unless it never ran
	for _, address := range c.Operators {
		email, err := board.NormalEmail(address)
		if err != nil {
			return fmt.Errorf("--operators: %w", err)
		}
		g.operators = append(g.operators, email)
	}
	g.replica = c.DatabaseReplica
	seen, err := observe(g)
	if err != nil {
		return err
	}
	defer seen.stop()
	ready := make(chan parts, 1)
	go func() { ready <- c.assemble(g) }() // meanwhile the database opens
	db, err := g.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	with := <-ready
	if with.err != nil {
		return with.err
	}
	g.warnOfKeyFile(db)
	gate := session.NewGate(db, g.log, session.Options{BaseURL: g.BaseURL, Unlimited: c.RateLimits == "off", Proxies: c.TrustedProxies, Metrics: seen.gate})
	defer gate.Close()
	if !session.Trustworthy(g.BaseURL) {
		g.log.Warn("the address of --base-url is not https: passwords and sessions travel in the open", "base", g.BaseURL)
	}
	engine := op.NewEngine(db)
	engine.CheckAddress, engine.Log, engine.Metrics = with.guard.Check, g.log, seen.operations
	served := with.programs.Pages(db, gate, with.application)
	maps.Copy(served, with.accounts.Pages(db, gate, rest.ApplicationPrefix))
	maps.Copy(served, notify.Pages(db, gate))
	maps.Copy(served, ical.Pages(ical.Options{DB: db, Gate: gate, BaseURL: g.BaseURL, Unlimited: c.RateLimits == "off", Log: g.log}))
	hub := live.NewHub(db, g.log)
	defer hub.Close()
	tools, err := mcp.New(mcp.Config{Registry: with.operations, Engine: engine, Gate: gate, BaseURL: g.BaseURL, Version: apiVersion(), Log: g.log, Extra: extraTools()})
	if err != nil {
		return err
	}
	var draining atomic.Bool
	handler, err := rest.New(rest.Config{
		Draining: &draining,
		Mounts: map[string]rest.Mount{
			board.MCPPath: tools.Serve,
			"GET " + rest.ApplicationPrefix + "/live":                             hub.Serve,
			"POST " + rest.ApplicationPrefix + "/workspaces/{workspaceId}/import": transfer.Upload(db, g.log, seen.imports),
		},
		Application: with.application,
		Pages:       served,
		DB:          db, Registry: with.operations, Engine: engine, Gate: gate, BaseURL: g.BaseURL, Version: apiVersion(), Log: g.log,
		Metrics: seen.requests, Traces: seen.traces,
	})
	if err != nil {
		return err
	}
	holder := store.NewID("srv_")
	if c.MetricsAddr != "" {
		stopMetrics, err := serveMetrics(ctx, c.MetricsAddr, g.log, seen.registry(db, hub))
		if err != nil {
			return err
		}
		defer stopMetrics()
	}
	stopHooks, err := c.startHooks(ctx, g, db, with.guard, holder, seen)
	if err != nil {
		return err
	}
	defer stopHooks()
	defer beside(ctx, automate.New(automate.Options{DB: db, Registry: with.operations, Holder: holder, Metrics: seen.rules, Traces: seen.traces, Log: g.log}).Run)()
	stopMail, err := c.startMail(ctx, g, db, seen)
	if err != nil {
		return err
	}
	defer stopMail()
	defer beside(ctx, notify.New(db, holder, g.log).Run)()
	if c.Demo {
		if err := fillDemo(ctx, g, db); err != nil {
			return err
		}
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
	}
	g.log.Info("serving", "address", "http://"+listener.Addr().String(), "base", g.BaseURL, "database", db.Dialect(), "version", apiVersion())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	go debug.FreeOSMemory() // the start needs three times the memory that a server at rest does
	tick := time.NewTicker(housekeeping)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("serve: %w", err)
		case <-tick.C:
			seen.housekeeping.ended(housekeep(ctx, g, db, holder))
		case <-ctx.Done():
			return c.leave(ctx, g.log, leaving{db: db, holder: holder, draining: &draining, server: server, hub: hub})
		}
	}
}

// parts are what a server consists of that needs no database.
type parts struct {
	accounts    *account.Accounts
	guard       *hook.Guard
	programs    *connect.Server
	application http.Handler // nil when the pages were not built
	operations  *op.Registry
	err         error
}

func (c *serveCommand) assemble(g *globals) (p parts) {
	unlimited := c.RateLimits == "off"
	if p.accounts, p.err = account.New(account.Options{BaseURL: g.BaseURL, OIDC: c.provider(), Unlimited: unlimited, Log: g.log}); p.err != nil {
		return p
	}
	if p.guard, p.err = c.guard(); p.err != nil {
		return p
	}
	if p.application, p.err = servePages(g); p.err != nil {
		return p
	}
	if p.programs, p.err = c.authorization(g, p.guard, unlimited, c.WebhookCAFile); p.err != nil {
		return p
	}
	p.operations = catalog.New(catalog.Parts{Accounts: p.accounts, Programs: p.programs, Pages: guest.New(guest.Options{Unlimited: unlimited})})
	return p
}

// servePages is the application, or nil with a line in the log when it was not
// built.
func servePages(g *globals) (http.Handler, error) {
	dist, err := fs.Sub(web.Dist, "dist")
	if err != nil {
		return nil, err
	}
	p, err := pages.New(dist, strings.HasPrefix(g.BaseURL, "https:"))
	if errors.Is(err, pages.ErrNotBuilt) {
		g.log.Warn("there are no pages in this program; run make web and build it again, or use the API alone")
		return nil, nil
	}
	return p, err
}

// housekeep forgets what has had its time, if this server's turn has come.
func housekeep(ctx context.Context, g *globals, db *store.DB, holder string) error {
	done, err := app.Housekeep(ctx, db, holder)
	if err != nil {
		g.log.Warn("housekeeping", "error", err)
	}
	if done.Boards > 0 {
		g.log.Info("emptied the trash", "boards", done.Boards)
	}
	return err
}

// apiVersion is the version in the OpenAPI document.
func apiVersion() string {
	if version == "" {
		return "dev"
	}
	return version
}
