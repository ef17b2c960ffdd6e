package fleet

import (
	"slices"
	"sync"
	"time"
)

// Write is a change that a writer sends with an idempotency key.
type Write struct {
	Key    string
	To     *Board
	Silent bool   // it must not be delivered
	ID     string // id of the created card, once it is acknowledged

	// The write changes or copies a card, or else creates one. The title of the copy or the new card is Key.
	change, copy string // the id of the card
	invalid      bool   // the server must reject it
	withoutDisk  bool   // acknowledged by a server whose disk was cut off, so it may be lost
	acknowledged bool
	version      int64
}

// Ledger records the writes of the writers and the longest time without an acknowledgment.
type Ledger struct {
	mu          sync.Mutex
	writes      map[string]*Write
	acked       int           // number of acknowledged writes
	loaded      bool          // the writers are running
	last        time.Time     // time of the latest acknowledgment, or when the writers started
	longest     time.Duration // longest time without an acknowledgment
	anomalies   []string      // responses that must not occur
	withoutDisk bool
}

func newLedger() *Ledger { return &Ledger{writes: map[string]*Write{}} }

// Add records a write. It must be called before the write is sent.
func (l *Ledger) Add(w *Write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes[w.Key] = w
}

// Acknowledge records the response to a write. If an earlier response to the write was different, Acknowledge also
// records an anomaly.
func (l *Ledger) Acknowledge(w *Write, r Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.acknowledged && (w.ID != r.Data.ID || w.version != r.BoardVersion) {
		l.anomalies = append(l.anomalies, w.Key+" was acknowledged twice with different changes")
	}
	if !w.acknowledged {
		l.acked++
	}
	w.acknowledged, w.ID, w.version = true, r.Data.ID, r.BoardVersion
	if l.loaded {
		now := time.Now()
		l.longest = max(l.longest, now.Sub(l.last))
		l.last = now
	}
}

// SetWithoutDisk records whether the server currently runs without its disk.
func (l *Ledger) SetWithoutDisk(without bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.withoutDisk = without
}

func (l *Ledger) isWithoutDisk() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.withoutDisk
}

// Report records an anomaly.
func (l *Ledger) Report(anomaly string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.anomalies = append(l.anomalies, anomaly)
}

// reported returns the anomalies.
func (l *Ledger) reported() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.anomalies)
}

// setLoaded records whether the writers are running. Time without an acknowledgment counts only while they are.
func (l *Ledger) setLoaded(loaded bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); loaded {
		l.last = now
	} else if l.loaded {
		l.longest = max(l.longest, now.Sub(l.last))
	}
	l.loaded = loaded
}

// Acknowledged returns the number of acknowledged writes.
func (l *Ledger) Acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked
}

// Longest returns the longest time without an acknowledgment.
func (l *Ledger) Longest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.longest
}

// unacknowledged returns the valid writes that were not acknowledged.
func (l *Ledger) unacknowledged() (found []*Write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.writes {
		if !w.acknowledged && !w.invalid {
			found = append(found, w)
		}
	}
	return found
}

// silentCards returns the ids of the cards that were created by silent writes.
func (l *Ledger) silentCards() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := map[string]bool{}
	for _, w := range l.writes {
		if w.Silent && w.acknowledged {
			found[w.ID] = true
		}
	}
	return found
}

// sample returns at most n acknowledged writes.
func (l *Ledger) sample(n int) (found []*Write) {
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
