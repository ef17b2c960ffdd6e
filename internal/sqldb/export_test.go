package sqldb

import "os"

// Recover recovers the disk of SQLite as after a failed commit, and returns how many
// bytes of the log its proof has written.
func Recover(engine Engine) (written int64, recovered bool, err error) {
	e := engine.(*sqliteEngine)
	recovered = e.recover()
	log, err := os.Stat(e.path + "-wal")
	if err != nil {
		return 0, recovered, err
	}
	return log.Size(), recovered, nil
}

// QueueLength returns how many writes of this process wait for the turn of a group,
// or have it.
func QueueLength(engine Engine, group string) int {
	queues := engine.(*postgresEngine).queues
	queues.mu.Lock()
	defer queues.mu.Unlock()
	if q := queues.queues[group]; q != nil {
		return q.in
	}
	return 0
}
