package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
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
	"cardwall/internal/mail"
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
	SignUp          string         `placeholder:"WHO" help:"Who can make an account: open (anyone), invited (people who were invited), domains:example.com,… (people with an address of these domains, and people who were invited) or closed (nobody). When absent it is open for a --base-url on the loopback interface, and invited for any other."`
	Operators       []string       `placeholder:"EMAIL,…" help:"Addresses of the people who look after the server: signed in, they change organizations' plans on a page. None when absent."`
	Demo            bool           `help:"Fill a demo workspace first, and print how to look at it."`
	Drain           time.Duration  `default:"2s" placeholder:"TIME" help:"How long a server that is told to stop goes on answering while /readyz fails, so that what stands in front sends to others; 2s when absent. On SQLite there are no others, and it stops at once."`
	MetricsAddr     string         `placeholder:"HOST:PORT" help:"Second address, for operators alone: /metrics for Prometheus and /debug/pprof/ for profiles; none when absent."`
	SecurityContact string         `placeholder:"URL" help:"Where to report a vulnerability, as mailto: or https:, shown at /.well-known/security.txt; security@ the base URL's host when absent."`
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
	if err := c.settings(g); err != nil {
		return err
	}
	listener, err := listenOn(ctx, g.log, c.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", c.Addr, err)
	}
	defer func() { _ = listener.Close() }() // closed by the server already, unless it never ran
	seen, err := observe(g)
	if err != nil {
		return err
	}
	defer seen.stop()
	if c.MetricsAddr != "" {
		stopMetrics, err := serveMetrics(ctx, c.MetricsAddr, g.log, seen.registry)
		if err != nil {
			return err
		}
		defer stopMetrics()
	}
	starting := rest.NewStarting(g.BaseURL, seen.requests)
	f := openFront(g.log, listener, starting)
	defer f.close()
	with, db, err := c.openAll(ctx, g, starting)
	if err != nil || db == nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	g.warnOfKeyFile(db)
	s := &running{serveCommand: c, globals: g, db: db, seen: seen, parts: with, holder: store.NewID("srv_")}
	defer s.stop()
	handler, err := s.handler()
	if err != nil {
		return err
	}
	seen.register(db, s.hub)
	s.work(ctx)
	if c.Demo {
		if err := fillDemo(ctx, g, db); err != nil {
			return err
		}
	}
	if err := printFirstLink(ctx, g, db); err != nil {
		g.log.Warn("the link to the first account was not printed", "error", err)
	}
	f.show(handler)
	seen.ready.Set(1)
	g.log.Info("serving", "address", "http://"+listener.Addr().String(), "base", g.BaseURL, "database", db.Dialect(), "version", apiVersion())
	go debug.FreeOSMemory() // the start needs three times the memory that a server at rest does
	return s.serve(ctx, f)
}

// settings takes over what needs more than its type checked.
func (c *serveCommand) settings(g *globals) error {
	for _, address := range c.Operators {
		email, err := board.NormalEmail(address)
		if err != nil {
			return errors.New("--operators: " + plainly(err))
		}
		g.operators = append(g.operators, email)
	}
	g.replica = c.DatabaseReplica
	if !session.Trustworthy(g.BaseURL) {
		g.log.Warn("the address of --base-url is not https: passwords and sessions travel in the open", "base", g.BaseURL)
	}
	return nil
}

// running is a server whose database is open.
type running struct {
	*serveCommand
	*globals
	parts
	db       *store.DB
	seen     observed
	holder   string // the server's own name, for its leases
	hub      *live.Hub
	draining atomic.Bool
	stops    []func() // of what runs beside the requests, in the order in which it began
}

// stop ends what runs beside the requests, the last first.
func (s *running) stop() {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
}

