package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cardwall/internal/apptest"
)

// TestRollingRestart stops and restarts three servers one after the other, behind a proxy that
// sends requests to the ready servers in turn, while clients read and change cards and browsers
// listen. No request fails, none is repeated, and no stream ends without a message.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--database", apptest.PostgresURL(t))
	b := newBalancer(t, 3)
	nodes := make([]*member, 3)
	for i := range nodes {
		nodes[i] = f.member(i)
		b.set(i, nodes[i].base)
	}
	p := f.place("workspace")
	l := &rollingLoad{t: t, f: f, proxy: b.server.URL, list: p.list, board: p.board}
	stop := l.start()
	for range 2 {
		for i := range nodes {
			time.Sleep(700 * time.Millisecond)
			nodes[i].end()
			b.set(i, "")
			nodes[i] = f.member(i)
			b.set(i, nodes[i].base)
		}
	}
	time.Sleep(700 * time.Millisecond)
	stop()
	if n := l.failed.Load(); n > 0 || l.sent.Load() < 500 {
		t.Errorf("of %d requests %d failed: %v", l.sent.Load(), n, l.samples)
	}
	if n := b.again.Load(); n > 0 {
		t.Errorf("%d requests were sent again", n)
	}
	if n := l.broken.Load(); n > 0 || l.sentAway.Load() < 6 {
		t.Errorf("%d streams ended with a message, %d without", l.sentAway.Load(), n)
	}
	if want := l.made.Load(); int64(f.count(p.board)) != want+1 {
		t.Errorf("%d cards were created, but there are %d besides the first", want, f.count(p.board)-1)
	}
	for _, n := range nodes {
		n.end()
	}
	if left := strings.TrimSpace(f.psql("SELECT string_agg(name, ' ') FROM leases")); left != "" {
		t.Errorf("stopped servers still hold %s, want none", left)
	}
	t.Logf("%d requests, %d cards, %d streams ended with a message", l.sent.Load(), l.made.Load(), l.sentAway.Load())
}

// TestKillThreeWhileRulesRun kills each of three servers with SIGKILL in turn while each new
// card triggers two rules. In the end each card has exactly two comments, whichever servers
// wrote them.
func TestKillThreeWhileRulesRun(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 3, "--database", apptest.PostgresURL(t))
	nodes := make([]*member, 3)
	for i := range nodes {
		nodes[i] = f.member(i)
	}
	for range 3 {
		b := &hotBoard{place: f.place("workspace")}
		f.must(f.exchange("PATCH", "/boards/"+b.board, "", map[string]any{"features": map[string]any{"automation": true}},
			into(&answer{})))
		for _, text := range []string{"Welcome.", "Look at this."} {
			f.must(f.exchange("POST", "/api/app/v1/boards/"+b.board+"/rules", "", map[string]any{
				"name": text, "when": map[string]any{"event": "card_created"},
				"then": []any{map[string]any{"operation": "add_comment", "input": map[string]any{"text": text}}},
			}, into(&answer{})))
		}
		f.boards = append(f.boards, b)
	}
	var (
		writers sync.WaitGroup
		made    atomic.Int64
	)
	done := make(chan struct{})
	for w := range 6 {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if _, err := f.send("POST", "/cards",
					map[string]any{"listId": f.boards[(w+n)%3].list, "title": fmt.Sprintf("Card %d of %d", n, w)}); err == nil {
					made.Add(1)
				}
			}
		})
	}
	for round := range 9 {
		time.Sleep(time.Duration(200+rand.IntN(600)) * time.Millisecond)
		nodes[round%3].kill()
		nodes[round%3] = f.member(round % 3)
	}
	close(done)
	writers.Wait()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		wrong, all := 0, 0
		for _, b := range f.boards {
			for _, comments := range f.comments(b.board) {
				if all++; comments != 2 {
					wrong++
				}
			}
		}
		if all-3 != int(made.Load()) {
			t.Fatalf("%d cards were created, but there are %d besides the first three", made.Load(), all-3)
		}
		if wrong == 3 { // the first card of each board is older than the rules
			t.Logf("9 kills, %d cards with two comments each", all-3)
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d cards do not have two comments", wrong-3, all-3)
		}
	}
}

// member is a running server of a fleet.
type member struct {
	f    *fleet
	i    int
	base string
	cmd  *exec.Cmd
	log  bytes.Buffer
	once sync.Once
}

// member starts a server and waits until it is ready.
func (f *fleet) member(i int) *member {
	f.t.Helper()
	addr := freeAddress(f.t)
	n := &member{f: f, i: i, base: "http://" + addr}
	args := append([]string{"serve", "--addr", addr, "--drain", "4s", "--rate-limits", "off", "--max-open-cards",
		"200000"}, f.flags...)
	n.cmd = exec.CommandContext(context.Background(), f.binary, args...)
	n.cmd.Stderr = &n.log
	if err := n.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(n.kill)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if ready(f.client, n.base) {
			f.bases[i].Store(&n.base)
			return n
		}
		if time.Now().After(deadline) {
			n.kill()
			f.t.Fatalf("the server does not respond:\n%s", n.log.String())
		}
	}
}

