package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cardwall/perf/client"
)

func TestNextCursor(t *testing.T) {
	long := `{"nextCursor":"front","data":["` + strings.Repeat("x", 5000) + `"]}`
	for body, want := range map[string]string{
		`{"data":[],"nextCursor":"abc"}`:         "abc",
		`{"data":[], "nextCursor": "abc" }`:      "abc",
		`{"data":[],"nextCursor":null}`:          "",
		`{"data":[{"title":"\"nextCursor\":"}]}`: "",
		`{"data":[],"nextCursor":"a\u003db"}`:    "a=b",
		`{"data":[]}`:                            "",
		long:                                     "front",
	} {
		if got, err := nextCursor([]byte(body)); err != nil || got != want {
			t.Errorf("nextCursor(%s) = %q, %v; want %q", client.Clip([]byte(body)), got, err, want)
		}
	}
	if _, err := nextCursor([]byte(`{"nextCursor":12}`)); err == nil {
		t.Error("nextCursor accepted a number")
	}
}

// A page source follows the cursors and starts again after the last page.
func TestPageSourceFollowsCursors(t *testing.T) {
	s := newPageSource("/b?limit=50", []string{"", "p2", "p3", "p4"}, 1, 2)
	var r client.Request
	var paths []string
	for _, body := range []string{`{"data":[{"id":"c"}],"nextCursor":"p=4"}`, `{"data":[{"id":"d"}]}`, `{"data":[]}`} {
		if err := s.next(&r); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, string(r.Path))
		if err := s.check([]byte(body)); (err != nil) != (body == `{"data":[]}`) {
			t.Errorf("check(%s) = %v, want an error only for an empty page", body, err)
		}
	}
	if got := strings.Join(paths, " "); got != "/b?limit=50&cursor=p3 /b?limit=50&cursor=p%3D4 /b?limit=50" {
		t.Errorf("requested %s, want the page of p3, the page of the returned cursor, and the first page", got)
	}
}

// Every list has anchors: cards that are never moved. No two clients move the same card.
func TestMoveSourceDistributesCards(t *testing.T) {
	b := &board{lists: []string{"l0", "l1", "l2", "l3"}}
	for i := range 1000 {
		b.cards = append(b.cards, card{id: strconv.Itoa(i), list: b.lists[i%4]})
	}
	assigned := make(map[string]bool)
	for client := range 16 {
		s := newMoveSource(nil, b, client, 16)
		for list, anchors := range s.anchors {
			for _, c := range anchors {
				if client == 0 {
					assigned[c.id] = true
				}
				if c.list != list {
					t.Errorf("the anchor %s is in list %s, want %s", c.id, c.list, list)
				}
			}
		}
		if len(s.anchors) != 4 || len(s.movable) == 0 {
			t.Errorf("client %d has anchors in %d lists and %d cards to move, want 4 and at least 1", client, len(s.anchors), len(s.movable))
		}
		for _, c := range s.movable {
			if assigned[c.id] {
				t.Errorf("card %s is assigned twice", c.id)
			}
			assigned[c.id] = true
		}
	}
	if len(assigned) != len(b.cards) {
		t.Errorf("%d cards are anchors or movable, want all %d", len(assigned), len(b.cards))
	}
}

func TestLoadCountsErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var count atomic.Int64
		connect, connections := pipeServer(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Millisecond)
			if count.Add(1)%10 == 0 {
				http.Error(w, "sometimes", http.StatusServiceUnavailable)
				return
			}
			io.WriteString(w, "hello")
		})
		l := load{
			name: "test", clients: 3, pid: os.Getpid(), warm: 20 * time.Millisecond, window: 100 * time.Millisecond,
			client: connect,
			source: func(int) source { return pathSource{"/"} },
		}
		res, err := l.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if count.Load() < 100 || res.errors != int(count.Load()/10) || res.latency.Count == 0 || res.rate() <= 0 {
			t.Errorf("got %d errors and %d successful responses for %d requests, want one error per ten of at least 100 requests",
				res.errors, res.latency.Count, count.Load())
		}
		if len(res.samples) == 0 || !strings.Contains(res.samples[0], "got status 503, want 200: sometimes") {
			t.Errorf("got sample errors %q, want a response with status 503", res.samples)
		}
		if n := connections.Load(); n != 3 {
			t.Errorf("got %d connections, want 3", n)
		}
	})
}

func TestLoadStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		connect, _ := pipeServer(t, func(w http.ResponseWriter, r *http.Request) {
			cancel()
			io.WriteString(w, "hello")
		})
		l := load{
			clients: 2, pid: os.Getpid(), window: time.Hour,
			client: connect,
			source: func(int) source { return pathSource{"/"} },
		}
		start := time.Now()
		if _, err := l.run(ctx); err == nil || time.Since(start) > time.Minute {
			t.Errorf("run ended after %v with error %v, want an error before the end of the window", time.Since(start), err)
		}
	})
}

func TestTableShowsGoals(t *testing.T) {
	measured := func(name string, count int) row {
		r := &result{name: name, clients: goalClients, units: 1, elapsed: time.Second, serverCPU: time.Second}
		for range count {
			r.latency.Add(time.Millisecond)
		}
		return row{name: name, result: r}
	}
	rows := []row{measured(nameList1k, 2000), measured(nameList10k, 1000), {name: nameIdle, value: "30.0 MB"}}
	addGoals(rows)
	if rows[0].missed() || !rows[1].missed() {
		t.Errorf("got missed goals %v and %v, want false and true", rows[0].missed(), rows[1].missed())
	}
	var out strings.Builder
	if err := printTable(&out, rows, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| 2,000/s |", "0.50 of list_cards 1,000", "MISS: ≥ 0.9 of list_cards 1,000", "| 30.0 MB |", "-: |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not contain %q:\n%s", want, out.String())
		}
	}
}

// pipeServer starts a server with the given handler in the bubble of a test. It returns a function that creates
// clients of the server, and counts the connections that they open.
func pipeServer(t *testing.T, handler http.HandlerFunc) (connect func() *client.Client, connections *atomic.Int64) {
	t.Helper()
	connections = new(atomic.Int64)
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: handler}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	return func() *client.Client {
		c := client.New("server", "", "test")
		c.Dial = func() (net.Conn, error) {
			connections.Add(1)
			near, far := net.Pipe()
			l.conns <- far
			return near, nil
		}
		return c
	}, connections
}

// pipeListener accepts connections within the process. Unlike TCP, these let the time of a bubble advance while both
// sides wait.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// Each benchmark is compared with a limit that the suite measures, never with another benchmark of the server.
func TestLimitOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		nameGet: nameHello, nameList10k: nameMemory, nameCreate: nameRawGroup, nameCreate40 + namePostgres: nameRawPostgres,
		nameTool: nameHello, nameDashboard: nameHello, nameHookDrainHost: nameHello, nameHello: "", nameRawSingle: "",
	} {
		if got := limitOf(name); got != want {
			t.Errorf("limitOf(%q) = %q, want %q", name, got, want)
		}
	}
}
