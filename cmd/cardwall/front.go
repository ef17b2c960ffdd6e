package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"cardwall/internal/backoff"
	"cardwall/internal/rest"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// front is the HTTP server. It listens as soon as the process starts, with a
// handler for the startup, and switches to the real handler once the server is
// ready.
type front struct {
	server  *http.Server
	handler atomic.Pointer[http.Handler]
	ended   chan error
}

// openFront starts serving a listener with a first handler.
func openFront(log *slog.Logger, listener net.Listener, first http.Handler) *front {
	f := &front{ended: make(chan error, 1)}
	f.setHandler(first)
	f.server = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			(*f.handler.Load()).ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true,
	}
	log.Info("listening", "address", "http://"+listener.Addr().String())
	go func() { f.ended <- f.server.Serve(rest.Listener(listener)) }()
	return f
}

func (f *front) setHandler(h http.Handler) { f.handler.Store(&h) }

// close closes the server and its connections immediately. It does nothing after
// a shutdown.
func (f *front) close() { _ = f.server.Close() }

// openAll assembles the parts of the server and opens its database at the same
// time. It waits for a database that is not available yet. The returned database
// is nil if ctx ended first.
func (c *serveCommand) openAll(ctx context.Context, g *globals, starting *rest.Starting) (parts, *store.DB, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	made, opened := make(chan parts, 1), make(chan *store.DB, 1)
	failed := make(chan error, 1)
	go func() { made <- c.assemble(g) }()
	go func() {
		db, err := g.awaitDatabase(ctx, starting)
		failed <- err
		opened <- db
	}()
	with := <-made
	if with.err != nil {
		cancel()
		g.closeLater(opened)
		return with, nil, with.err
	}
	select {
	case err := <-failed:
		return with, <-opened, err
	case <-ctx.Done(): // opening the database may be in a step that cannot be interrupted
		g.closeLater(opened)
		return with, nil, nil
	}
}

// closeLater waits up to stopWait for a database that is no longer needed to
// open, and closes it.
func (g *globals) closeLater(opened <-chan *store.DB) {
	select {
	case db := <-opened:
		if db != nil {
			if err := db.Close(); err != nil {
				g.log.Warn("database not closed cleanly", "error", err)
			}
		}
	case <-time.After(stopWait):
	}
}

// stopWait limits the wait for the database to open when the server is stopped
// during its startup.
const stopWait = 3 * time.Second

// awaitDatabase opens the database. It retries errors that may pass without a
// change of settings and returns all others immediately. It returns nil if ctx
// ends first.
func (g *globals) awaitDatabase(ctx context.Context, starting *rest.Starting) (*store.DB, error) {
	var reasons []string
	failures := backoff.NewLog(g.log)
	g.onProgress = func(message string) { starting.Set("The server is " + message + ".") }
	for {
		db, err := g.open(ctx)
		if err == nil {
			failures.Succeeded(reasons...)
			return db, nil
		}
		if ctx.Err() != nil {
			return nil, nil
		}
		reason, wait := sqldb.WaitReason(err)
		if !wait {
			return nil, err
		}
		starting.Set(reason)
		event := "waiting for the database: " + reason
		reasons = append(reasons, event)
		pause := time.NewTimer(failures.Failed(event, err))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, nil
		}
	}
}

// listenOn listens on an address. The listener logs connections that cannot be
// accepted, at most once a minute.
func listenOn(ctx context.Context, log *slog.Logger, addr string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &watchedListener{Listener: l, log: log}, nil
}

const acceptLogEvery = time.Minute

type watchedListener struct {
	net.Listener
	log *slog.Logger

	mu     sync.Mutex
	logged time.Time
	missed int // failures since logged
}

func (l *watchedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		l.failed(err)
	}
	return conn, err
}

func (l *watchedListener) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.missed++
	if now := time.Now(); now.Sub(l.logged) >= acceptLogEvery {
		advice := "see the error"
		if outOfFiles(err) {
			advice = "raise the limit of open files (LimitNOFILE, ulimit -n), or find the client that holds many connections open"
		}
		l.log.Warn("connections not accepted",
			"address", l.Addr().String(), "failures", l.missed, "advice", advice, "error", err)
		l.logged, l.missed = now, 0
	}
}
