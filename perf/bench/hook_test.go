package main

import (
	"testing"
	"time"

	"cardwall/perf/receiver"
)

func TestLedger(t *testing.T) {
	at := time.Now()
	receipt := func(endpoint int, version int64, id string) receiver.Receipt {
		return receiver.Receipt{Event: receiver.Event{Endpoint: endpoint, Version: version}, ID: id, At: at}
	}
	for _, c := range []struct {
		name     string
		received []receiver.Receipt
		errors   int
	}{
		{"all deliveries as expected", []receiver.Receipt{receipt(1, 1, "a"), receipt(1, 2, "x")}, 0},
		{"a missing delivery", []receiver.Receipt{receipt(1, 1, "a")}, 1},
		{"a duplicate delivery", []receiver.Receipt{receipt(1, 1, "a"), receipt(1, 2, "x"), receipt(1, 2, "x")}, 1},
		{"a delivery with two ids", []receiver.Receipt{receipt(1, 1, "a"), receipt(1, 2, "x"), receipt(1, 2, "y")}, 1},
		{"a delivery with the wrong id", []receiver.Receipt{receipt(1, 1, "b"), receipt(1, 2, "x")}, 1},
		{"a delivery without a change", []receiver.Receipt{receipt(1, 1, "a"), receipt(1, 2, "x"), receipt(2, 1, "z")}, 1},
	} {
		l := newLedger()
		l.expect(receiver.Event{Endpoint: 1, Version: 1}, due{id: "a"})
		l.expect(receiver.Event{Endpoint: 1, Version: 2}, due{acknowledged: at})
		l.add(receiver.Received{Receipts: c.received})
		if errs := l.check(); len(errs) != c.errors {
			t.Errorf("%s: got errors %q, want %d", c.name, errs, c.errors)
		}
	}
}

func TestVersionOf(t *testing.T) {
	if v, err := versionOf([]byte(`{"data":{"a":1,"boardVersion":3},"boardVersion":42}` + "\n")); v != 42 || err != nil {
		t.Errorf("got version %d, error %v; want 42", v, err)
	}
	for _, bad := range []string{"", "{}", `{"data":{},"boardVersion":0}`, `{"data":1,"other":2}`} {
		if v, err := versionOf([]byte(bad)); err == nil {
			t.Errorf("versionOf(%q) = %d, want an error", bad, v)
		}
	}
}
