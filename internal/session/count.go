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
	syncInterval   = 250 * time.Millisecond // interval of the background synchronization
	maxSyncWindows = 1024                   // maximum number of windows per transaction
	recheckAfter   = time.Second            // wait before rechecking a used-up limit, because other servers may undo attempts
	offlineFor     = 2 * time.Second        // pause after the database failed
)

// counts counts requests and attempts against limits in windows of time. A window
// begins with its first count, unless servers share the limits and background is true.
//
// If several servers share the database, they share each limit. A server counts
// locally up to a small part of the limit. Then it synchronizes with the database,
// which returns the sum of all servers. So an attempt is refused only if all servers
// together have reached the limit. They can exceed it by at most the unsynchronized
// counts of the other servers (docs/adr/017). While the database fails, each server
// counts separately.
type counts struct {
	unlimited bool
	db        *store.DB // nil if no other server shares the limits
	// background is true if counts are synchronized periodically and windows begin
	// at the same time on all servers. Otherwise counts are synchronized only when an
	// attempt is counted or undone.
	background bool
	refused    func(limit string) // called for each refused attempt; may be nil

	mu      sync.Mutex
	windows map[string]*window
	swept   time.Time
	offline time.Time // the database is not used before this time
}

type window struct {
	key     string // key in the database; "" if the window is never synchronized
	used    int    // count as far as this server knows
	pending int    // part of used that is not synchronized
	sending int    // part of used that is being synchronized
	limit   int
	ends    time.Time
	synced  time.Time
	busy    chan struct{} // closed when the synchronization in progress ends; nil if there is none
}

func newCounts(unlimited, background bool) *counts {
	return &counts{unlimited: unlimited, background: background, windows: map[string]*window{}}
}

// share makes c share its limits with the other servers of a database, if there can
// be any.
func (c *counts) share(db *store.DB) {
	if c.unlimited || !db.Shared() {
		return
	}
	c.mu.Lock()
	c.db = db
	c.mu.Unlock()
}

// window returns the current window of a subject, and begins one if there is none. The
// caller must hold the lock.
func (c *counts) window(s Subject, now time.Time) *window {
	name := s.key()
	w := c.windows[name]
	if w == nil || !now.Before(w.ends) {
		w = &window{ends: now.Add(s.Window)}
		if c.db != nil {
			sum := sha256.Sum256([]byte(name))
			w.key = hex.EncodeToString(sum[:16]) // a hash, so that the database does not contain addresses
			if c.background {
				w.ends = windowEnd(sum, s.Window, now)
			}
		}
		c.windows[name] = w
	}
	w.limit = s.Most
	return w
}

// windowEnd returns the end of the current window of a key, given the hash of the key. It
// is the same on all servers. Windows of different keys end at different times.
func windowEnd(sum [sha256.Size]byte, length time.Duration, now time.Time) time.Time {
	phase := int64(binary.BigEndian.Uint32(sum[28:])) % length.Milliseconds()
	begun := (now.UnixMilli() - phase) / length.Milliseconds()
	return time.UnixMilli((begun+1)*length.Milliseconds() + phase).In(now.Location())
}

// slack returns the number of counts that a server may leave unsynchronized: a
// hundredth of the limit but at least 1, or 0 for limits below fifty.
func (w *window) slack() int {
	if w.limit >= 50 {
		return max(1, w.limit/100)
	}
	return 0
}

// spend counts one attempt. If the limit is used up, it counts nothing and returns
// false.
func (c *counts) spend(s Subject, now time.Time) (rate Rate, ok bool) { return c.spendMany(s, 1, now) }

