package main

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
func deliver(t *testing.T, to *endpoint, id, signature, body string) int {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, to.url, bytes.NewReader([]byte(body)))
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
	all := newReceivers()
	defer all.close()
	var endpoints []*endpoint
	for _, m := range []behavior{accepts, fails, refuses} {
		opened, err := all.open(2, m, false)
		if err != nil {
			t.Fatal(err)
		}
		endpoints = append(endpoints, opened...)
	}
	shared, err := all.open(3, accepts, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := endpoints[0].setSecret("whsec_" + base64.StdEncoding.EncodeToString([]byte("key"))); err != nil {
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
	if _, err := net.Dial("tcp", strings.TrimPrefix(strings.Split(endpoints[4].url, "/hook")[0], "http://")); err == nil {
		t.Error("an endpoint that refuses accepted a connection")
	}
	got := settled(all, 2)
	if len(got.faults) > 0 {
		t.Errorf("correct deliveries have errors: %q", got.faults)
	}
	came := map[event]string{}
	for _, r := range got.receipts {
		came[r.event] = r.id
	}
	if len(came) != 2 || came[event{0, 7}] != id || came[event{shared[2].number, 7}] != id {
		t.Errorf("received: %v", came)
	}

	deliver(t, endpoints[0], id, "v1,AAAA", body)
	deliver(t, endpoints[1], "itg_b:v7", "", body)
	if got := settled(all, 4); len(got.faults) != 2 {
		t.Errorf("a wrong signature and a body with another id should be two errors: %q", got.faults)
	}
}

// settled returns what arrived once it is at least n deliveries and errors, and a little later, so that extra ones are
// included.
func settled(r *receivers, n int) (all received) {
	complete := func() bool { return len(all.receipts)+len(all.faults) >= n }
	begin := time.Now()
	for polls := 0; polls < 50 && time.Since(begin) < time.Minute; {
		time.Sleep(2 * time.Millisecond)
		t := r.taken()
		if all.add(&t); complete() {
			polls++
		}
	}
	return all
}

func TestLedger(t *testing.T) {
	at := time.Now()
	arrived := func(endpoint int, version int64, id string) receipt { return receipt{event{endpoint, version}, id, at} }
	for _, c := range []struct {
		name   string
		came   []receipt
		faults int
	}{
		{"all as expected", []receipt{arrived(1, 1, "a"), arrived(1, 2, "x")}, 0},
		{"one is missing", []receipt{arrived(1, 1, "a")}, 1},
		{"one arrives twice", []receipt{arrived(1, 1, "a"), arrived(1, 2, "x"), arrived(1, 2, "x")}, 1},
		{"one arrives under two ids", []receipt{arrived(1, 1, "a"), arrived(1, 2, "x"), arrived(1, 2, "y")}, 1},
		{"one arrives under the wrong id", []receipt{arrived(1, 1, "b"), arrived(1, 2, "x")}, 1},
		{"one was not caused by a change", []receipt{arrived(1, 1, "a"), arrived(1, 2, "x"), arrived(2, 1, "z")}, 1},
	} {
		l := newLedger()
		l.expect(event{1, 1}, due{id: "a"})
		l.expect(event{1, 2}, due{acknowledged: at})
		l.take(received{receipts: c.came})
		if faults := l.close(); len(faults) != c.faults {
			t.Errorf("%s: %q", c.name, faults)
		}
	}
}

func TestVersionOf(t *testing.T) {
	if v, err := versionOf([]byte(`{"data":{"a":1,"boardVersion":3},"boardVersion":42}` + "\n")); v != 42 || err != nil {
		t.Errorf("version %d, %v", v, err)
	}
	for _, bad := range []string{"", "{}", `{"data":{},"boardVersion":0}`, `{"data":1,"other":2}`} {
		if v, err := versionOf([]byte(bad)); err == nil {
			t.Errorf("%s has version %d", bad, v)
		}
	}
}
