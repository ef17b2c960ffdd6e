package sqldb

import (
	"os"
	"time"
)

// Recover runs the recovery that follows a failed commit on SQLite. It returns the number
// of bytes that the recovery commit wrote to the log.
func Recover(engine Engine) (written int64, recovered bool, err error) {
	e := engine.(*sqliteEngine)
	recovered = e.recover()
	log, err := os.Stat(e.path + "-wal")
	if err != nil {
		return 0, recovered, err
	}
	return log.Size(), recovered, nil
}

// QueueLength returns the number of transactions of this process that wait in the queue of
// a group or have the turn. The goroutine that runs shared transactions counts as one.
func QueueLength(engine Engine, group string) int {
	queues := engine.(*postgresEngine).queues
	queues.mu.Lock()
	defer queues.mu.Unlock()
	if q := queues.queues[group]; q != nil {
		return q.in
	}
	return 0
}

// WaitingWrites returns the number of writes that are waiting for a shared transaction of
// a group.
func WaitingWrites(engine Engine, group string) int {
	queues := engine.(*postgresEngine).queues
	queues.mu.Lock()
	defer queues.mu.Unlock()
	if q := queues.queues[group]; q != nil {
		return len(q.jobs)
	}
	return 0
}

// SetSharedTime sets the time after which a shared transaction accepts no more writes. On a
// slow machine, the default ends before the writes of a test have joined.
func SetSharedTime(engine Engine, d time.Duration) { engine.(*postgresEngine).sharedTime = d }
