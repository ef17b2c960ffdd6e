package store

import (
	"context"
	"sync"
	"time"
)

const (
	turnTime  = 250 * time.Millisecond // that a write waits for those of its own server ahead of it
	turnsKept = 10_000                 // records whose board is remembered, about
)

// turns let the writes of this server to one board come to PostgreSQL one after
// the other. There they would wait for the board's row, which costs the database
// twice the processor time of their work when there are dozens, and lets the
// unlucky wait for seconds. Nothing is right or wrong by them: a write whose
// board is not known yet, or that has waited long enough, goes on without its
// turn, and the row's lock decides as it does between servers.
type turns struct {
	mu     sync.Mutex
	boards map[string]string // of records, as they were last seen
	older  map[string]string // what boards was before it was full
	queues map[string]*turnQueue
}

type turnQueue struct {
	turn chan struct{} // holds a token while somebody has the turn
	in   int           // those who wait, and the one who has the turn
}

func newTurns() *turns {
	return &turns{boards: map[string]string{}, queues: map[string]*turnQueue{}}
}

// saw remembers which board a record is on.
func (t *turns) saw(record, board string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.boards) >= turnsKept/2 {
		t.older, t.boards = t.boards, make(map[string]string, turnsKept/2)
	}
	t.boards[record] = board
}

// take waits for the turn at the board of a record, and returns what ends it.
func (t *turns) take(ctx context.Context, record string) (end func()) {
	t.mu.Lock()
	board, known := t.boards[record]
	if !known {
		board, known = t.older[record]
	}
	if !known {
		t.mu.Unlock()
		return func() {}
	}
	q := t.queues[board]
	if q == nil {
		q = &turnQueue{turn: make(chan struct{}, 1)}
		t.queues[board] = q
	}
	q.in++
	t.mu.Unlock()

	taken := true
	select {
	case q.turn <- struct{}{}:
	default:
		patience := time.NewTimer(turnTime)
		defer patience.Stop()
		select {
		case q.turn <- struct{}{}:
		case <-patience.C:
			taken = false
		case <-ctx.Done():
			taken = false
		}
	}
	return func() {
		if taken {
			<-q.turn
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if q.in--; q.in == 0 {
			delete(t.queues, board)
		}
	}
}
