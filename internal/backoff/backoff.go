// Package backoff paces tasks that run again and again, such as a loop that
// polls the database. While one fails it is tried less often, and the log has
// one line when that begins, one every few minutes, and one when it ends.
package backoff

import (
	"log/slog"
	"sync"
	"time"
)

const (
	shortest = 500 * time.Millisecond // pause after the first failure
	longest  = 5 * time.Second
	remind   = 5 * time.Minute // between log lines about the same failure
)

// Log tracks which tasks of one component fail. A task is named by the message
// that says what it means when it fails. Its methods may be called from several
// goroutines.
type Log struct {
	to    *slog.Logger
	now   func() time.Time
	mu    sync.Mutex
	tasks map[string]*task // those that fail
}

type task struct {
	since, logged time.Time
	failures      int
}

// NewLog returns a Log that writes to a logger.
func NewLog(to *slog.Logger) *Log {
	return &Log{to: to, now: time.Now, tasks: map[string]*task{}}
}

// Failed notes that a task failed, and returns how long to wait before the next
// try. The pause doubles with each failure in a row, up to five seconds.
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

// Succeeded notes that tasks succeeded. It costs little when none of them failed before.
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
