package live

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"cardwall/internal/backoff"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

const streamsMax = 20 // per person

// Hub tracks which streams of this server show which boards.
type Hub struct {
	db       *store.DB
	log      *slog.Logger
	failures *backoff.Log

	mu      sync.Mutex
	boards  map[string]map[*stream]struct{}
	persons map[string]map[*stream]struct{}
	closed  bool
	open    sync.WaitGroup
	stop    chan struct{}
	unwatch func()
}

// NewHub returns the hub of a server and starts to watch for changes.
func NewHub(db *store.DB, log *slog.Logger) *Hub {
	h := &Hub{db: db, log: log, failures: backoff.NewLog(log), boards: map[string]map[*stream]struct{}{},
		persons: map[string]map[*stream]struct{}{}, stop: make(chan struct{})}
	h.unwatch = db.OnChange(h.changed)
	db.OnNotify(h.notified)
	h.open.Go(h.checkCallers)
	if db.Shared() {
		h.open.Go(h.poll)
	}
	return h
}

// Close ends all streams and tells browsers to reconnect, so that another
// server will serve them.
func (h *Hub) Close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.stop)
	}
	h.mu.Unlock()
	h.unwatch()
	h.db.OnNotify(nil)
	h.open.Wait()
}

// changed wakes the streams that show one of the boards.
func (h *Hub) changed(boardIDs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range boardIDs {
		for s := range h.boards[id] {
			s.markChanged(id)
		}
	}
}

// notified wakes the streams of people whose notifications changed.
func (h *Hub) notified(userIDs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range userIDs {
		for s := range h.persons[id] {
			s.markNotifications()
		}
	}
}

// join adds a stream. It returns an error if the hub is closing or the person
// has too many streams.
func (h *Hub) join(s *stream) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return &board.Fault{Code: board.CodeUnavailable, Cause: board.CauseOverload, Message: "The server is shutting down. " +
			"Connect again.", RetryAfter: time.Second}
	case len(h.persons[s.caller.UserID]) >= streamsMax:
		return &board.Fault{Code: board.CodeRateLimited, Message: fmt.Sprintf("At most %d streams per person can "+
			"be open.", streamsMax), RetryAfter: 5 * time.Second}
	}
	if h.persons[s.caller.UserID] == nil {
		h.persons[s.caller.UserID] = map[*stream]struct{}{}
	}
	h.persons[s.caller.UserID][s] = struct{}{}
	for id := range s.sent {
		if h.boards[id] == nil {
			h.boards[id] = map[*stream]struct{}{}
		}
		h.boards[id][s] = struct{}{}
	}
	h.open.Add(1)
	return nil
}

// drop removes a board from a stream.
func (h *Hub) drop(s *stream, boardID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.boards[boardID], s)
	if len(h.boards[boardID]) == 0 {
		delete(h.boards, boardID)
	}
}

// leave removes a stream. It returns the boards that its person has open in no
// other stream of this server.
func (h *Hub) leave(s *stream) (alone []string) {
	for id := range s.sent {
		h.drop(s, id)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if delete(h.persons[s.caller.UserID], s); len(h.persons[s.caller.UserID]) == 0 {
		delete(h.persons, s.caller.UserID)
	}
	for id := range s.sent {
		other := false
		for o := range h.boards[id] {
			other = other || o.caller.UserID == s.caller.UserID
		}
		if !other {
			alone = append(alone, id)
		}
	}
	h.open.Done()
	return alone
}

// shown tells the streams of a board to send who has it open.
func (h *Hub) shown(boardIDs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range boardIDs {
		for s := range h.boards[id] {
			s.markPresence(id)
		}
	}
}
