package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cardwall/internal/apptest"
)

// deliveryKey identifies the delivery of a change to a webhook.
type deliveryKey struct {
	webhook string
	change
}

// hookReceiver accepts deliveries. It rejects the first attempt for every tenth board version, so
// that it can compare the ids of several attempts.
type hookReceiver struct {
	t          *testing.T
	server     *httptest.Server
	mu         sync.Mutex
	ids        map[deliveryKey]string // id of the most recent attempt
	kinds      map[deliveryKey]string // event kind of the most recent attempt
	accepted   map[deliveryKey]bool
	duplicates int // number of attempts after an accepted one
	rejected   int // number of rejected attempts
}

func newHookReceiver(t *testing.T) *hookReceiver {
	r := &hookReceiver{t: t, ids: map[deliveryKey]string{}, kinds: map[deliveryKey]string{}, accepted: map[deliveryKey]bool{}}
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
		return // the sender was killed while it sent the body
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := deliveryKey{strings.TrimPrefix(q.URL.Path, "/"), change{in.BoardID, in.BoardVersion}}
	first, known := r.ids[a]
	switch {
	case q.Header.Get("webhook-id") != in.ID:
		r.t.Errorf("webhook-id is %s, want the body's id %s", q.Header.Get("webhook-id"), in.ID)
	case known && first != in.ID:
		r.t.Errorf("%s received version %d of board %s with ids %s and %s, want one id", a.webhook, a.version, a.board, first, in.ID)
	}
	r.ids[a], r.kinds[a] = in.ID, in.Type
	if !known && a.version%10 == 0 {
		r.rejected++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if r.accepted[a] {
		r.duplicates++
	}
	r.accepted[a] = true
	w.WriteHeader(http.StatusNoContent)
}

// await waits until the deliveries in want have been accepted, and reports unexpected deliveries. The
// values of want are event kinds.
func (r *hookReceiver) await(want map[deliveryKey]string) {
	r.t.Helper()
	apptest.Await(r.t, "all deliveries are accepted", func() (missing []deliveryKey, done bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for a := range want {
			if !r.accepted[a] && len(missing) < 10 {
				missing = append(missing, a)
			}
		}
		return missing, len(missing) == 0
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rejected == 0 {
		r.t.Error("no delivery was rejected, so the ids of a first attempt and its retry were not compared")
	}
	failures := 0
	report := func(format string, args ...any) {
		if failures++; failures <= 10 {
			r.t.Errorf(format, args...)
		}
	}
	for a, kind := range want {
		if r.kinds[a] != kind {
			report("%s received version %d of board %s as %s, want %s", a.webhook, a.version, a.board, r.kinds[a], kind)
		}
	}
	ids := map[string]deliveryKey{}
	for a, id := range r.ids {
		if _, ok := want[a]; !ok {
			report("%s received unexpected delivery %s: version %d of board %s (%s)", a.webhook, id, a.version, a.board,
				r.kinds[a])
		}
		if other, twice := ids[id]; twice {
			report("deliveries %[2]v and %[3]v have the same id %[1]s", id, other, a)
		}
		ids[id] = a
	}
	if failures > 10 {
		r.t.Errorf("… and %d more", failures-10)
	}
}

func (r *hookReceiver) summary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%d deliveries accepted, %d attempts rejected, %d duplicates", len(r.accepted), r.rejected, r.duplicates)
}
