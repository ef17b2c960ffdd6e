package sqldb

import (
	"context"
	"sync"
	"time"
)

const (
	queueTimeout = 250 * time.Millisecond // longest wait for earlier writes of this server
	recordsKept  = 40_000                 // maximum number of records whose group is remembered
)

// writeQueues orders the writes of this server to each group (a board). Otherwise, they
// would wait in PostgreSQL for the row lock of the board. With dozens of writes, that
// doubles their processor time and makes some of them wait for seconds. Writes whose
// records are known in advance share transactions (see postgres_shared.go). Others run
// one after another.
//
// The queues are only an optimization. A write whose group is not known, or that has
// waited for queueTimeout, continues without its turn. The row lock then decides, as it
// does between servers.
type writeQueues struct {
	mu     sync.Mutex
	groups map[string]string // of records, as last seen
	older  map[string]string // the contents of groups when it was last full
	queues map[string]*writeQueue
}

type writeQueue struct {
	turn    chan struct{} // holds a token while a transaction has the turn
	in      int           // number of transactions that wait for or have the turn; the goroutine that runs shared ones counts as one
	jobs    []*writeJob   // waiting for a shared transaction
	running bool          // a goroutine runs the jobs
}

func newWriteQueues() *writeQueues {
	return &writeQueues{groups: map[string]string{}, queues: map[string]*writeQueue{}}
}

// learn remembers the group of a record.
func (q *writeQueues) learn(record, group string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.groups[record] == group {
		return
	}
	if len(q.groups) >= recordsKept/2 {
		q.older, q.groups = q.groups, make(map[string]string, recordsKept/2)
	}
	q.groups[record] = group
}

// groupOf returns the group that all records are known to belong to, or "".
func (q *writeQueues) groupOf(records ...string) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	common := ""
	for _, record := range records {
		group := q.known(record)
		if group == "" || common != "" && group != common {
			return ""
		}
		common = group
	}
	return common
}

// known returns the group of a record, or "". The caller must hold mu.
func (q *writeQueues) known(record string) string {
	if group, ok := q.groups[record]; ok {
		return group
	}
	return q.older[record]
}

// queue returns the queue of a group, and counts the caller as a user until done is
// called. The caller must hold mu.
func (q *writeQueues) queue(group string) *writeQueue {
	queue := q.queues[group]
	if queue == nil {
		queue = &writeQueue{turn: make(chan struct{}, 1)}
		q.queues[group] = queue
	}
	queue.in++
	return queue
}

// done ends the use of a queue. The caller must hold mu.
func (q *writeQueues) done(group string, queue *writeQueue) {
	if queue.in--; queue.in == 0 {
		delete(q.queues, group)
	}
}

// enter waits for the turn in the queue of a record's group. It does not wait if the group
// is unknown. The caller must call leave when its transaction has ended.
func (q *writeQueues) enter(ctx context.Context, record string) (leave func()) {
	q.mu.Lock()
	group := q.known(record)
	if group == "" {
		q.mu.Unlock()
		return func() {}
	}
	queue := q.queue(group)
	q.mu.Unlock()

	taken := queue.take(ctx)
	return func() {
		if taken {
			<-queue.turn
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		q.done(group, queue)
	}
}

// take waits for the turn until queueTimeout has passed or ctx ends. It reports whether it
// got the turn.
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

// add queues a job for the shared transactions of a group. If no goroutine is running them,
// it calls start in a new one.
func (q *writeQueues) add(group string, j *writeJob, start func(*writeQueue)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	queue := q.queues[group]
	if queue == nil || !queue.running {
		queue = q.queue(group)
		queue.running = true
		go start(queue)
	}
	queue.jobs = append(queue.jobs, j)
}

// next removes and returns the first waiting job of a queue, or returns nil if there is
// none.
func (q *writeQueues) next(queue *writeQueue) *writeJob {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(queue.jobs) == 0 {
		return nil
	}
	j := queue.jobs[0]
	queue.jobs[0], queue.jobs = nil, queue.jobs[1:]
	return j
}

// stop reports whether a queue has no waiting job. If so, it ends the use of the queue by
// the goroutine that runs the jobs.
func (q *writeQueues) stop(group string, queue *writeQueue) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(queue.jobs) > 0 {
		return false
	}
	queue.running = false
	q.done(group, queue)
	return true
}
