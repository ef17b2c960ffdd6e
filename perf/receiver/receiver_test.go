package receiver

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
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
	deliver(t, endpoints[0], id, "v1,AAAA", body)
	deliver(t, endpoints[1], "itg_b:v7", "", body)

	all.Close() // waits until everything is recorded
	got := all.Take()
	received := map[Event][]string{}
	for _, r := range got.Receipts {
		received[r.Event] = append(received[r.Event], r.ID)
	}
	want := map[Event][]string{{0, 7}: {id, id}, {1, 7}: {"itg_b:v7"}, {shared[2].Number, 7}: {id}}
	if !maps.EqualFunc(received, want, slices.Equal) {
		t.Errorf("got deliveries %v, want %v", received, want)
	}
	if faults := strings.Join(got.Faults, "\n"); len(got.Faults) != 2 || !strings.Contains(faults, `has the signature "v1,AAAA"`) ||
		!strings.Contains(faults, "does not start with its id") {
		t.Errorf("got errors %q, want two: one for a wrong signature and one for a body with a different id", got.Faults)
	}
}
