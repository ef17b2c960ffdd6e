package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestHistogramQuantiles(t *testing.T) {
	var odd, even, all histogram
	for i := 1; i <= 10_000; i++ {
		h := &even
		if i%2 == 1 {
			h = &odd
		}
		h.add(time.Duration(i) * time.Microsecond)
	}
	all.merge(&odd)
	all.merge(&even)
	for q, want := range map[float64]time.Duration{0.5: 5000, 0.95: 9500, 0.99: 9900, 1: 10_000} {
		want *= time.Microsecond
		if got := all.quantile(q); got < want || got > want+want/100 {
			t.Errorf("quantile %v is %v, want at most one percent over %v", q, got, want)
		}
	}
	if all.count != 10_000 || all.max != 10*time.Millisecond {
		t.Errorf("count %d, max %v", all.count, all.max)
	}
	if got := new(histogram).quantile(0.5); got != 0 {
		t.Errorf("the quantile of nothing is %v", got)
	}
}

// Every value lies in the bucket whose end is the next at or above it, up to the greatest duration.
func TestHistogramBuckets(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 255, 256, 257, 511, 512, 1 << 20, 1<<40 + 12345, 1<<63 - 1} {
		i := bucketOf(v)
		if end := bucketEnd(i); end < v || end-v > v/128 {
			t.Errorf("value %d is in bucket %d, which ends at %d", v, i, end)
		}
		if i > 0 && bucketEnd(i-1) >= v {
			t.Errorf("value %d fits into bucket %d already", v, i-1)
		}
	}
	if i := bucketOf(1<<63 - 1); i >= len(histogram{}.buckets) {
		t.Errorf("bucket %d does not exist", i)
	}
}

func TestNextCursor(t *testing.T) {
	long := `{"nextCursor":"front","data":["` + strings.Repeat("x", 5000) + `"]}`
	for answer, want := range map[string]string{
		`{"data":[],"nextCursor":"abc"}`:         "abc",
		`{"data":[], "nextCursor": "abc" }`:      "abc",
		`{"data":[],"nextCursor":null}`:          "",
		`{"data":[{"title":"\"nextCursor\":"}]}`: "",
		`{"data":[],"nextCursor":"a\u003db"}`:    "a=b",
		`{"data":[]}`:                            "",
		long:                                     "front",
	} {
		if got, err := nextCursor([]byte(answer)); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", clip([]byte(answer)), got, err, want)
		}
	}
	if _, err := nextCursor([]byte(`{"nextCursor":12}`)); err == nil {
		t.Error("a number was accepted")
	}
}

// Pages are walked on from cursor to cursor and begun anew after the last.
func TestPageSourceWalks(t *testing.T) {
	s := newPageSource("/b?limit=50", []string{"", "p2", "p3", "p4"}, 1, 2)
	var r request
	var paths []string
	for _, answer := range []string{`{"data":[{"id":"c"}],"nextCursor":"p=4"}`, `{"data":[{"id":"d"}]}`, `{"data":[]}`} {
		if err := s.next(&r); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, string(r.path))
		if err := s.check([]byte(answer)); (err != nil) != (answer == `{"data":[]}`) {
			t.Errorf("%s: error %v", answer, err)
		}
	}
	if got := strings.Join(paths, " "); got != "/b?limit=50&cursor=p3 /b?limit=50&cursor=p%3D4 /b?limit=50" {
		t.Errorf("the paths are %s", got)
	}
}

// The neighbours of a move are in every list and are never moved themselves, and no two clients move the same card.
func TestMoveSourceDealsCards(t *testing.T) {
	b := &board{lists: []string{"l0", "l1", "l2", "l3"}}
	for i := range 1000 {
		b.cards = append(b.cards, card{id: strconv.Itoa(i), list: b.lists[i%4]})
	}
	seen := make(map[string]bool)
	for client := range 16 {
		s := newMoveSource(nil, b, client, 16)
		for list, anchors := range s.anchors {
			for _, c := range anchors {
				if client == 0 {
					seen[c.id] = true
				}
				if c.list != list {
					t.Errorf("card %s is in list %s, not %s", c.id, c.list, list)
				}
			}
		}
		if len(s.anchors) != 4 || len(s.movable) == 0 {
			t.Errorf("client %d: neighbours in %d lists, %d cards to move", client, len(s.anchors), len(s.movable))
		}
		for _, c := range s.movable {
			if seen[c.id] {
				t.Errorf("card %s was dealt twice", c.id)
			}
			seen[c.id] = true
		}
	}
	if len(seen) != len(b.cards) {
		t.Errorf("%d cards were dealt", len(seen))
	}
}

func TestLoadCountsErrors(t *testing.T) {
	var count atomic.Int64
	addr, connections := testServer(t, func(w http.ResponseWriter, r *http.Request) {
		if count.Add(1)%10 == 0 {
			http.Error(w, "now and then", http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "hello")
	})
	l := load{
		name: "test", clients: 3, pid: os.Getpid(), warm: 20 * time.Millisecond, window: 100 * time.Millisecond,
		client: func() *client { return newClient(addr, "", "test") },
		source: func(int) source { return pathSource{"/"} },
	}
	var res *result
	for ; l.window < time.Minute; l.window *= 2 { // until each client had its turn, on a busy machine too
		count.Store(0)
		connections.Store(0)
		var err error
		if res, err = l.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if count.Load() >= 100 && res.latency.count > 0 && connections.Load() >= 3 {
			break
		}
	}
	if res.errors != int(count.Load()/10) || res.latency.count == 0 || res.rate() <= 0 {
		t.Errorf("%d errors and %d good answers of %d", res.errors, res.latency.count, count.Load())
	}
	if len(res.samples) == 0 || !strings.Contains(res.samples[0], "status 503 instead of 200: now and then") {
		t.Errorf("the samples are %q", res.samples)
	}
	if n := connections.Load(); n != 3 {
		t.Errorf("%d connections were opened for 3 clients", n)
	}
}

func TestLoadEndsWithItsContext(t *testing.T) {
	addr, _ := testServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	l := load{
		clients: 2, pid: os.Getpid(), window: time.Hour,
		client: func() *client { return newClient(addr, "", "test") },
		source: func(int) source { return pathSource{"/"} },
	}
	if _, err := l.run(ctx); err == nil {
		t.Error("no error")
	}
}

func TestTableJudges(t *testing.T) {
	measured := func(name string, count int) row {
		r := &result{name: name, clients: goalClients, units: 1, elapsed: time.Second, serverCPU: time.Second}
		for range count {
			r.latency.add(time.Millisecond)
		}
		return row{name: name, result: r}
	}
	rows := []row{measured(nameList1k, 2000), measured(nameList10k, 1000), {name: nameIdle, value: "30.0 MB"}}
	judge(rows)
	if rows[0].missed() || !rows[1].missed() {
		t.Errorf("missed: %v and %v, want only the second", rows[0].missed(), rows[1].missed())
	}
	var out strings.Builder
	if err := printTable(&out, rows, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| 2,000/s |", "0.50 of list_cards 1,000", "MISS: ≥ 0.9 of list_cards 1,000", "| 30.0 MB |", "-: |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, out.String())
		}
	}
}
