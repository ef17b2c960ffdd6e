package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// event identifies a change and the webhook that receives it. The board and its version identify the change.
type event struct {
	webhook string
	board   string
	version int64
}

// Receiver accepts deliveries and records the id of each event. It refuses the first attempt of some events, so that
// they are attempted more than once.
type Receiver struct {
	server    *http.Server
	addr      string
	mu        sync.Mutex
	ids       map[event]string
	kinds     map[event]string
	accepted  map[event]int
	attempts  map[event]int
	anomalies []string
}

// The receiver refuses the first attempt of one event in refuseEvery.
const refuseEvery = 25

func newReceiver(host string) (*Receiver, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for deliveries: %w", err)
	}
	r := &Receiver{addr: l.Addr().String(), ids: map[event]string{}, kinds: map[event]string{}, accepted: map[event]int{},
		attempts: map[event]int{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(l) }() // ends with close
	return r, nil
}

func (r *Receiver) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.server.Shutdown(ctx) // connections that are still active are closed below
	_ = r.server.Close()
}

func (r *Receiver) url(webhook string) string { return "http://" + r.addr + "/" + webhook }

func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var in struct {
		ID, Type, BoardID string
		BoardVersion      int64
	}
	if err := json.NewDecoder(q.Body).Decode(&in); err != nil {
		return // the sender was killed while it sent the body
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := event{strings.TrimPrefix(q.URL.Path, "/"), in.BoardID, in.BoardVersion}
	first, known := r.ids[e]
	switch {
	case q.Header.Get("webhook-id") != in.ID:
		r.anomalies = append(r.anomalies, fmt.Sprintf("webhook-id is %s, want %s, the id in the body", q.Header.Get("webhook-id"), in.ID))
	case known && first != in.ID:
		r.anomalies = append(r.anomalies, fmt.Sprintf("%s received version %d of board %s with the ids %s and %s", e.webhook, e.version,
			e.board, first, in.ID))
	}
	r.ids[e], r.kinds[e] = in.ID, in.Type
	r.attempts[e]++
	if !known && e.version%refuseEvery == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	r.accepted[e]++
	w.WriteHeader(http.StatusNoContent)
}

// missing returns the number of events in want that have not been accepted.
func (r *Receiver) missing(want map[event]string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := range want {
		if r.accepted[e] == 0 {
			n++
		}
	}
	return n
}

// Summary describes how many deliveries were accepted and how many of them were repeated. A server may repeat a
// delivery with the same id.
func (r *Receiver) Summary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	repeated := 0
	for _, n := range r.accepted {
		repeated += n - 1
	}
	return fmt.Sprintf("%d deliveries, %d repeated", len(r.accepted), repeated)
}

// MaxAttempts returns the largest number of attempts for one delivery.
func (r *Receiver) MaxAttempts() (attempts int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.attempts {
		attempts = max(attempts, n)
	}
	return attempts
}
