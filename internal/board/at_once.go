package board

import (
	"fmt"
	"sync"
	"time"
)

// atOnceRetry is the Retry-After header if too many tasks run at the same time.
const atOnceRetry = 5 * time.Second

// AtOnce counts tasks of one kind, such as exports, that run at the same time on this server.
type AtOnce struct {
	mu       sync.Mutex
	byPerson map[string]int
	all      int
}

// Start counts a task of a person until end is called. It returns a rate_limited fault if the
// person has perPerson tasks, or the server total tasks. what is a plural noun for the tasks.
func (a *AtOnce) Start(userID, what string, perPerson, total int) (end func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	refuse := func(message string) (func(), error) {
		return nil, &Fault{Code: CodeRateLimited, Reason: ReasonTooManyAtOnce, RetryAfter: atOnceRetry, Message: message}
	}
	switch {
	case a.byPerson[userID] >= perPerson:
		return refuse(fmt.Sprintf("A person can run %d %s at a time. Wait until one has finished.", perPerson, what))
	case a.all >= total:
		return refuse(fmt.Sprintf("The server is running as many %s as it can. Try again in a moment.", what))
	}
	if a.byPerson == nil {
		a.byPerson = map[string]int{}
	}
	a.byPerson[userID]++
	a.all++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.all--
		if a.byPerson[userID]--; a.byPerson[userID] == 0 {
			delete(a.byPerson, userID)
		}
	}, nil
}
