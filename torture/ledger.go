package main

import (
	"sync"
	"time"
)

// write is one change that a writer asked for under a key.
type write struct {
	key     string
	to      *place
	card    string // that it changes; empty for a new one, whose title is the key
	secret  bool   // it is on the board that sends nothing
	refused bool   // it has to be refused
	late    bool   // it was answered by a server whose disk was gone, which tells nobody anything

	acknowledged bool
	id           string
	version      int64
}

// ledger is what the writers know, and how long nobody was answered.
type ledger struct {
	mu      sync.Mutex
	writes  map[string]*write
	acked   int
	loading bool
	last    time.Time // of the latest acknowledgment, or of the load's begin
	worst   time.Duration
	odd     []string // answers that must not be
	dark    bool     // the disk is gone
}

func newLedger() *ledger { return &ledger{writes: map[string]*write{}} }

// sent notes a write before it is asked for the first time.
func (l *ledger) sent(w *write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes[w.key] = w
}

// acknowledge notes the answer to a write. An answer that differs from an earlier one is a fault.
func (l *ledger) acknowledge(w *write, a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.acknowledged && (w.id != a.Data.ID || w.version != a.BoardVersion) {
		l.odd = append(l.odd, w.key+" was acknowledged twice, as different changes")
	}
	if !w.acknowledged {
		l.acked++
	}
	w.acknowledged, w.id, w.version = true, a.Data.ID, a.BoardVersion
	if l.loading {
		now := time.Now()
		l.worst = max(l.worst, now.Sub(l.last))
		l.last = now
	}
}

// night says whether the disk is gone under a server that goes on.
func (l *ledger) night(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dark = on
}

func (l *ledger) isNight() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dark
}

// complain notes an answer that must not be.
func (l *ledger) complain(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.odd = append(l.odd, what)
}

// load says whether writers are at work, which is when silence counts.
func (l *ledger) load(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); on {
		l.last = now
	} else if l.loading {
		l.worst = max(l.worst, now.Sub(l.last))
	}
	l.loading = on
}

// acknowledgedNow is how many writes were acknowledged so far.
func (l *ledger) acknowledgedNow() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked
}

// open are the writes that nobody answered.
func (l *ledger) open() (open []*write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.writes {
		if !w.acknowledged && !w.refused {
			open = append(open, w)
		}
	}
	return open
}

// some are acknowledged writes, as many as asked for at most.
func (l *ledger) some(most int) (some []*write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.writes {
		if len(some) == most {
			break
		}
		if w.acknowledged {
			some = append(some, w)
		}
	}
	return some
}
