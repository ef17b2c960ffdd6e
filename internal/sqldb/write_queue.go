package sqldb

import (
	"context"
	"sync"
	"time"
)

const (
	queueTimeout = 250 * time.Millisecond // longest wait for earlier writes of this server
	recordsKept  = 10_000                 // approximate number of records whose group is remembered
)

// writeQueues run the writes of this server to one group (a board) one after
// another. In PostgreSQL they would wait for the row lock of the board, which
// doubles the processor time of dozens of waiting writes and makes some of them
// wait for seconds. The queues are only an optimization: a write whose group is
// not known, or that has waited for queueTimeout, continues without its turn,
// and the row lock decides as it does between servers.
type writeQueues struct {
	mu     sync.Mutex
	groups map[string]string // of records, as they were last seen
	older  map[string]string // the groups before the map was full
	queues map[string]*writeQueue
}

type writeQueue struct {
	turn chan struct{} // holds a token while a write has the turn
	in   int           // writes that wait or have the turn
}

func newWriteQueues() *writeQueues {
	return &writeQueues{groups: map[string]string{}, queues: map[string]*writeQueue{}}
}

// learn remembers the group of a record.
func (q *writeQueues) learn(record, group string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.groups) >= recordsKept/2 {
		q.older, q.groups = q.groups, make(map[string]string, recordsKept/2)
	}
	q.groups[record] = group
}

// enter waits for the turn in the queue of a record, and returns a function that
// ends the turn.
func (q *writeQueues) enter(ctx context.Context, record string) (leave func()) {
	q.mu.Lock()
	group, known := q.groups[record]
	if !known {
		group, known = q.older[record]
	}
	if !known {
		q.mu.Unlock()
		return func() {}
	}
	queue := q.queues[group]
	if queue == nil {
		queue = &writeQueue{turn: make(chan struct{}, 1)}
		q.queues[group] = queue
	}
	queue.in++
	q.mu.Unlock()

	taken := queue.take(ctx)
	return func() {
		if taken {
			<-queue.turn
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		if queue.in--; queue.in == 0 {
			delete(q.queues, group)
		}
	}
}

// take reports whether the write got its turn in time.
func (q *writeQueue) take(ctx context.Context) bool {
	select {
	case q.turn <- struct{}{}:
		return true
	default:
	}
	timeout := time.NewTimer(queueTimeout)
	defer timeout.Stop()
	select {
	case q.turn <- struct{}{}:
		return true
	case <-timeout.C:
	case <-ctx.Done():
	}
	return false
}
