package main

import (
	"sync"
	"time"
)

// write is a change that a writer sends with an idempotency key.
type write struct {
	key          string
	to           *target
	card         string // id of the card to change; empty for a new card, whose title is the key
	confidential bool   // on the board that sends no events
	invalid      bool   // the server must reject it
	withoutDisk  bool   // acknowledged by a server whose disk was cut off, so it may be lost

	acknowledged bool
	id           string
	version      int64
}

// ledger records the writes of the writers and the longest time without an acknowledgment.
type ledger struct {
	mu          sync.Mutex
	writes      map[string]*write
	acked       int           // number of acknowledged writes
	loaded      bool          // the writers are running
	last        time.Time     // time of the latest acknowledgment, or when the writers started
	longest     time.Duration // longest time without an acknowledgment
	anomalies   []string      // responses that must not occur
	withoutDisk bool
}

func newLedger() *ledger { return &ledger{writes: map[string]*write{}} }

// add records a write. It must be called before the write is sent.
func (l *ledger) add(w *write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes[w.key] = w
}

// acknowledge records the response to a write. If an earlier response to the write was different, acknowledge also
// records an anomaly.
func (l *ledger) acknowledge(w *write, r response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.acknowledged && (w.id != r.Data.ID || w.version != r.BoardVersion) {
		l.anomalies = append(l.anomalies, w.key+" was acknowledged twice with different changes")
	}
	if !w.acknowledged {
		l.acked++
	}
	w.acknowledged, w.id, w.version = true, r.Data.ID, r.BoardVersion
	if l.loaded {
		now := time.Now()
		l.longest = max(l.longest, now.Sub(l.last))
		l.last = now
	}
}

// setWithoutDisk records whether the server currently runs without its disk.
func (l *ledger) setWithoutDisk(without bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.withoutDisk = without
}

func (l *ledger) isWithoutDisk() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.withoutDisk
}

// report records an anomaly.
func (l *ledger) report(anomaly string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.anomalies = append(l.anomalies, anomaly)
}

// setLoaded records whether the writers are running. Time without an acknowledgment counts only while they are.
func (l *ledger) setLoaded(loaded bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); loaded {
		l.last = now
	} else if l.loaded {
		l.longest = max(l.longest, now.Sub(l.last))
	}
	l.loaded = loaded
}

// acknowledgedCount returns the number of acknowledged writes.
func (l *ledger) acknowledgedCount() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked
}

// unacknowledged returns the valid writes that were not acknowledged.
func (l *ledger) unacknowledged() (found []*write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.writes {
		if !w.acknowledged && !w.invalid {
			found = append(found, w)
		}
	}
	return found
}

// sample returns at most n acknowledged writes.
func (l *ledger) sample(n int) (found []*write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.writes {
		if len(found) == n {
			break
		}
		if w.acknowledged {
			found = append(found, w)
		}
	}
	return found
}
