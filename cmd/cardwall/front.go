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
	"cardwall/internal/store"
)

// front is the server's door to the network. It is open from the beginning, and
// shows another handler once the server is ready.
type front struct {
	server *http.Server
	shown  atomic.Pointer[http.Handler]
	ended  chan error
}

// openFront serves a listener.
func openFront(log *slog.Logger, listener net.Listener, first http.Handler) *front {
	f := &front{ended: make(chan error, 1)}
	f.show(first)
	f.server = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			(*f.shown.Load()).ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true,
	}
	log.Info("listening", "address", "http://"+listener.Addr().String())
	go func() { f.ended <- f.server.Serve(rest.Listener(listener)) }()
	return f
}

func (f *front) show(h http.Handler) { f.shown.Store(&h) }

// close ends the server at once; after a shutdown it does nothing.
func (f *front) close() { _ = f.server.Close() }

// openAll makes the parts of the server and opens its database beside that. It
// waits for a database that may still come. The database is nil if the server was
// told to stop meanwhile.
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
	case <-ctx.Done(): // opening may be in the middle of something that cannot be interrupted
		g.closeLater(opened)
		return with, nil, nil
	}
}

// closeLater closes a database that opens although nobody needs it any more, and
// waits a little for that.
func (g *globals) closeLater(opened <-chan *store.DB) {
	select {
	case db := <-opened:
		if db != nil {
			if err := db.Close(); err != nil {
				g.log.Warn("the database was not closed properly", "error", err)
			}
		}
	case <-time.After(stopWait):
	}
}

// stopWait is how long a server that is told to stop while it starts waits for
// the database to open or fail.
const stopWait = 3 * time.Second

// awaitDatabase opens the database. It tries again for as long as what is wrong
// may go away without another setting; everything else is returned at once. It
// returns nil when ctx ends first.
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
		reason, wait := store.WaitReason(err)
		if !wait {
			return nil, err
		}
		starting.Set(reason)
		what := "waiting for the database: " + reason
		reasons = append(reasons, what)
		pause := time.NewTimer(failures.Failed(what, err))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, nil
		}
	}
}

// listenOn opens an address. When the process has no file left for a connection,
// the log says so, at most once a minute.
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
	missed int // failures since then
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
		advice := "look at the error"
		if outOfFiles(err) {
			advice = "raise the limit of open files (LimitNOFILE, ulimit -n), or find the client that keeps connections open"
		}
		l.log.Warn("connections cannot be accepted",
			"address", l.Addr().String(), "failures", l.missed, "advice", advice, "error", err)
		l.logged, l.missed = now, 0
	}
}
