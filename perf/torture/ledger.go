package main

import (
	"sync"
	"time"
)

// write is one change that a writer sends under an idempotency key.
type write struct {
	key          string
	to           *target
	card         string // the card that it changes; empty for a new card, whose title is the key
	confidential bool   // it is on the board that sends no events
	invalid      bool   // it must be refused
	withoutDisk  bool   // it was acknowledged by a server without a disk, so it may be lost

	acknowledged bool
	id           string
	version      int64
}

// ledger holds what the writers know, and the longest time without an acknowledgment.
type ledger struct {
	mu        sync.Mutex
	writes    map[string]*write
	acked     int
	loaded    bool      // the writers are running
	last      time.Time // of the latest acknowledgment, or the start of the writers
	worst     time.Duration
	anomalies []string // responses that must not occur
	diskGone  bool
}

func newLedger() *ledger { return &ledger{writes: map[string]*write{}} }

// add records a write before it is sent for the first time.
func (l *ledger) add(w *write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes[w.key] = w
}

// acknowledge records the response to a write. A response that differs from an earlier one is an anomaly.
func (l *ledger) acknowledge(w *write, r response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.acknowledged && (w.id != r.Data.ID || w.version != r.BoardVersion) {
		l.anomalies = append(l.anomalies, w.key+" was acknowledged twice, as different changes")
	}
	if !w.acknowledged {
		l.acked++
	}
	w.acknowledged, w.id, w.version = true, r.Data.ID, r.BoardVersion
	if l.loaded {
		now := time.Now()
		l.worst = max(l.worst, now.Sub(l.last))
		l.last = now
	}
}

// setDiskGone records whether the server currently runs without its disk.
func (l *ledger) setDiskGone(gone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.diskGone = gone
}

func (l *ledger) isDiskGone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.diskGone
}

// report records a response that must not occur.
func (l *ledger) report(anomaly string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.anomalies = append(l.anomalies, anomaly)
}

// setLoaded records whether the writers are running. Only then does time without an acknowledgment count.
func (l *ledger) setLoaded(loaded bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); loaded {
		l.last = now
	} else if l.loaded {
		l.worst = max(l.worst, now.Sub(l.last))
	}
	l.loaded = loaded
}

// acknowledgedCount returns how many writes have been acknowledged.
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