func ready(c *http.Client, base string) bool {
	res, err := c.Get(base + "/readyz")
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// kill ends the server with SIGKILL.
func (n *member) kill() {
	n.once.Do(func() {
		n.f.bases[n.i].CompareAndSwap(&n.base, nil)
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait()
		n.complain()
	})
}

// end tells the server to stop and waits until it has stopped.
func (n *member) end() {
	n.f.t.Helper()
	n.once.Do(func() {
		n.f.bases[n.i].CompareAndSwap(&n.base, nil)
		_ = n.cmd.Process.Signal(syscall.SIGTERM)
		begun := time.Now()
		if err := n.cmd.Wait(); err != nil || time.Since(begun) > 25*time.Second {
			n.f.t.Errorf("the server stopped after %s: %v\n%s", time.Since(begun), err, n.log.String())
		}
		n.complain()
	})
}

func (n *member) complain() {
	if log := n.log.String(); strings.Contains(log, `"level":"ERROR"`) || strings.Contains(log, "panic") {
		n.f.t.Errorf("the server's log:\n%s", log)
	}
}

// psql runs a query on the fleet's database.
func (f *fleet) psql(query string) string {
	f.t.Helper()
	out, err := apptest.QueryPostgres(f.t.Context(), f.flags[1], query)
	f.must(err)
	return out
}

// comments returns the numbers of comments of a board's cards.
func (f *fleet) comments(board string) (all []int) {
	f.t.Helper()
	for cursor := ""; ; {
		var out struct {
			Data       []struct{ Comments int }
			NextCursor string
		}
		f.must(f.exchange("GET", "/boards/"+board+"/cards?view=compact&limit=200&cursor="+cursor, "", nil, into(&out)))
		for _, c := range out.Data {
			all = append(all, c.Comments)
		}
		if cursor = out.NextCursor; cursor == "" {
			return all
		}
	}
}

func (f *fleet) count(board string) int { return len(f.comments(board)) }

// balancer is a minimal proxy: it sends to each server in turn that was ready a moment ago, and
// never repeats a failed request.
type balancer struct {
	server *httptest.Server
	bases  []atomic.Pointer[string]
	well   []atomic.Bool
	turn   atomic.Int64
	again  atomic.Int64 // requests that needed a second connection
}

type backendKey struct{}

func newBalancer(t *testing.T, servers int) *balancer {
	t.Helper()
	b := &balancer{bases: make([]atomic.Pointer[string], servers), well: make([]atomic.Bool, servers)}
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
		for range 2 * servers {
			i := int(b.turn.Add(1)) % servers
			base := b.bases[i].Load()
			if base == nil || !b.well[i].Load() {
				continue
			}
			to, err := url.Parse(*base)
			if err != nil {
				t.Error(err)
			}
			connections := 0
			ctx := httptrace.WithClientTrace(context.WithValue(r.Context(), backendKey{}, to),
				&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
					if connections++; connections > 1 {
						b.again.Add(1)
					}
				}})
			proxy.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "no server is ready")
	}))
	done := make(chan struct{})
	var checks sync.WaitGroup
	health := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{}}
	for i := range servers {
		checks.Go(func() {
			for {
				base := b.bases[i].Load()
				b.well[i].Store(base != nil && ready(health, *base))
				select {
				case <-done:
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
	}
	t.Cleanup(func() {
		close(done)
		checks.Wait()
		b.server.Close()
		transport.CloseIdleConnections()
		health.CloseIdleConnections()
	})
	return b
}

// set sets the address of a server, or "" if it is stopped, and waits until the balancer uses
// it.
func (b *balancer) set(i int, base string) {
	if base == "" {
		b.bases[i].Store(nil)
		return
	}
	b.bases[i].Store(&base)
	for !b.well[i].Load() {
		time.Sleep(10 * time.Millisecond)
	}
}

// rollingLoad is the load of the clients during the restarts.
type rollingLoad struct {
	t                  *testing.T
	f                  *fleet
	proxy, list, board string
	sent, failed, made atomic.Int64
	sentAway, broken   atomic.Int64 // streams
	mu                 sync.Mutex
	samples            []string
}

func (l *rollingLoad) start() (stop func()) {
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	for w := range 6 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if w%2 == 0 {
					l.ask(client, "GET", "/api/public/v1/boards/"+l.board+"/cards?limit=20", nil, http.StatusOK)
				} else if l.ask(client, "POST", "/api/public/v1/cards",
					map[string]any{"listId": l.list, "title": fmt.Sprintf("Card %d of %d", n, w)}, http.StatusCreated) {
					l.made.Add(1)
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	for range 3 {
		all.Go(func() {
			for ctx.Err() == nil {
				l.listen(ctx)
			}
		})
	}
	return func() {
		time.Sleep(100 * time.Millisecond)
		cancel()
		all.Wait()
		client.CloseIdleConnections()
	}
}

// ask sends a request without an idempotency key, once.
func (l *rollingLoad) ask(c *http.Client, method, path string, in any, want int) bool {
	text, err := json.Marshal(in)
	if in == nil {
		text = nil
	}
	r, err2 := http.NewRequestWithContext(context.Background(), method, l.proxy+path, bytes.NewReader(text))
	if err != nil || err2 != nil {
		l.t.Error(err, err2)
		return false
	}
	r.Header.Set("Authorization", "Bearer "+l.f.token)
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

// listen opens a stream and reads it to its end.
func (l *rollingLoad) listen(ctx context.Context) {
	r, err := http.NewRequestWithContext(ctx, "GET", l.proxy+"/api/app/v1/live?boards="+l.board, nil)
	if err != nil {
		l.t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+l.f.token)
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(r)
	if err != nil {
		if ctx.Err() == nil {
			l.broken.Add(1)
		}
		return
	}
	defer func() { _ = res.Body.Close() }()
	away := false
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		away = away || lines.Text() == "event: again"
	}
	switch {
	case ctx.Err() != nil:
	case away:
		l.sentAway.Add(1)
	default:
		l.broken.Add(1)
	}
}
