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
	maxBoards    = 50  // per stream
	maxChanges   = 200 // per board and event
	gather       = 10 * time.Millisecond
	beatEvery    = 15 * time.Second // interval of comment lines, so that no proxy closes the connection as idle
	seenEvery    = 15 * time.Second // half of the time for which a visit counts
	writeTime    = 10 * time.Second
	recheckEvery = 2 * time.Second // of permissions, even if nothing happens
	returnsAfter = 250 * time.Millisecond
	returnSpread = 1000 // milliseconds of jitter, so that not all reconnect at once
)

// stream is one connection of a browser.
type stream struct {
	hub               *Hub
	caller            board.Caller
	still             func() error
	out               http.ResponseWriter
	ctl               *http.ResponseController
	sent              map[string]int64  // board to the version that the browser has
	people            map[string]string // board to the viewers last sent
	lastNotifications string            // as they were last sent

	mu      sync.Mutex
	dirty   map[string]bool
	present map[string]bool
	unread  bool // whether to check the notifications
	wake    chan struct{}

	ended   chan struct{} // closed when the caller is no longer authorized
	endOnce func()
}

// Serve handles GET …/live?boards=… until the caller disconnects, the server
// stops or the caller is no longer authorized. Without boards it sends only the
// number of unread notifications. It returns an error only before it has sent a
// response.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, caller board.Caller, still func() error) error {
	ids := strings.FieldsFunc(r.URL.Query().Get("boards"), func(c rune) bool { return c == ',' })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if len(ids) > maxBoards {
		return board.Invalid("boards must contain at most %d ids, separated by commas.", maxBoards).
			In("boards", board.RuleValue)
	}
	s := &stream{
		hub: h, caller: caller, still: still, out: w, ctl: http.NewResponseController(w), sent: map[string]int64{}, people: map[string]string{},
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

// end tells other viewers that the person has left.
func (s *stream) end(ctx context.Context) {
	alone := s.hub.leave(s)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	if err := s.hub.db.MarkAbsent(ctx, s.caller.UserID, alone); err != nil {
		s.hub.log.Debug("visit not ended", "error", err)
	}
	s.hub.shown(alone)
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

// takeUnread reports whether the notifications were marked for a check, and
// clears the mark.
func (s *stream) takeUnread() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	noted := s.unread
	s.unread = false
	return noted
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

// takeMarked returns the marked boards and clears the marks.
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
	s.seen(ctx)
	if s.tell(ctx, nil, nil, true) != nil {
		return
	}
	beat, seen, recheck := time.NewTicker(beatEvery), time.NewTicker(seenEvery), time.NewTicker(recheckEvery)
	defer beat.Stop()
	defer seen.Stop()
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
			time.Sleep(gather) // all changes of one request are read together
			err = s.tell(ctx, s.takeMarked(s.dirty), s.takeMarked(s.present), s.takeUnread())
		case <-recheck.C:
			err = s.tell(ctx, s.boards(), nil, false)
		case <-seen.C:
			s.seen(ctx)
		case <-beat.C:
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

// sendRetry tells the browser to reconnect soon (WHATWG HTML, 9.2.6), to
// whichever server is available then.
func (s *stream) sendRetry(b *bytes.Buffer) {
	var chance [2]byte
	_, _ = rand.Read(chance[:]) // never fails (crypto/rand)
	wait := returnsAfter.Milliseconds() + int64(binary.BigEndian.Uint16(chance[:]))%returnSpread
	fmt.Fprintf(b, "retry: %d\n", wait)
	event(b, "again", "", map[string]any{})
	_ = s.write(b) // the browser may be gone
}

func (s *stream) boards() []string {
	ids := make([]string, 0, len(s.sent))
	for id := range s.sent {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// seen records that the person has the boards open.
func (s *stream) seen(ctx context.Context) {
	ids := s.boards()
	if err := s.hub.db.MarkPresent(ctx, s.caller.UserID, ids); err != nil {
		s.hub.log.Debug("visit not recorded", "error", err)
	}
	s.hub.shown(ids)
}

// change is an entry with the id of the tab that caused it.
type change struct {
	board.Entry
	Client *string `json:"client"`
}

// tell sends the changes of dirty boards since the last call, the people who have the
// present boards open and, if it has changed, the number of unread notifications.
func (s *stream) tell(ctx context.Context, dirty, present []string, unread bool) error {
	if err := s.still(); err != nil {
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

// notifications sends the number of unread notifications and the newest one, if
// they have changed.
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
	_ = s.ctl.SetWriteDeadline(time.Now().Add(writeTime)) // not every test's ResponseWriter supports deadlines
	if _, err := s.out.Write(b.Bytes()); err != nil {
		return err
	}
	b.Reset()
	return s.ctl.Flush()
}
