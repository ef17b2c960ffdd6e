package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"cardwall/perf/client"
)

// A stall delays every request that is due during it, not only those in flight.
func TestOpenLoadCountsAStallInFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, stalled := time.Now(), false
		connect, _ := pipeServer(t, func(w http.ResponseWriter, _ *http.Request) {
			if time.Since(start) >= 100*time.Millisecond && !stalled {
				stalled = true
				time.Sleep(400 * time.Millisecond)
			}
			_, _ = w.Write([]byte(`{"data":{"id":"1"}}`))
		})
		w := &openWorker{client: connect(), source: &rotatingSource{paths: []string{"/"}}}
		l := startOpen(100, start, []*openWorker{w})
		time.Sleep(995 * time.Millisecond)
		r := l.end()
		if n := r.latency.Count; n != 100 || r.failed+r.refused > 0 {
			t.Errorf("got %d requests, %d failed and %d refused; want 100, 0 and 0: %v", n, r.failed, r.refused, r.samples)
		}
		// The stall delays the 40 requests that are due during it, by 10 to 400 ms. The others take no time.
		for q, want := range map[float64]time.Duration{0.59: 0, 0.8: 200 * time.Millisecond, 1: 400 * time.Millisecond} {
			if got := r.latency.Quantile(q); (got - want).Abs() > want/10 {
				t.Errorf("quantile %v of the latency is %v, want %v", q, got, want)
			}
		}
	})
}

// A refusal is counted separately from other errors.
func TestOpenLoadCountsRefusals(t *testing.T) {
	status := http.StatusServiceUnavailable
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer srv.Close()
	w := &openWorker{client: client.New(strings.TrimPrefix(srv.URL, "http://"), "", "test"), source: &rotatingSource{paths: []string{"/"}}}
	defer w.client.Close()
	var r client.Request
	w.send(&r, time.Now(), true)
	status = http.StatusTooManyRequests
	w.send(&r, time.Now(), true)
	status = http.StatusNotFound
	w.send(&r, time.Now(), true)
	w.send(&r, time.Now(), false)
	if w.refused != 2 || w.failed != 1 || w.latency.Count != 3 {
		t.Errorf("got %d refused, %d failed and %d requests in total; want 2, 1 and 3", w.refused, w.failed, w.latency.Count)
	}
}

func TestNeighborGoals(t *testing.T) {
	r := &neighborRow{name: nameNeighborCopy, get: &openResult{}, update: &openResult{refused: 1}, signIn: &openResult{}}
	for range 100 {
		r.get.latency.Add(49 * time.Millisecond)
		r.update.latency.Add(101 * time.Millisecond)
		r.signIn.latency.Add(time.Millisecond)
	}
	r.addGoals()
	cells := r.cells()
	if got, want := cells[len(cells)-1], "MISS: update_card p99 < 100 ms, none refused"; got != want {
		t.Errorf("got goals %q, want %q", got, want)
	}
	if len(cells) != len(neighborColumns()) || !r.missed() || r.errors() != 0 {
		t.Errorf("got %d cells for %d columns, missed %t, %d errors; want a cell per column, a missed goal and no errors",
			len(cells), len(neighborColumns()), r.missed(), r.errors())
	}
	var out bytes.Buffer
	if err := printNeighbors(&out, []*neighborRow{r}, true); err != nil || !strings.Contains(out.String(), "| copy of 5,000 heavy cards |") {
		t.Errorf("printNeighbors returned error %v and printed this, want a row for copy of 5,000 heavy cards:\n%s", err, out.String())
	}
}

func TestTally(t *testing.T) {
	s := newTally()
	s.count("copied", 1)
	s.count("refused", 2)
	s.count("copied", 1)
	s.note("job", "the next at 40%")
	s.fault(t.Context(), errors.New("unexpected"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.fault(ended, errors.New("interrupted at the end of the row"))
	if got, want := s.summary(), "2 copied, 2 refused, the next at 40%"; got != want {
		t.Errorf("got summary %q, want %q", got, want)
	}
	if s.faults != 1 {
		t.Errorf("got %d faults, want 1", s.faults)
	}
}

// The file that the server must reject is valid except for its last byte.
func TestReplaceLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file.json")
	if err := writeDocumentOfOneBoard(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !jsontext.Value(text).IsValid() {
		t.Fatalf("the document is not valid: %v", err)
	}
	if err := replaceLast(path, 'x'); err != nil {
		t.Fatal(err)
	}
	changed, err := os.ReadFile(path)
	if err != nil || len(changed) != len(text) || !bytes.Equal(changed[:len(changed)-1], text[:len(text)-1]) ||
		changed[len(changed)-1] != 'x' {
		t.Errorf("replaceLast did not replace exactly the last byte: %v", err)
	}
}

func writeDocumentOfOneBoard(path string) error {
	h := &neighborhood{srv: &installation{owner: "usr_1"}, dir: filepath.Dir(path)}
	return h.writeSized(filepath.Base(path), 1<<20)
}
