package receiver

import (
	"testing"
	"time"
)

func TestLedger(t *testing.T) {
	at := time.Now()
	receipt := func(endpoint int, version int64, id string) Receipt {
		return Receipt{Event: Event{Endpoint: endpoint, Version: version}, ID: id, At: at}
	}
	for _, c := range []struct {
		name     string
		received []Receipt
		errors   int
	}{
		{"all deliveries as expected", []Receipt{receipt(1, 1, "a"), receipt(1, 2, "x")}, 0},
		{"a missing delivery", []Receipt{receipt(1, 1, "a")}, 1},
		{"a duplicate delivery", []Receipt{receipt(1, 1, "a"), receipt(1, 2, "x"), receipt(1, 2, "x")}, 1},
		{"a delivery with two ids", []Receipt{receipt(1, 1, "a"), receipt(1, 2, "x"), receipt(1, 2, "y")}, 1},
		{"a delivery with the wrong id", []Receipt{receipt(1, 1, "b"), receipt(1, 2, "x")}, 1},
		{"a delivery without a change", []Receipt{receipt(1, 1, "a"), receipt(1, 2, "x"), receipt(2, 1, "z")}, 1},
	} {
		l := NewLedger()
		l.Expect(Event{Endpoint: 1, Version: 1}, Due{ID: "a"})
		l.Expect(Event{Endpoint: 1, Version: 2}, Due{Acknowledged: at})
		l.Add(Received{Receipts: c.received})
		if errs := l.Check(); len(errs) != c.errors {
			t.Errorf("%s: got errors %q, want %d", c.name, errs, c.errors)
		}
	}
}
