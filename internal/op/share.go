package op

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cardwall/internal/board"
)

const (
	shareWait  = 5 * time.Second // longest wait for one's own earlier calls
	shareQueue = 8               // calls of one person that may wait
)

// shares limits how many calls of a kind each person runs at once, so that one
// person cannot take every slot. Further calls of the person wait for the earlier
// ones.
type shares struct {
	what string // the calls, for the message
	most int
	mu   sync.Mutex
	open map[string]*share
}

type share struct {
	slots chan struct{}
	calls int // running and waiting
}

func newShares(what string, most int) *shares {
	return &shares{what: what, most: most, open: map[string]*share{}}
}

// enter waits for a slot of a person. Callers that are not people have no limit.
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
