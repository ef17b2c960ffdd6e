package session

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	tellEvery = 250 * time.Millisecond // what was counted here, to the other servers
	tellMost  = 1024                   // windows in one transaction
	askAgain  = time.Second            // of a limit that is used up: something may have been taken back
	aloneFor  = 2 * time.Second        // after the database did not answer
)

// counts counts against limits in windows of time, which begin with what is
// counted first.
//
// Where several servers share the database a limit is that of all of them. Each
// counts by itself up to a small part of the limit and then tells the database,
// which answers what all have counted. So what is refused was used up, whoever
// answered, and what is too much is at most those parts of the other servers
// (docs/adr/017). While the database does not answer each counts alone.
type counts struct {
	unlimited bool
	db        *store.DB // nil where nobody else counts
	// toldBeside: what was counted is told every quarter of a second, and windows
	// begin at the same times on all servers. Without, it is told only when
	// somebody counts more.
	toldBeside bool
	refused    func(limit string) // told of each refusal; nil for nobody

	mu      sync.Mutex
	windows map[string]*window
	swept   time.Time
	alone   time.Time // until then the database is not asked
}

type window struct {
	key     string // as the database has it; "" while it was told nothing
	used    int    // as far as this server knows
	untold  int    // of that, what the database does not know
	telling int    // what it is being told
	limit   int
	ends    time.Time
	asked   time.Time     // when the database said what is used
	busy    chan struct{} // closed when the database has answered; nil while nobody asks
}

func newCounts(unlimited, toldBeside bool) *counts {
	return &counts{unlimited: unlimited, toldBeside: toldBeside, windows: map[string]*window{}}
}

// share counts together with the other servers of a database, if it may have
// others.
func (c *counts) share(db *store.DB) {
	if c.unlimited || !db.Shared() {
		return
	}
	c.mu.Lock()
	c.db = db
	c.mu.Unlock()
}

// window is that of a subject now. The lock is held.
func (c *counts) window(s Subject, now time.Time) *window {
	name := s.key()
	w := c.windows[name]
	if w == nil || !now.Before(w.ends) {
		w = &window{ends: now.Add(s.Window)}
		if c.db != nil {
			sum := sha256.Sum256([]byte(name))
			w.key = hex.EncodeToString(sum[:16]) // whose it is stands nowhere
			if c.toldBeside {
				w.ends = ending(sum, s.Window, now)
			}
		}
		c.windows[name] = w
	}
	w.limit = s.Most
	return w
}

// ending is when the window ends that all servers have now for a key: not at
// the same time for all keys.
func ending(sum [sha256.Size]byte, length time.Duration, now time.Time) time.Time {
	phase := int64(binary.BigEndian.Uint32(sum[28:])) % length.Milliseconds()
	begun := (now.UnixMilli() - phase) / length.Milliseconds()
	return time.UnixMilli((begun+1)*length.Milliseconds() + phase).In(now.Location())
}

// slack is how much a server may keep to itself: a hundredth of a limit.
func (w *window) slack() int {
	if w.limit >= 50 {
		return max(1, w.limit/100)
	}
	return 0
}

// spend counts one; ok is false when the limit is used up, and then it counts
// nothing.
func (c *counts) spend(s Subject, now time.Time) (rate Rate, ok bool) {
	if c.unlimited {
		return Rate{Limit: s.Most, Remaining: s.Most, Reset: now.Add(s.Window)}, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep(now)
	w := c.window(s, now)
	for w.busy != nil && c.mustAsk(w, now) {
		w = c.await(w, s, now)
	}
	if c.mustAsk(w, now) {
		w.used++
		w.untold++
		c.tell(now, w)
		if ok = w.used <= w.limit; !ok {
			w.used--
			w.untold--
		}
	} else if ok = w.used < w.limit; ok {
		w.used++
		w.untold++
	}
	if !ok && c.refused != nil {
		c.refused(s.Name)
	}
	return Rate{Limit: s.Most, Remaining: max(0, w.limit-w.used), Reset: w.ends}, ok
}

// await lets the database answer whoever asks it about a window. The lock is
// held before and after.
func (c *counts) await(w *window, s Subject, now time.Time) *window {
	busy := w.busy
	c.mu.Unlock()
	<-busy
	c.mu.Lock()
	return c.window(s, now)
}

func (c *counts) mustAsk(w *window, now time.Time) bool {
	switch {
	case c.db == nil || now.Before(c.alone):
		return false
	case w.used >= w.limit:
		return now.Sub(w.asked) >= askAgain
	}
	return w.untold+w.telling >= w.slack()
}

// forgive takes one back, or all.
func (c *counts) forgive(s Subject, all bool, now time.Time) {
	if c.unlimited {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.window(s, now)
	for w.busy != nil {
		w = c.await(w, s, now)
	}
	n := min(1, w.used)
	if all {
		n = w.used
	}
	w.used -= n
	w.untold -= n
	if c.db != nil && n > 0 && w.untold != 0 && !now.Before(c.alone) {
		c.tell(now, w)
	}
}

// tell tells the database what it does not know of windows, and learns what all
// servers have counted in them. The lock is held, but not while the database
// works; of one window it is asked once at a time, so that no older answer comes
// behind a newer one.
func (c *counts) tell(now time.Time, windows ...*window) {
	busy := make(chan struct{})
	counted, by := make([]store.RateCount, len(windows)), make(map[string]*window, len(windows))
	for i, w := range windows {
		counted[i] = store.RateCount{Key: w.key, Used: w.untold, Ends: board.InstantOf(w.ends)}
		by[w.key] = w
		w.untold, w.telling, w.busy = 0, w.untold, busy
	}
	c.mu.Unlock()
	sums, err := c.db.CountRates(context.Background(), board.InstantOf(now), counted) // what is counted stays so when its sender goes
	c.mu.Lock()
	close(busy)
	for _, w := range windows {
		w.telling, w.busy = 0, nil
	}
	if err != nil {
		c.alone = now.Add(aloneFor)
		for _, k := range counted {
			by[k.Key].untold += k.Used
		}
		return
	}
	for _, sum := range sums {
		w := by[sum.Key]
		w.used, w.ends, w.asked = max(0, sum.Used+w.untold), sum.Ends.Time(), now
	}
}

// tellAll tells the database of all windows in which this server has counted
// half of what it may keep to itself, so that who is not in a hurry never waits for
// that.
func (c *counts) tellAll(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.alone) {
		return
	}
	var windows []*window
	for _, w := range c.windows {
		if w.busy == nil && (w.untold < 0 || w.untold >= max(1, w.slack()/2)) && now.Before(w.ends) && len(windows) < tellMost {
			windows = append(windows, w)
		}
	}
	if len(windows) > 0 {
		c.tell(now, windows...)
	}
}

// look tells a rate without counting.
func (c *counts) look(s Subject, now time.Time) Rate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.windows[s.key()]; w != nil && now.Before(w.ends) {
		return Rate{Limit: s.Most, Remaining: max(0, s.Most-w.used), Reset: w.ends}
	}
	return Rate{Limit: s.Most, Remaining: s.Most, Reset: now.Add(s.Window)}
}

// sweep forgets windows that have ended, once in a while. The lock is held.
func (c *counts) sweep(now time.Time) {
	if now.Sub(c.swept) < time.Minute {
		return
	}
	c.swept = now
	for name, w := range c.windows {
		if !now.Before(w.ends) {
			delete(c.windows, name)
		}
	}
}
