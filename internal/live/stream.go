package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

const (
	maxBoards       = 50                    // per stream
	maxChanges      = 200                   // per board and read
	gatherTime      = 10 * time.Millisecond // delay so that all changes of one request are read together
	interval        = 15 * time.Second      // default of Hub.Interval; half the time after which a visit expires
	writeTimeout    = 10 * time.Second
	recheckInterval = 2 * time.Second // interval of permission checks, even if nothing happens
	reconnectDelay  = 250 * time.Millisecond
	reconnectJitter = 1000 // milliseconds, so that browsers do not all reconnect at the same time
)

// stream is one connection from a browser.
type stream struct {
	hub               *Hub
	caller            board.Caller
	reauthenticate    func() error
	out               http.ResponseWriter
	ctl               *http.ResponseController
	sent              map[string]int64  // version that the browser has, by board
	people            map[string]string // viewers last sent, by board
	lastNotifications string            // notifications last sent

	mu      sync.Mutex
	dirty   map[string]bool // boards whose changes are to be sent
	present map[string]bool // boards whose viewers are to be sent
	unread  bool            // whether to check the notifications
	wake    chan struct{}   // receives a value when one of these fields is set

	ended   chan struct{} // closed when the caller is no longer authorized
	endOnce func()
}

// Serve handles GET …/live?boards=… until the caller disconnects, the server shuts
// down or the caller is no longer authorized. The function reauthenticate must return an
// error if the caller is no longer authorized. Without boards, Serve sends no events about
// boards, only those about notifications. It returns an error only before it has sent a
// response.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, caller board.Caller, reauthenticate func() error) error {
	ids := strings.FieldsFunc(r.URL.Query().Get("boards"), func(c rune) bool { return c == ',' })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > maxBoards {
		return board.Invalid("boards must contain at most %d ids, separated by commas.", maxBoards).
			In("boards", board.RuleValue)
	}
	s := &stream{
		hub: h, caller: caller, reauthenticate: reauthenticate, out: w, ctl: http.NewResponseController(w),
		sent: map[string]int64{}, people: map[string]string{},
		dirty: map[string]bool{}, present: map[string]bool{}, wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	s.endOnce = sync.OnceFunc(func() { close(s.ended) })
	var gone []string
	if err := h.db.Read(r.Context(), caller, func(v *store.View) error {
		gone = nil
		for _, id := range ids {
			b, err := v.Board(r.Context(), id, board.View)
			switch {
			case board.IsCode(err, board.CodeNotFound):
				gone = append(gone, id)
			case err != nil:
				return err
			default:
				s.sent[id] = b.Version
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := h.join(s); err != nil {
		return err
	}
	defer s.end(r.Context())
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // otherwise nginx buffers the events
	w.WriteHeader(http.StatusOK)
	s.run(r.Context(), gone)
	return nil
}

// end removes the stream. It records that the person has left the boards that the person
// does not have open in another stream on this server, and tells their other viewers.
func (s *stream) end(ctx context.Context) {
	closed := s.hub.leave(s)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	if err := s.hub.db.MarkAbsent(ctx, s.caller.UserID, closed); err != nil {
		s.hub.log.Debug("visit not ended", "error", err)
	}
	s.hub.presenceChanged(closed)
}

func (s *stream) markChanged(id string) { s.mark(s.dirty, id) }

func (s *stream) markPresence(id string) { s.mark(s.present, id) }

func (s *stream) markNotifications() {
	s.mu.Lock()
	s.unread = true
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// takeUnread reports whether the notifications are marked for a check, and clears
// the flag.
func (s *stream) takeUnread() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	marked := s.unread
	s.unread = false
	return marked
}

func (s *stream) mark(set map[string]bool, id string) {
	s.mu.Lock()
	set[id] = true
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// takeMarked returns the ids of the marked boards and clears the set.
func (s *stream) takeMarked(set map[string]bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(set))
	for id := range set {
		ids = append(ids, id)
	}
	clear(set)
	slices.Sort(ids)
	return ids
}

func (s *stream) run(ctx context.Context, gone []string) {
	var b bytes.Buffer
	event(&b, "hello", "", map[string]any{"boards": s.sent})
	for _, id := range gone {
		event(&b, "gone", "", map[string]any{"boardId": id})
	}
	if s.write(&b) != nil {
		return
	}
	s.recordPresence(ctx)
	if s.sendUpdates(ctx, nil, nil, true) != nil {
		return
	}
	tick, recheck := time.NewTicker(s.hub.Interval), time.NewTicker(recheckInterval)
	defer tick.Stop()
	defer recheck.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-s.ended:
			return
		case <-s.hub.stop:
			s.sendRetry(&b)
			return
		case <-s.wake:
			time.Sleep(gatherTime)
			err = s.sendUpdates(ctx, s.takeMarked(s.dirty), s.takeMarked(s.present), s.takeUnread())
		case <-recheck.C:
			err = s.sendUpdates(ctx, s.boards(), nil, false)
		case <-tick.C:
			s.recordPresence(ctx)
			b.WriteString(":\n\n")
			err = s.write(&b)
		}
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				s.hub.log.Debug("live stream ended", "error", err)
			}
			return
		}
	}
}