// spendMany counts n attempts, or none of them if they exceed the limit.
func (c *counts) spendMany(s Subject, n int, now time.Time) (rate Rate, ok bool) {
	if c.unlimited {
		return Rate{Limit: s.Most, Remaining: s.Most, Reset: now.Add(s.Window)}, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep(now)
	w := c.window(s, now)
	for w.busy != nil && c.mustSync(w, n, now) {
		w = c.await(w, s, now)
	}
	if c.mustSync(w, n, now) {
		w.used += n
		w.pending += n
		c.sync(now, w)
		if ok = w.used <= w.limit; !ok {
			w.used -= n
			w.pending -= n
		}
	} else if ok = w.used+n <= w.limit; ok {
		w.used += n
		w.pending += n
	}
	if !ok && c.refused != nil {
		c.refused(s.Name)
	}
	return Rate{Limit: s.Most, Remaining: max(0, w.limit-w.used), Reset: w.ends}, ok
}

// await waits for the synchronization of w that is in progress and returns the
// subject's current window. The caller must hold the lock; await releases it while
// it waits.
func (c *counts) await(w *window, s Subject, now time.Time) *window {
	busy := w.busy
	c.mu.Unlock()
	<-busy
	c.mu.Lock()
	return c.window(s, now)
}

// mustSync reports whether the next n counts of a window must be synchronized.
func (c *counts) mustSync(w *window, n int, now time.Time) bool {
	switch {
	case c.db == nil || now.Before(c.offline):
		return false
	case w.used+n > w.limit:
		return now.Sub(w.synced) >= recheckAfter
	}
	return w.pending+w.sending+n > w.slack()
}

// spendAll spends from all subjects and returns the rate of the first. If one of them is
// used up, spendAll counts nothing and returns the rate of that one.
func (c *counts) spendAll(now time.Time, subjects ...Subject) (rate Rate, ok bool) {
	for i, s := range subjects {
		each, ok := c.spend(s, now)
		if !ok {
			for _, s := range subjects[:i] {
				c.refund(s, false, now)
			}
			return each, false
		}
		if i == 0 {
			rate = each
		}
	}
	return rate, true
}

// refund undoes the count of one attempt, or of all attempts if all is true.
func (c *counts) refund(s Subject, all bool, now time.Time) {
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
	w.pending -= n
	if c.db != nil && n > 0 && w.pending != 0 && !now.Before(c.offline) {
		c.sync(now, w)
	}
}

// sync synchronizes windows with the database: it adds the pending counts and reads
// the sums of all servers. The caller must hold the lock; sync releases it during
// the transaction. A window has only one synchronization at a time, so that an
// older sum cannot overwrite a newer one.
func (c *counts) sync(now time.Time, windows ...*window) {
	busy := make(chan struct{})
	counted := make([]store.RateCount, len(windows))
	by := make(map[string]*window, len(windows))
	for i, w := range windows {
		counted[i] = store.RateCount{Key: w.key, Used: w.pending, Ends: board.InstantOf(w.ends)}
		by[w.key] = w
		w.pending, w.sending, w.busy = 0, w.pending, busy
	}
	c.mu.Unlock()
	// A canceled request still counts, so its context is not used.
	sums, err := c.db.CountRates(context.Background(), board.InstantOf(now), counted)
	c.mu.Lock()
	close(busy)
	for _, w := range windows {
		w.sending, w.busy = 0, nil
	}
	if err != nil {
		c.offline = now.Add(offlineFor)
		for _, k := range counted {
			by[k.Key].pending += k.Used
		}
		return
	}
	for _, sum := range sums {
		w := by[sum.Key]
		w.used, w.ends, w.synced = max(0, sum.Used+w.pending), sum.Ends.Time(), now
	}
}

// syncAll synchronizes up to maxSyncWindows windows that have used half of their slack
// or in which counts were undone. So requests at a normal rate never wait for the
// database.
func (c *counts) syncAll(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.offline) {
		return
	}
	var windows []*window
	for _, w := range c.windows {
		due := w.pending < 0 || w.pending >= max(1, w.slack()/2)
		if w.busy == nil && due && now.Before(w.ends) && len(windows) < maxSyncWindows {
			windows = append(windows, w)
		}
	}
	if len(windows) > 0 {
		c.sync(now, windows...)
	}
}

// peek returns a rate without counting.
func (c *counts) peek(s Subject, now time.Time) Rate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.windows[s.key()]; w != nil && now.Before(w.ends) {
		return Rate{Limit: s.Most, Remaining: max(0, s.Most-w.used), Reset: w.ends}
	}
	return Rate{Limit: s.Most, Remaining: s.Most, Reset: now.Add(s.Window)}
}

// sweep deletes windows that have ended, at most once a minute. The caller must
// hold the lock.
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
