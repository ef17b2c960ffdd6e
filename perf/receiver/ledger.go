package receiver

import (
	"fmt"
	"time"
)

// Due is an expected delivery.
type Due struct {
	ID           string    // delivery id; empty if unknown
	Acknowledged time.Time // time of the response to the change; zero if unknown
}

// Ledger compares expected and received deliveries.
type Ledger struct {
	Due      map[Event]Due
	Receipts map[Event]Receipt
	errors   []string
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{Due: make(map[Event]Due), Receipts: make(map[Event]Receipt)}
}

// Expect adds an expected delivery.
func (l *Ledger) Expect(e Event, d Due) { l.Due[e] = d }

// Add records received deliveries, and an error for each delivery that arrives twice or with different ids. Unexpected
// deliveries are reported by Check, because a delivery may arrive before the change that caused it is acknowledged.
func (l *Ledger) Add(t Received) {
	l.errors = append(l.errors, t.Faults...)
	for _, r := range t.Receipts {
		switch earlier, twice := l.Receipts[r.Event]; {
		case twice && earlier.ID == r.ID:
			l.errors = append(l.errors, r.ID+" arrived twice")
		case twice:
			l.errors = append(l.errors, fmt.Sprintf("endpoint %d received version %d with the ids %s and %s", r.Endpoint, r.Version,
				earlier.ID, r.ID))
		default:
			l.Receipts[r.Event] = r
		}
	}
}

// Missing returns the number of expected deliveries that have not arrived.
func (l *Ledger) Missing() (n int) {
	for e := range l.Due {
		if _, ok := l.Receipts[e]; !ok {
			n++
		}
	}
	return n
}

// Span returns the time from the first to the last delivery of the backlog, whose ids are known in advance.
func (l *Ledger) Span() time.Duration {
	var first, last time.Time
	for e, d := range l.Due {
		r, ok := l.Receipts[e]
		if !ok || d.ID == "" {
			continue
		}
		if first.IsZero() || r.At.Before(first) {
			first = r.At
		}
		if r.At.After(last) {
			last = r.At
		}
	}
	return last.Sub(first)
}

// Check returns all errors, including missing and unexpected deliveries.
func (l *Ledger) Check() []string {
	errs := l.errors
	for e, d := range l.Due {
		r, ok := l.Receipts[e]
		switch {
		case !ok:
			errs = append(errs, fmt.Sprintf("endpoint %d did not receive version %d %s", e.Endpoint, e.Version, d.ID))
		case d.ID != "" && r.ID != d.ID:
			errs = append(errs, fmt.Sprintf("endpoint %d received version %d as %s, want %s", e.Endpoint, e.Version, r.ID, d.ID))
		}
	}
	for e, r := range l.Receipts {
		if _, ok := l.Due[e]; !ok {
			errs = append(errs, fmt.Sprintf("endpoint %d received %s for a change that was not acknowledged", e.Endpoint, r.ID))
		}
	}
	return errs
}
