package main

import (
	"testing"
	"time"

	"cardwall/perf/receiver"
)

func TestLedger(t *testing.T) {
	at := time.Now()
	arrived := func(endpoint int, version int64, id string) receiver.Receipt {
		return receiver.Receipt{Event: receiver.Event{Endpoint: endpoint, Version: version}, ID: id, At: at}
	}
	for _, c := range []struct {
		name   string
		came   []receiver.Receipt
		faults int
	}{
		{"all as expected", []receiver.Receipt{arrived(1, 1, "a"), arrived(1, 2, "x")}, 0},
		{"one is missing", []receiver.Receipt{arrived(1, 1, "a")}, 1},
		{"one arrives twice", []receiver.Receipt{arrived(1, 1, "a"), arrived(1, 2, "x"), arrived(1, 2, "x")}, 1},
		{"one arrives under two ids", []receiver.Receipt{arrived(1, 1, "a"), arrived(1, 2, "x"), arrived(1, 2, "y")}, 1},
		{"one arrives under the wrong id", []receiver.Receipt{arrived(1, 1, "b"), arrived(1, 2, "x")}, 1},
		{"one was not caused by a change", []receiver.Receipt{arrived(1, 1, "a"), arrived(1, 2, "x"), arrived(2, 1, "z")}, 1},
	} {
		l := newLedger()
		l.expect(receiver.Event{Endpoint: 1, Version: 1}, due{id: "a"})
		l.expect(receiver.Event{Endpoint: 1, Version: 2}, due{acknowledged: at})
		l.take(receiver.Received{Receipts: c.came})
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
