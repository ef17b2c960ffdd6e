// Package backoff logs failures of periodic tasks, such as a loop that polls the
// database, and computes the pauses between attempts. It logs when a task begins to
// fail, every five minutes while the task keeps failing, and when the task recovers.
package backoff

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	minPause    = 500 * time.Millisecond // pause after the first failure
	maxPause    = 5 * time.Second
	logInterval = 5 * time.Minute // time between warnings about the same task
)

// Log tracks the failing tasks of one component. A task is identified by the log
// message for its failure. Log is safe for concurrent use.
type Log struct {
	to    *slog.Logger
	now   func() time.Time
	mu    sync.Mutex
	tasks map[string]*task // failing tasks, by message
}

type task struct {
	since, logged time.Time
	failures      int
}

// NewLog returns a Log that writes to the given logger.
func NewLog(to *slog.Logger) *Log {
	return &Log{to: to, now: time.Now, tasks: map[string]*task{}}
}

// Failed records a failure of a task and returns the pause before the next attempt. The
// log message what identifies the task. The pause doubles with each consecutive failure,
// up to five seconds.
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
	case now.Sub(t.logged) >= logInterval:
		t.logged = now
		l.to.Warn(what, append(attrs, "failures", t.failures, "for", now.Sub(t.since).Round(time.Second))...)
	default:
		l.to.Debug(what, attrs...)
	}
	return min(maxPause, minPause<<min(t.failures-1, 10))
}

// Succeeded records that the tasks with the given log messages have succeeded. The call
// is cheap if none of the tasks was failing.
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
