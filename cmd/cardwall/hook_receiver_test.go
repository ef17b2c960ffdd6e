package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// arrival is the arrival of a change at a webhook.
type arrival struct {
	webhook string
	change
}

// hookReceiver accepts deliveries. It rejects each tenth version at first, so that the IDs of
// the attempts can be compared.
type hookReceiver struct {
	t       *testing.T
	server  *httptest.Server
	mu      sync.Mutex
	ids     map[arrival]string // delivery ID of a change's first attempt
	kinds   map[arrival]string
	taken   map[arrival]time.Time
	again   int // deliveries that had already been accepted
	refused int
}

func newHookReceiver(t *testing.T) *hookReceiver {
	r := &hookReceiver{t: t, ids: map[arrival]string{}, kinds: map[arrival]string{}, taken: map[arrival]time.Time{}}
	r.server = httptest.NewServer(r)
	t.Cleanup(r.server.Close)
	return r
}

func (r *hookReceiver) url(webhook string) string { return r.server.URL + "/" + webhook }

func (r *hookReceiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var in struct {
		ID, Type, BoardID string
		BoardVersion      int64
	}
	if err := json.NewDecoder(q.Body).Decode(&in); err != nil {
		return // the sender was killed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := arrival{strings.TrimPrefix(q.URL.Path, "/"), change{in.BoardID, in.BoardVersion}}
	first, known := r.ids[a]
	switch {
	case q.Header.Get("webhook-id") != in.ID:
		r.t.Errorf("webhook-id is %s, and the body's id %s", q.Header.Get("webhook-id"), in.ID)
	case known && first != in.ID:
		r.t.Errorf("%s got version %d of %s with the IDs %s and %s", a.webhook, a.version, a.board, first, in.ID)
	}
	r.ids[a], r.kinds[a] = in.ID, in.Type
	if !known && a.version%10 == 0 {
		r.refused++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if _, again := r.taken[a]; again {
		r.again++
	} else {
		r.taken[a] = time.Now()
	}
	w.WriteHeader(http.StatusNoContent)
}

// await waits until all wanted changes have arrived, and fails on any other.
func (r *hookReceiver) await(want map[arrival]string, most time.Duration) {
	r.t.Helper()
	missing := func() (n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for a := range want {
			if _, ok := r.taken[a]; !ok {
				n++
			}
		}
		return n
	}
	for deadline := time.Now().Add(most); missing() > 0 && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(500 * time.Millisecond) // unexpected deliveries may arrive a little later
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == 0 {
		r.t.Error("no delivery was attempted twice, so their ids were not compared")
	}
	shown := 0
	say := func(format string, args ...any) {
		if shown++; shown <= 10 {
			r.t.Errorf(format, args...)
		}
	}
	for a, kind := range want {
		if _, ok := r.taken[a]; !ok {
			say("%s never got version %d of %s, %s", a.webhook, a.version, a.board, kind)
		} else if r.kinds[a] != kind {
			say("%s got version %d of %s as %s instead of %s", a.webhook, a.version, a.board, r.kinds[a], kind)
		}
	}
	ids := map[string]arrival{}
	for a, id := range r.ids {
		if _, ok := want[a]; !ok {
			say("%s got %s: version %d of %s, a %s that is no change which sends anything", a.webhook, id, a.version, a.board,
				r.kinds[a])
		}
		if other, twice := ids[id]; twice {
			say("%s is the id of %v and of %v", id, other, a)
		}
		ids[id] = a
	}
	if shown > 10 {
		r.t.Errorf("… and %d more", shown-10)
	}
}

// worst returns the longest time from an acknowledgment to its delivery.
func (r *hookReceiver) worst(acknowledged map[change]time.Time) (worst time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for a, at := range maps.All(r.taken) {
		if from, ok := acknowledged[a.change]; ok {
			worst = max(worst, at.Sub(from))
		}
	}
	return worst
}

func (r *hookReceiver) summary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%d deliveries, %d refused at first, %d came again", len(r.taken), r.refused, r.again)
}
