// Package server puts the parts of Cardwall together. The program and the tests of the
// whole service start the same server.
package server

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
	"cardwall/internal/rest"
	"cardwall/internal/session"
	"cardwall/internal/spool"
	"cardwall/internal/store"
	"cardwall/internal/trace"
	"cardwall/internal/transfer"
)

// Options are the parts of a server that depend on its settings.
type Options struct {
	DB              *store.DB
	Accounts        *account.Accounts
	Programs        *connect.Server
	Registry        *op.Registry // see Operations
	Guard           *hook.Guard  // checks the addresses of webhooks
	Hooks           hook.Options // settings of deliveries; Start sets DB, Guard, Holder, Log, Metrics and Traces
	Emails          mail.Queue   // zero means EmailQueue
	Sender          *mail.Sender // sends the emails
	Spool           *spool.Folder
	Files           *attach.Files
	WebApp          http.Handler      // the web app; nil if it was not built
	Tools           func(*sdk.Server) // adds tools to the MCP endpoint; may be nil
	Holder          string            // identifies this process as the holder of leases
	BaseURL         string            // without a trailing slash
	Version         string            // of the program
	Unlimited       bool              // no rate limits
	SecurityContact string            // see rest.Config
	Origins         []string          // see rest.Config
	Proxies         []netip.Prefix    // trusted to report the address of a client
	Log             *slog.Logger      // nil means slog.Default
	Metrics         Metrics
	Traces          *trace.Tracer // may be nil
	Waits           Waits
}

// Metrics are the metrics of a server's parts. The zero value means that nobody reads
// them.
type Metrics struct {
	Operations *op.Metrics
	Requests   *rest.Metrics
	Gate       *session.Metrics
	Hooks      *hook.Metrics
	Rules      *automate.Metrics
	Emails     *mail.Metrics
	Imports    *transfer.Metrics
	Jobs       *job.Metrics
}

// NewMetrics returns metrics for all parts.
func NewMetrics() Metrics {
	return Metrics{
		Operations: op.NewMetrics(), Requests: rest.NewMetrics(), Gate: session.NewMetrics(), Hooks: hook.NewMetrics(),
		Rules: automate.NewMetrics(), Emails: mail.NewMetrics(), Imports: transfer.NewMetrics(), Jobs: job.NewMetrics(),
	}
}

// Waits are limits of time. Zero means the default of the part that the comment names.
type Waits struct {
	Queue  time.Duration // op.Options.QueueTime
	Job    time.Duration // op.Options.JobWait
	Retry  time.Duration // op.Options.RetryWait
	Call   time.Duration // rest.Config.OpTimeout
	Tool   time.Duration // mcp.Config.Deadline
	Upload time.Duration // transfer.NewUploads
	Stream time.Duration // rest.Config.StreamWindow
	Live   time.Duration // live.Hub.Interval
}

// Operations returns the operations of a server.
func Operations(accounts *account.Accounts, programs *connect.Server, unlimited bool) *op.Registry {
	return catalog.New(catalog.Parts{Accounts: accounts, Programs: programs, Guests: guest.New(guest.Options{Unlimited: unlimited})})
}

// Server serves requests, and runs background work after Start.
type Server struct {
	Handler  http.Handler
	Engine   *op.Engine
	Jobs     *job.Engine
	Hub      *live.Hub
	Draining atomic.Bool // whether /readyz sends clients to other servers

	opts  Options
	stops []func() // stop the parts, in starting order
}

