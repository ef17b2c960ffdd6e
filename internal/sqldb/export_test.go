package sqldb

import "os"

// Recover recovers SQLite's disk after a failed commit. It returns how many bytes its
// test commit wrote to the log.
func Recover(engine Engine) (written int64, recovered bool, err error) {
	e := engine.(*sqliteEngine)
	recovered = e.recover()
	log, err := os.Stat(e.path + "-wal")
	if err != nil {
		return 0, recovered, err
	}
	return log.Size(), recovered, nil
}

// QueueLength returns the number of writes of this process that wait in a group's
// queue or hold its slot.
func QueueLength(engine Engine, group string) int {
	queues := engine.(*postgresEngine).queues
	queues.mu.Lock()
	defer queues.mu.Unlock()
	if q := queues.queues[group]; q != nil {
		return q.in
	}
	return 0
}