// sendRetry tells the browser to reconnect soon (WHATWG HTML, 9.2.6). Another server
// may accept the connection.
func (s *stream) sendRetry(b *bytes.Buffer) {
	var random [2]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	wait := reconnectDelay.Milliseconds() + int64(binary.BigEndian.Uint16(random[:]))%reconnectJitter
	fmt.Fprintf(b, "retry: %d\n", wait)
	event(b, "again", "", map[string]any{})
	_ = s.write(b) // fails only if the browser has disconnected
}

func (s *stream) boards() []string {
	ids := make([]string, 0, len(s.sent))
	for id := range s.sent {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// recordPresence records that the person has the boards open.
func (s *stream) recordPresence(ctx context.Context) {
	ids := s.boards()
	if err := s.hub.db.MarkPresent(ctx, s.caller.UserID, ids); err != nil {
		s.hub.log.Debug("visit not recorded", "error", err)
	}
	s.hub.presenceChanged(ids)
}

// change is an activity entry with the id of the browser tab that caused it.
type change struct {
	board.Entry
	Client *string `json:"client"`
}

// sendUpdates sends the changes to the boards in dirty that the browser does not have
// yet, and the viewers of the boards in present. If unread is set, it also sends the
// notifications. It omits viewers and notifications that have not changed. It removes
// boards in dirty that the caller can no longer see from the stream. It returns an error
// if the caller is no longer authorized.
func (s *stream) sendUpdates(ctx context.Context, dirty, present []string, unread bool) error {
	if err := s.reauthenticate(); err != nil {
		return err
	}
	var (
		b    bytes.Buffer
		lost []string
	)
	if err := s.hub.db.Read(ctx, s.caller, func(v *store.View) error {
		b.Reset()
		lost = nil
		for _, id := range dirty {
			if err := s.changes(ctx, v, id, &b, &lost); err != nil {
				return err
			}
		}
		for _, id := range present {
			if err := s.presence(ctx, v, id, &b); err != nil {
				return err
			}
		}
		if unread {
			return s.notifications(ctx, v, &b)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, id := range lost {
		delete(s.sent, id)
		s.hub.drop(s, id)
	}
	if b.Len() == 0 {
		return nil
	}
	return s.write(&b)
}

func (s *stream) changes(ctx context.Context, v *store.View, id string, b *bytes.Buffer, lost *[]string) error {
	since, open := s.sent[id]
	if !open {
		return nil
	}
	now, err := v.Board(ctx, id, board.View)
	if board.IsCode(err, board.CodeNotFound) {
		*lost = append(*lost, id)
		event(b, "gone", "", map[string]any{"boardId": id})
		return nil
	}
	if err != nil || now.Version <= since {
		return err
	}
	entries, err := v.Changes(ctx, id, since, maxChanges)
	if err != nil {
		return err
	}
	for _, e := range entries {
		event(b, "change", fmt.Sprintf("%s:%d", id, e.BoardVersion), change{e, e.Client})
		s.sent[id] = e.BoardVersion
	}
	if len(entries) == maxChanges {
		s.markChanged(id)
	}
	return nil
}

func (s *stream) presence(ctx context.Context, v *store.View, id string, b *bytes.Buffer) error {
	if _, open := s.sent[id]; !open {
		return nil
	}
	people, err := v.Present(ctx, id)
	if err != nil {
		return err
	}
	text := fmt.Sprint(people)
	if s.people[id] == text {
		return nil
	}
	s.people[id] = text
	event(b, "presence", "", map[string]any{"boardId": id, "people": people})
	return nil
}

// notifications writes an event with the number of unread notifications and the id of
// the newest one, if they have changed.
func (s *stream) notifications(ctx context.Context, v *store.View, b *bytes.Buffer) error {
	if s.caller.WorkspaceID != "" {
		return nil // they span all workspaces, but the token is limited to one
	}
	n, newest, err := v.Unread(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprint(n, newest)
	if s.lastNotifications == text {
		return nil
	}
	s.lastNotifications = text
	event(b, "notifications", "", map[string]any{"unread": n, "newest": newest})
	return nil
}

// event writes one event. Its data is one line of JSON.
func event(b *bytes.Buffer, name, id string, data any) {
	text, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		panic(fmt.Sprintf("live: encode an event: %v", err)) // a programming error
	}
	if id != "" {
		fmt.Fprintf(b, "id: %s\n", id)
	}
	fmt.Fprintf(b, "event: %s\ndata: %s\n\n", name, text)
}

func (s *stream) write(b *bytes.Buffer) error {
	_ = s.ctl.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every test's ResponseWriter supports deadlines
	if _, err := s.out.Write(b.Bytes()); err != nil {
		return err
	}
	b.Reset()
	return s.ctl.Flush()
}
