package op

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cardwall/internal/board"
)

const (
	shareWait  = 5 * time.Second // longest wait for the same person's earlier calls
	shareQueue = 8               // maximum number of waiting calls per person
)

// shares limits how many calls of one kind each person can run at the same time, so that
// one person cannot take every slot. Further calls of that person wait.
type shares struct {
	what string // plural noun for the calls, for messages
	most int    // maximum number of running calls per person
	mu   sync.Mutex
	open map[string]*share
}

type share struct {
	slots chan struct{}
	calls int // number of running and waiting calls
}

func newShares(what string, most int) *shares {
	return &shares{what: what, most: most, open: map[string]*share{}}
}

// enter waits for one of a person's slots. The caller must call leave when its call has
// finished. enter returns a rate_limited fault if the wait, or the queue of that person, is
// too long. Callers without a user are not limited.
func (s *shares) enter(ctx context.Context, userID string) (leave func(), err error) {
	if userID == "" {
		return func() {}, nil
	}
	s.mu.Lock()
	mine := s.open[userID]
	if mine == nil {
		mine = &share{slots: make(chan struct{}, s.most)}
		s.open[userID] = mine
	}
	if mine.calls >= s.most+shareQueue {
		s.mu.Unlock()
		return nil, s.refusal()
	}
	mine.calls++
	s.mu.Unlock()
	drop := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if mine.calls--; mine.calls == 0 {
			delete(s.open, userID)
		}
	}
	leave = func() {
		<-mine.slots
		drop()
	}
	select {
	case mine.slots <- struct{}{}:
		return leave, nil
	default:
	}
	timer := time.NewTimer(shareWait)
	defer timer.Stop()
	select {
	case mine.slots <- struct{}{}:
		return leave, nil
	case <-timer.C:
		err = s.refusal()
	case <-ctx.Done():
		err = fmt.Errorf("wait for a slot: %w", ctx.Err())
	}
	drop()
	return nil, err
}

func (s *shares) refusal() error {
	return &board.Fault{
		Code: board.CodeRateLimited, Reason: board.ReasonTooManyAtOnce, RetryAfter: retryReportAfter,
		Message: "Your earlier " + s.what + " are still running. Wait until one has finished.",
	}
}
