package receiver

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// deliver sends a delivery like the server's and returns the status of the response.
func deliver(t *testing.T, to *Endpoint, id, signature, body string) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, to.URL, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header = http.Header{"webhook-id": {id}, "webhook-timestamp": {"1795250816"}, "webhook-signature": {signature}}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}

func TestReceivers(t *testing.T) {
	all := New()
	defer all.Close()
	var endpoints []*Endpoint
	for _, m := range []Behavior{Accepts, Fails, Refuses} {
		opened, err := all.Open(2, m, false)
		if err != nil {
			t.Fatal(err)
		}
		endpoints = append(endpoints, opened...)
	}
	shared, err := all.Open(3, Accepts, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := endpoints[0].SetSecret("whsec_" + base64.StdEncoding.EncodeToString([]byte("key"))); err != nil {
		t.Fatal(err)
	}
	const id, body = "itg_a:v7", `{"id":"itg_a:v7","data":{}}`
	mac := hmac.New(sha256.New, []byte("key"))
	fmt.Fprintf(mac, "%s.1795250816.%s", id, body)
	good := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))

	if got := deliver(t, endpoints[0], id, good, body); got != 204 {
		t.Errorf("correct delivery: got status %d, want 204", got)
	}
	if got := deliver(t, shared[2], id, "", body); got != 204 {
		t.Errorf("delivery to an endpoint on a shared host: got status %d, want 204", got)
	}
	if got := deliver(t, endpoints[2], id, "", body); got != 500 {
		t.Errorf("delivery to a failing endpoint: got status %d, want 500", got)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(strings.Split(endpoints[4].URL, "/hook")[0], "http://")); err == nil {
		t.Error("a refusing endpoint accepted a connection")
	}
	got := collect(all, 2)
	if len(got.Faults) > 0 {
		t.Errorf("got errors %q for correct deliveries, want none", got.Faults)
	}
	received := map[Event]string{}
	for _, r := range got.Receipts {
		received[r.Event] = r.ID
	}
	if len(received) != 2 || received[Event{0, 7}] != id || received[Event{shared[2].Number, 7}] != id {
		t.Errorf("got deliveries %v, want one to the first endpoint and one to the last shared endpoint", received)
	}

	deliver(t, endpoints[0], id, "v1,AAAA", body)
	deliver(t, endpoints[1], "itg_b:v7", "", body)
	if got := collect(all, 4); len(got.Faults) != 2 {
		t.Errorf("got errors %q, want two: one for a wrong signature and one for a body with a different id", got.Faults)
	}
}

// collect waits until there are n deliveries and errors together, and then a little longer for unexpected ones. It
// returns all of them.
func collect(r *Receivers, n int) (all Received) {
	complete := func() bool { return len(all.Receipts)+len(all.Faults) >= n }
	begin := time.Now()
	for polls := 0; polls < 50 && time.Since(begin) < time.Minute; {
		time.Sleep(2 * time.Millisecond)
		t := r.Take()
		if all.add(&t); complete() {
			polls++
		}
	}
	return all
}
