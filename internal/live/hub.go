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

const maxStreams = 20 // per person on this server

// Hub tracks the open streams of this server and the boards that they show.
type Hub struct {
	// Interval is the time between two comment lines, so that no proxy closes the connection as idle,
	// and between two records of a person's presence. It may be changed before the first stream.
	Interval time.Duration

	db       *store.DB
	log      *slog.Logger
	failures *backoff.Log

	mu      sync.Mutex
	boards  map[string]map[*stream]struct{} // streams by board id
	users   map[string]map[*stream]struct{} // streams by user id
	closed  bool
	running sync.WaitGroup // streams and background goroutines
	stop    chan struct{}  // closed by Close
	unwatch func()         // removes the callback for commits
}

// NewHub returns the hub of a server. The hub watches for changes until it is closed.
func NewHub(db *store.DB, log *slog.Logger) *Hub {
	h := &Hub{Interval: interval, db: db, log: log, failures: backoff.NewLog(log), boards: map[string]map[*stream]struct{}{},
		users: map[string]map[*stream]struct{}{}, stop: make(chan struct{})}
	h.unwatch = db.OnCommit(func(c store.Commit) {
		h.changed(c.Boards)
		h.notified(c.Notified)
	})
	h.running.Go(h.checkCallers)
	if db.Shared() {
		h.running.Go(h.poll)
	}
	return h
}

// Close tells the browsers to reconnect, so that another server can serve them, and ends
// all streams. It waits until all streams and background goroutines have ended.
func (h *Hub) Close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.stop)
	}
	h.mu.Unlock()
	h.unwatch()
	h.running.Wait()
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
		for s := range h.users[id] {
			s.markNotifications()
		}
	}
}

// join adds a stream. It returns an error if the hub is closed or the person already
// has maxStreams streams.
func (h *Hub) join(s *stream) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return &board.Fault{Code: board.CodeUnavailable, Cause: board.CauseOverload, Message: "The server is shutting down. " +
			"Reconnect.", RetryAfter: time.Second}
	case len(h.users[s.caller.UserID]) >= maxStreams:
		return &board.Fault{Code: board.CodeRateLimited, Reason: board.ReasonTooManyAtOnce, RetryAfter: 5 * time.Second,
			Message: fmt.Sprintf("You have %d open streams, which is the maximum. Close one and try again.", maxStreams)}
	}
	if h.users[s.caller.UserID] == nil {
		h.users[s.caller.UserID] = map[*stream]struct{}{}
	}
	h.users[s.caller.UserID][s] = struct{}{}
	for id := range s.sent {
		if h.boards[id] == nil {
			h.boards[id] = map[*stream]struct{}{}
		}
		h.boards[id][s] = struct{}{}
	}
	h.running.Add(1)
	return nil
}

// drop removes a stream from a board, so that changes of the board no longer wake it.
func (h *Hub) drop(s *stream, boardID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.boards[boardID], s)
	if len(h.boards[boardID]) == 0 {
		delete(h.boards, boardID)
	}
}

// leave removes a stream from the hub. It returns the ids of the stream's boards that
// the same person does not have open in another stream on this server.
func (h *Hub) leave(s *stream) (closed []string) {
	for id := range s.sent {
		h.drop(s, id)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if delete(h.users[s.caller.UserID], s); len(h.users[s.caller.UserID]) == 0 {
		delete(h.users, s.caller.UserID)
	}
	for id := range s.sent {
		other := false
		for o := range h.boards[id] {
			other = other || o.caller.UserID == s.caller.UserID
		}
		if !other {
			closed = append(closed, id)
		}
	}
	h.running.Done()
	return closed
}

// presenceChanged wakes the streams that show one of the boards, because the people who
// have these boards open may have changed.
func (h *Hub) presenceChanged(boardIDs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range boardIDs {
		for s := range h.boards[id] {
			s.markPresence(id)
		}
	}
}
