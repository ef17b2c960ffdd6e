package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/perf/fleet"
)

// TestSystemRollingRestart stops and restarts three servers one after another, behind a load
// balancer that sends requests to the ready servers in turn. Meanwhile, clients read and create
// cards, and browsers keep event streams open. No request may fail or be sent twice. No stream may
// end without the "again" event, which tells the browser to reconnect. The test takes half a minute,
// because each of the six stopped servers drains for four seconds.
func TestSystemRollingRestart(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, apptest.PostgresURL(t), "CARDWALL_DRAIN=4s")
	b := newBalancer(t, 3)
	for i, s := range f.Servers {
		b.set(i, "http://"+s.Addr)
	}
	l := &rollingLoad{t: t, token: f.Client.Token, proxy: b.server.URL, list: f.Boards[0].List, board: f.Boards[0].ID}
	stop := l.start()
	for range 2 {
		for i, s := range f.Servers {
			l.awaitProgress()
			f.shutDown(i)
			b.set(i, "")
			f.start(i)
			b.set(i, "http://"+s.Addr)
		}
	}
	l.awaitProgress()
	stop()
	if n := l.failed.Load(); n > 0 {
		t.Errorf("%d of %d requests failed, want 0: %v", n, l.sent.Load(), l.samples)
	}
	if n := b.retries.Load(); n > 0 {
		t.Errorf("%d requests were sent twice, want 0", n)
	}
	if n := l.broken.Load(); n > 0 || l.closed.Load() < 6 {
		t.Errorf("%d streams ended with the again event and %d without it, want at least 6 and 0", l.closed.Load(), n)
	}
	var cards int64
	f.must(fleet.EachPage(f.Fleet, "/boards/"+l.board+"/cards?view=compact&limit=200", func(page []struct{}) { cards += int64(len(page)) }))
	if want := l.created.Load(); cards != want {
		t.Errorf("the board has %d cards, want the %d that the clients created", cards, want)
	}
	for i := range f.Servers {
		f.shutDown(i)
	}
	if leases := strings.TrimSpace(f.query("SELECT string_agg(name, ' ') FROM leases")); leases != "" {
		t.Errorf("stopped servers still hold leases %s, want none", leases)
	}
	t.Logf("%d requests, %d cards, %d streams ended with the again event", l.sent.Load(), l.created.Load(), l.closed.Load())
}

// shutDown stops server i with SIGTERM. It fails the test if the server does not exit cleanly.
func (f *testFleet) shutDown(i int) {
	f.t.Helper()
	p := f.Servers[i].Process
	f.must(f.Servers[i].Stop())
	if err := p.Err(); err != nil {
		f.t.Errorf("the server exited with error %v, want a clean exit", err)
	}
}

// balancer is a minimal load balancer. It sends requests to the healthy servers in turn, and event
// streams to the healthy server with the fewest, so that each server has one when it is stopped. It
// does not retry requests itself, and it counts the retries of its transport.
type balancer struct {
	t       *testing.T
	server  *httptest.Server
	bases   []atomic.Pointer[string]
	healthy []atomic.Bool
	retries atomic.Int64 // number of requests that needed a second connection

	mu      sync.Mutex
	next    int
	streams []int // number of open streams of each server
}

// backendKey is the context key of a request's backend, a *url.URL.
type backendKey struct{}

func newBalancer(t *testing.T, servers int) *balancer {
	t.Helper()
	b := &balancer{t: t, bases: make([]atomic.Pointer[string], servers), healthy: make([]atomic.Bool, servers),
		streams: make([]int, servers)}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(r.In.Context().Value(backendKey{}).(*url.URL))
			r.SetXForwarded()
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, err.Error())
		},
	}
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base, release := b.choose(strings.HasSuffix(r.URL.Path, "/live"))
		defer release()
		if base == "" {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, "no server is ready")
			return
		}
		backend, err := url.Parse(base)
		if err != nil {
			t.Error(err)
		}
		connections := 0
		ctx := httptrace.WithClientTrace(context.WithValue(r.Context(), backendKey{}, backend),
			&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
				if connections++; connections > 1 {
					b.retries.Add(1)
				}
			}})
		proxy.ServeHTTP(w, r.WithContext(ctx))
	}))
	done := make(chan struct{})
	var checks sync.WaitGroup
	for i := range servers {
		checks.Go(func() {
			for {
				base := b.bases[i].Load()
				b.healthy[i].Store(base != nil && readyz(*base) == http.StatusOK)
				select {
				case <-done:
					return
				case <-time.After(100 * time.Millisecond): // until the next health check
				}
			}
		})
	}
	t.Cleanup(func() {
		close(done)
		checks.Wait()
		b.server.Close()
		transport.CloseIdleConnections()
	})
	return b
}

