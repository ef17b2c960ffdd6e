package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cardwall/internal/backoff"
	"cardwall/internal/rest"
	"cardwall/internal/server"
	"cardwall/internal/sqldb"
	"cardwall/internal/store"
)

// httpServer is the public HTTP server. It accepts requests before the database is
// open. Its initial handler reports that the server is starting. setHandler replaces
// that handler when the server is ready.
type httpServer struct {
	server  *http.Server
	handler atomic.Pointer[http.Handler]
	ended   chan error // receives the error of Serve
}

// startHTTPServer starts serving requests on listener with the initial handler.
func startHTTPServer(g *globals, listener net.Listener, initial http.Handler) *httpServer {
	s := &httpServer{ended: make(chan error, 1)}
	s.setHandler(initial)
	s.server = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			(*s.handler.Load()).ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true,
	}
	g.log.Info("listening", "address", "http://"+listener.Addr().String())
	go func() { s.ended <- rest.Serve(s.server, listener, strings.HasPrefix(g.BaseURL, "https://")) }()
	return s
}

func (s *httpServer) setHandler(h http.Handler) { s.handler.Store(&h) }

// close closes the server and its connections immediately. It has no effect after
// a complete shutdown.
func (s *httpServer) close() { _ = s.server.Close() }

// open assembles the parts of the server while it opens the database. If the database is
// not available yet, open waits for it. The returned database is nil if ctx ends first.
func (c *serveCommand) open(ctx context.Context, g *globals, starting *rest.Starting) (server.Options, *store.DB, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	opened, failed := make(chan *store.DB, 1), make(chan error, 1)
	go func() {
		db, err := g.awaitDatabase(ctx, starting)
		failed <- err
		opened <- db
	}()
	parts, err := c.assemble(g)
	if err != nil {
		cancel()
		g.closeOnceOpen(opened)
		return parts, nil, err
	}
	select {
	case err := <-failed:
		return parts, <-opened, err
	case <-ctx.Done(): // opening the database may be in a step that cannot be interrupted
		g.closeOnceOpen(opened)
		return parts, nil, nil
	}
}

// closeOnceOpen waits up to stopWait for the database to open, and then closes it. A
// database that takes longer to open is not closed.
func (g *globals) closeOnceOpen(opened <-chan *store.DB) {
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

// stopWait is how long a server that is stopped during startup waits for the
// database to finish opening.
const stopWait = 3 * time.Second

// awaitDatabase opens the database. It retries after errors that can be resolved
// without a change to the settings, and returns all other errors immediately. It
// returns nil, nil if ctx ends first.
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
		reason, temporary := sqldb.WaitReason(err)
		if !temporary {
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

// listenOn listens on a TCP address. The listener logs failures to accept a
// connection, at most once per acceptLogInterval.
func listenOn(ctx context.Context, log *slog.Logger, addr string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &loggingListener{Listener: l, log: log}, nil
}

const acceptLogInterval = time.Minute

type loggingListener struct {
	net.Listener
	log *slog.Logger

	mu       sync.Mutex
	logged   time.Time
	failures int // number of failures since the last log entry
}

func (l *loggingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		l.logFailure(err)
	}
	return conn, err
}

func (l *loggingListener) logFailure(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures++
	if now := time.Now(); now.Sub(l.logged) >= acceptLogInterval {
		advice := "see the error"
		if outOfFiles(err) {
			advice = "raise the limit on open files (LimitNOFILE, ulimit -n), or find the client that keeps many connections open"
		}
		l.log.Warn("connections not accepted",
			"address", l.Addr().String(), "failures", l.failures, "advice", advice, "error", err)
		l.logged, l.failures = now, 0
	}
}