// New returns a server that serves requests. It runs no background work yet.
func New(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Metrics == (Metrics{}) {
		o.Metrics = NewMetrics()
	}
	if o.Emails.Next == nil {
		o.Emails = EmailQueue(o.DB)
	}
	s := &Server{opts: o, Hub: live.NewHub(o.DB, o.Log)}
	s.Engine = op.NewEngine(o.DB, op.Options{
		CheckAddress: o.Guard.Check, Log: o.Log, Spool: o.Spool, Version: o.Version, Metrics: o.Metrics.Operations,
		QueueTime: o.Waits.Queue, JobWait: o.Waits.Job, RetryWait: o.Waits.Retry,
	})
	if o.Waits.Live > 0 {
		s.Hub.Interval = o.Waits.Live
	}
	gate := session.NewGate(o.DB, o.Log, session.Options{
		BaseURL: o.BaseURL, Unlimited: o.Unlimited, Proxies: o.Proxies, Metrics: o.Metrics.Gate,
	})
	s.stops = append(s.stops, gate.Close, o.Accounts.Close, s.Hub.Close)
	s.Jobs = job.New(job.Options{DB: o.DB, Holder: o.Holder, Draft: app.DraftJob,
		Lists:   job.Lists{Draft: app.DraftListJob, Show: app.ShowListJob, Event: app.EventOfListJob},
		Moves:   job.Moves{Check: app.CheckListMove, Start: app.StartListMove, Continue: app.ContinueListMove},
		Metrics: o.Metrics.Jobs, Log: o.Log})
	tools, err := mcp.New(mcp.Config{
		Registry: o.Registry, Engine: s.Engine, Gate: gate, Files: o.Files, BaseURL: o.BaseURL, Origins: o.Origins, Version: o.Version,
		Log: o.Log, Extra: o.Tools, Deadline: o.Waits.Tool,
	})
	if err != nil {
		s.Close()
		return nil, err
	}
	const importPath = "POST " + rest.ApplicationPrefix + "/workspaces/{workspaceId}/import"
	imports := transfer.Importer{DB: o.DB, Jobs: s.Jobs, Uploads: transfer.NewUploads(o.Spool, o.Waits.Upload),
		Holder: o.Holder + ":upload", JobWait: cmp.Or(o.Waits.Job, op.JobWait), Log: o.Log, Metrics: o.Metrics.Imports}
	s.Handler, err = rest.New(rest.Config{
		Draining: &s.Draining,
		Refusals: map[string]rest.Refusal{board.MCPPath: tools.Refuse},
		Mounts: map[string]rest.Mount{
			board.MCPPath: tools.Serve,
			"GET " + rest.ApplicationPrefix + "/live": s.Hub.Serve,
			importPath: imports.Serve,
		},
		Uploads:  map[string]bool{importPath: true},
		Handlers: s.handlers(gate), Application: o.WebApp, Files: o.Files,
		DB: o.DB, Registry: o.Registry, Engine: s.Engine, Gate: gate,
		BaseURL: o.BaseURL, Origins: o.Origins, Version: o.Version, Log: o.Log,
		Metrics: o.Metrics.Requests, Traces: o.Traces, SecurityContact: o.SecurityContact,
		OpTimeout: o.Waits.Call, StreamWindow: o.Waits.Stream,
	})
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// handlers returns the handlers that authenticate callers themselves, by method and path.
func (s *Server) handlers(gate *session.Gate) map[string]http.Handler {
	o := s.opts
	all := o.Programs.Handlers(o.DB, gate, o.WebApp)
	maps.Copy(all, o.Accounts.Handlers(o.DB, gate, rest.ApplicationPrefix))
	maps.Copy(all, notify.Handlers(o.DB, gate))
	maps.Copy(all, ical.Handlers(ical.Options{DB: o.DB, Gate: gate, BaseURL: o.BaseURL, Unlimited: o.Unlimited, Log: o.Log}))
	return all
}

// Start starts the background work, which ends when ctx ends or the server is closed.
func (s *Server) Start(ctx context.Context) {
	o := s.opts
	hooks := o.Hooks
	hooks.DB, hooks.Guard, hooks.Holder, hooks.Log = o.DB, o.Guard, o.Holder, o.Log
	hooks.Metrics, hooks.Traces = o.Metrics.Hooks, o.Traces
	rules := automate.Options{
		DB: o.DB, Registry: o.Registry, Holder: o.Holder, Metrics: o.Metrics.Rules, Traces: o.Traces, Log: o.Log,
	}
	emails := mail.Worker{Queue: o.Emails, Sender: o.Sender, Log: o.Log, Metrics: o.Metrics.Emails, Traces: o.Traces}
	for _, run := range []func(context.Context){
		hook.New(hooks).Run, // if stopped: another server repeats attempts that were not recorded
		automate.New(rules).Run,
		s.Jobs.Run, // if stopped: another server continues the jobs
		emails.Run, // if stopped: another server sends the email after the lease expires
		notify.New(o.DB, o.Holder, o.Log).Run,
		app.Summaries{DB: o.DB, Holder: o.Holder, Log: o.Log}.Run,
		app.SearchIndex{DB: o.DB, Log: o.Log}.Run,
	} {
		s.Run(ctx, run)
	}
}

// Run runs fn in the background until ctx ends or the server is closed.
func (s *Server) Run(ctx context.Context, fn func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn(ctx)
	}()
	s.stops = append(s.stops, func() {
		cancel()
		select {
		case <-done:
		case <-time.After(stopTimeout):
		}
	})
}

// stopTimeout is how long Close waits for background work that has been told to stop.
const stopTimeout = 10 * time.Second

// Close stops background work and event streams. It does not close the database.
func (s *Server) Close() {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
	s.stops = nil
}
