// Package backoff slows down and logs failing periodic tasks, such as a loop that
// polls the database. The log gets one line when a task begins to fail, one every
// five minutes, and one when it recovers.
package backoff

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	shortest = 500 * time.Millisecond // pause after the first failure
	longest  = 5 * time.Second
	remind   = 5 * time.Minute // between log lines about the same failure
)

// Log tracks the failing tasks of one component. The name of a task is the log
// message for its failure. Log is safe for concurrent use.
type Log struct {
	to    *slog.Logger
	now   func() time.Time
	mu    sync.Mutex
	tasks map[string]*task // only failing tasks
}

type task struct {
	since, logged time.Time
	failures      int
}

// NewLog returns a Log that writes to a logger.
func NewLog(to *slog.Logger) *Log {
	return &Log{to: to, now: time.Now, tasks: map[string]*task{}}
}

// Failed records the failure of a task and returns the pause before the next
// attempt. The pause doubles with each consecutive failure, up to five seconds.
func (l *Log) Failed(what string, err error, attrs ...any) (pause time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	t := l.tasks[what]
	if t == nil {
		t = &task{since: now}
		l.tasks[what] = t
	}
	t.failures++
	attrs = append(attrs, "error", err)
	switch {
	case t.failures == 1:
		t.logged = now
		l.to.Warn(what, attrs...)
	case now.Sub(t.logged) >= remind:
		t.logged = now
		l.to.Warn(what, append(attrs, "failures", t.failures, "for", now.Sub(t.since).Round(time.Second))...)
	default:
		l.to.Debug(what, attrs...)
	}
	return min(longest, shortest<<min(t.failures-1, 10))
}

// Succeeded records the success of tasks. It is cheap if none of them was failing.
func (l *Log) Succeeded(tasks ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, what := range tasks {
		if t := l.tasks[what]; t != nil {
			delete(l.tasks, what)
			l.to.Info("recovered: "+what, "failures", t.failures, "for", l.now().Sub(t.since).Round(time.Millisecond))
		}
	}
}

// Pause waits for d. It returns false if ctx ends first.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