// handler makes the handler of all requests.
func (s *running) handler() (http.Handler, error) {
	db, seen, unlimited := s.db, s.seen, s.RateLimits == "off"
	gate := session.NewGate(db, s.log, session.Options{BaseURL: s.BaseURL, Unlimited: unlimited, Proxies: s.TrustedProxies, Metrics: seen.gate})
	s.hub = live.NewHub(db, s.log)
	s.stops = append(s.stops, gate.Close, s.accounts.Close, s.hub.Close)
	engine := op.NewEngine(db)
	engine.CheckAddress, engine.Log, engine.Metrics = s.guard.Check, s.log, seen.operations
	seen.operations.Announce(s.operations.All())
	served := s.programs.Pages(db, gate, s.application)
	maps.Copy(served, s.accounts.Pages(db, gate, rest.ApplicationPrefix))
	maps.Copy(served, notify.Pages(db, gate))
	maps.Copy(served, ical.Pages(ical.Options{DB: db, Gate: gate, BaseURL: s.BaseURL, Unlimited: unlimited, Log: s.log}))
	tools, err := mcp.New(mcp.Config{Registry: s.operations, Engine: engine, Gate: gate, BaseURL: s.BaseURL, Version: apiVersion(), Log: s.log, Extra: extraTools()})
	if err != nil {
		return nil, err
	}
	return rest.New(rest.Config{
		Draining: &s.draining,
		Refusals: map[string]rest.Refusal{board.MCPPath: tools.Refuse},
		Mounts: map[string]rest.Mount{
			board.MCPPath: tools.Serve,
			"GET " + rest.ApplicationPrefix + "/live":                             s.hub.Serve,
			"POST " + rest.ApplicationPrefix + "/workspaces/{workspaceId}/import": transfer.Upload(db, s.log, seen.imports),
		},
		Application: s.application,
		Pages:       served,
		DB:          db, Registry: s.operations, Engine: engine, Gate: gate, BaseURL: s.BaseURL, Version: apiVersion(), Log: s.log,
		Metrics: seen.requests, Traces: seen.traces, SecurityContact: s.SecurityContact,
	})
}

// work starts what runs beside the requests.
func (s *running) work(ctx context.Context) {
	hooks := s.hooks
	hooks.DB, hooks.Holder, hooks.Metrics, hooks.Traces = s.db, s.holder, s.seen.hooks, s.seen.traces
	rules := automate.Options{DB: s.db, Registry: s.operations, Holder: s.holder, Metrics: s.seen.rules, Traces: s.seen.traces, Log: s.log}
	post := mail.Post{Box: letterBox(s.db), Sender: s.sender, Log: s.log, Sent: s.seen.letters, Traces: s.seen.traces}
	for _, run := range []func(context.Context){
		hook.New(hooks).Run, // what is not recorded is sent again by the next server
		automate.New(rules).Run,
		post.Run, // its lease ends by itself, and another server sends it
		notify.New(s.db, s.holder, s.log).Run,
	} {
		s.stops = append(s.stops, beside(ctx, run))
	}
}

// serve waits until the server is told to stop, and then takes it out of service.
func (s *running) serve(ctx context.Context, f *front) error {
	tick := time.NewTicker(housekeeping)
	defer tick.Stop()
	for {
		select {
		case err := <-f.ended:
			return fmt.Errorf("serve: %w", err)
		case <-tick.C:
			s.seen.housekeeping.ended(housekeep(ctx, s.globals, s.db, s.holder))
		case <-ctx.Done():
			s.seen.ready.Set(0)
			return s.leave(ctx, s.log, leaving{db: s.db, holder: s.holder, draining: &s.draining, server: f.server, hub: s.hub})
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
	hooks       hook.Options // without what needs the database
	sender      *mail.Sender
	err         error
}

func (c *serveCommand) assemble(g *globals) (p parts) {
	unlimited := c.RateLimits == "off"
	policy, err := account.ParseSignUpPolicy(c.SignUp, g.BaseURL)
	if err != nil {
		p.err = fmt.Errorf("--sign-up: %w", err)
		return p
	}
	if p.accounts, p.err = account.New(account.Options{BaseURL: g.BaseURL, OIDC: c.provider(), SignUp: policy, Unlimited: unlimited, Log: g.log}); p.err != nil {
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
	p, err := pages.New(dist)
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
