package main

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

// arrival is a change at a webhook.
type arrival struct {
	webhook string
	board   string
	version int64
}

// receiver takes deliveries and remembers by which id each change came. Now and then it refuses one at first, so that the
// attempts of a delivery can be compared.
type receiver struct {
	server *http.Server
	addr   string
	mu     sync.Mutex
	ids    map[arrival]string
	kinds  map[arrival]string
	taken  map[arrival]int
	tries  map[arrival]int
	odd    []string
}

// refuseEvery is of how many versions one is refused at first.
const refuseEvery = 25

func newReceiver(host string) (*receiver, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for deliveries: %w", err)
	}
	r := &receiver{addr: l.Addr().String(), ids: map[arrival]string{}, kinds: map[arrival]string{}, taken: map[arrival]int{},
		tries: map[arrival]int{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(l) }() // ends with close
	return r, nil
}

func (r *receiver) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.server.Shutdown(ctx) // who still sends is cut off
	_ = r.server.Close()
	return nil
}

func (r *receiver) url(webhook string) string { return "http://" + r.addr + "/" + webhook }

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var in struct {
		ID, Type, BoardID string
		BoardVersion      int64
	}
	if err := json.NewDecoder(q.Body).Decode(&in); err != nil {
		return // the sender was killed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := arrival{strings.TrimPrefix(q.URL.Path, "/"), in.BoardID, in.BoardVersion}
	first, known := r.ids[a]
	switch {
	case q.Header.Get("webhook-id") != in.ID:
		r.odd = append(r.odd, fmt.Sprintf("webhook-id is %s, and the body's id %s", q.Header.Get("webhook-id"), in.ID))
	case known && first != in.ID:
		r.odd = append(r.odd, fmt.Sprintf("%s got version %d of %s as %s and as %s", a.webhook, a.version, a.board, first, in.ID))
	}
	r.ids[a], r.kinds[a] = in.ID, in.Type
	r.tries[a]++
	if !known && a.version%refuseEvery == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	r.taken[a]++
	w.WriteHeader(http.StatusNoContent)
}

// missing counts what is wanted and did not come.
func (r *receiver) missing(want map[arrival]string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for a := range want {
		if r.taken[a] == 0 {
			n++
		}
	}
	return n
}

// repeated counts deliveries that were taken more than once, which is allowed under one id.
func (r *receiver) repeated() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, times := range r.taken {
		n += times - 1
	}
	return n
}

// mostAttempts is how often the delivery that was attempted most was.
func (r *receiver) mostAttempts() (most int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, times := range r.tries {
		most = max(most, times)
	}
	return most
}