// choose returns the address of the server for a request, or "" if no server is ready. The caller
// must call release when the request has ended.
func (b *balancer) choose(stream bool) (base string, release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	best := -1
	for n := range b.bases {
		i := (b.next + n) % len(b.bases)
		if at := b.bases[i].Load(); at != nil && b.healthy[i].Load() && (best < 0 || stream && b.streams[i] < b.streams[best]) {
			best, base = i, *at
		}
	}
	if best < 0 {
		return "", func() {}
	}
	if !stream {
		b.next = best + 1
		return base, func() {}
	}
	b.streams[best]++
	return base, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.streams[best]--
	}
}

// set sets the address of a server and waits until the server is healthy. An empty address removes
// the server.
func (b *balancer) set(i int, base string) {
	if base == "" {
		b.bases[i].Store(nil)
		return
	}
	b.bases[i].Store(&base)
	apptest.Eventually(b.t, "the load balancer notices that the server is ready", b.healthy[i].Load)
}

const rollingStreams = 3

// rollingLoad is the load from the clients during the restarts.
type rollingLoad struct {
	t                     *testing.T
	token                 string
	proxy, list, board    string
	sent, failed, created atomic.Int64
	open                  atomic.Int64 // number of open streams
	closed, broken        atomic.Int64 // number of streams that ended with and without the again event
	mu                    sync.Mutex
	samples               []string // the first few errors
}

// start starts clients and browsers. The returned function stops them.
func (l *rollingLoad) start() (stop func()) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var clients sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	for w := range 6 {
		clients.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if w%2 == 0 {
					l.request(client, "GET", "/api/public/v1/boards/"+l.board+"/cards?limit=20", nil, http.StatusOK)
				} else if l.request(client, "POST", "/api/public/v1/cards",
					map[string]any{"listId": l.list, "title": fmt.Sprintf("Card %d of %d", n, w)}, http.StatusCreated) {
					l.created.Add(1)
				}
				time.Sleep(5 * time.Millisecond) // keeps the board small, which is read at the end
			}
		})
	}
	for range rollingStreams {
		clients.Go(func() {
			for ctx.Err() == nil {
				l.listen(ctx)
			}
		})
	}
	return func() {
		cancel()
		clients.Wait()
		client.CloseIdleConnections()
	}
}

// awaitProgress waits until clients have sent 100 more requests and all streams are open.
func (l *rollingLoad) awaitProgress() {
	l.t.Helper()
	next := l.sent.Load() + 100
	apptest.Eventually(l.t, "clients send requests and listen to streams", func() bool {
		return l.sent.Load() >= next && l.open.Load() == rollingStreams
	})
}

// request sends a request once, without an idempotency key, and reports whether the response has the
// status want.
func (l *rollingLoad) request(c *http.Client, method, path string, in any, want int) bool {
	text, err := json.Marshal(in)
	if in == nil {
		text = nil
	}
	r, err2 := http.NewRequestWithContext(context.Background(), method, l.proxy+path, bytes.NewReader(text))
	if err != nil || err2 != nil {
		l.t.Error(err, err2)
		return false
	}
	r.Header.Set("Authorization", "Bearer "+l.token)
	r.Header.Set("Content-Type", "application/json")
	l.sent.Add(1)
	res, err := c.Do(r)
	if err == nil {
		var body []byte
		body, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err == nil && res.StatusCode != want {
			err = fmt.Errorf("%d %s", res.StatusCode, body)
		}
	}
	if err == nil {
		return true
	}
	l.failed.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.samples) < 5 {
		l.samples = append(l.samples, fmt.Sprintf("%s %s: %v", method, path, err))
	}
	return false
}

// listen opens an event stream, reads it until it ends, and counts how it ended.
func (l *rollingLoad) listen(ctx context.Context) {
	r, err := http.NewRequestWithContext(ctx, "GET", l.proxy+"/api/app/v1/live?boards="+l.board, nil)
	if err != nil {
		l.t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+l.token)
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(r)
	if err != nil {
		if ctx.Err() == nil {
			l.broken.Add(1)
		}
		return
	}
	defer func() { _ = res.Body.Close() }()
	l.open.Add(1)
	defer l.open.Add(-1)
	closed := false
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		closed = closed || lines.Text() == "event: again"
	}
	switch {
	case ctx.Err() != nil:
	case closed:
		l.closed.Add(1)
	default:
		l.broken.Add(1)
	}
}
