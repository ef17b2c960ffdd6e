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

// deliver sends a body as the server would, and returns the status.
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
		t.Errorf("a correct delivery got the status %d", got)
	}
	if got := deliver(t, shared[2], id, "", body); got != 204 {
		t.Errorf("a delivery to one of several endpoints of a host got the status %d", got)
	}
	if got := deliver(t, endpoints[2], id, "", body); got != 500 {
		t.Errorf("an endpoint that fails responded with %d", got)
	}
	if _, err := net.Dial("tcp", strings.TrimPrefix(strings.Split(endpoints[4].URL, "/hook")[0], "http://")); err == nil {
		t.Error("an endpoint that refuses accepted a connection")
	}
	got := settled(all, 2)
	if len(got.Faults) > 0 {
		t.Errorf("correct deliveries have errors: %q", got.Faults)
	}
	came := map[Event]string{}
	for _, r := range got.Receipts {
		came[r.Event] = r.ID
	}
	if len(came) != 2 || came[Event{0, 7}] != id || came[Event{shared[2].Number, 7}] != id {
		t.Errorf("received: %v", came)
	}

	deliver(t, endpoints[0], id, "v1,AAAA", body)
	deliver(t, endpoints[1], "itg_b:v7", "", body)
	if got := settled(all, 4); len(got.Faults) != 2 {
		t.Errorf("a wrong signature and a body with another id should be two errors: %q", got.Faults)
	}
}

// settled returns what arrived once it is at least n deliveries and errors, and a little later, so that extra ones are
// included.
func settled(r *Receivers, n int) (all Received) {
	complete := func() bool { return len(all.Receipts)+len(all.Faults) >= n }
	begin := time.Now()
	for polls := 0; polls < 50 && time.Since(begin) < time.Minute; {
		time.Sleep(2 * time.Millisecond)
		t := r.Taken()
		if all.add(&t); complete() {
			polls++
		}
	}
	return all
}
