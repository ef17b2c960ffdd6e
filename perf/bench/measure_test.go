package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
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
	var count atomic.Int64
	addr, connections := testServer(t, func(w http.ResponseWriter, r *http.Request) {
		if count.Add(1)%10 == 0 {
			http.Error(w, "sometimes", http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "hello")
	})
	l := load{
		name: "test", clients: 3, pid: os.Getpid(), warm: 20 * time.Millisecond, window: 100 * time.Millisecond,
		client: func() *client.Client { return client.New(addr, "", "test") },
		source: func(int) source { return pathSource{"/"} },
	}
	var res *result
	for ; l.window < time.Minute; l.window *= 2 { // on a busy machine, repeat until each client has connected and there are 100 requests
		count.Store(0)
		connections.Store(0)
		var err error
		if res, err = l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if count.Load() >= 100 && res.latency.Count > 0 && connections.Load() >= 3 {
			break
		}
	}
	if res.errors != int(count.Load()/10) || res.latency.Count == 0 || res.rate() <= 0 {
		t.Errorf("got %d errors and %d successful responses for %d requests, want one error per ten requests",
			res.errors, res.latency.Count, count.Load())
	}
	if len(res.samples) == 0 || !strings.Contains(res.samples[0], "got status 503, want 200: sometimes") {
		t.Errorf("got sample errors %q, want a response with status 503", res.samples)
	}
	if n := connections.Load(); n != 3 {
		t.Errorf("got %d connections, want 3", n)
	}
}

func TestLoadStopsWithItsContext(t *testing.T) {
	addr, _ := testServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	l := load{
		clients: 2, pid: os.Getpid(), window: time.Hour,
		client: func() *client.Client { return client.New(addr, "", "test") },
		source: func(int) source { return pathSource{"/"} },
	}
	if _, err := l.run(ctx); err == nil {
		t.Error("run returned no error after its context ended")
	}
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

// testServer starts a server with the given handler and counts the connections that it accepts.
func testServer(t *testing.T, handler http.HandlerFunc) (addr string, connections *atomic.Int64) {
	t.Helper()
	connections = new(atomic.Int64)
	srv := httptest.NewUnstartedServer(handler)
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String(), connections
}

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
