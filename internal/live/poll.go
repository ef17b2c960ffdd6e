package live

import (
	"context"
	"slices"
	"time"
)

const (
	pollEvery    = 250 * time.Millisecond // interval of reading the versions of boards, which other servers change too
	presentEvery = 4                      // polls between two reads of who has the boards open
	callersEvery = time.Second            // checks whether the callers of streams are still authorized
	pollTimeout  = 5 * time.Second
)

// Log messages for failing tasks.
const (
	cannotPoll         = "changes of other servers not read"
	cannotCheckCallers = "authorization of live streams not checked"
)

// poll reads the changes of other servers periodically.
func (h *Hub) poll() {
	rest := time.NewTimer(pollEvery)
	defer rest.Stop()
	last, marks, there := map[string]int64{}, map[string]string{}, map[string][]string{}
	for n := 0; ; n++ {
		select {
		case <-h.stop:
			return
		case <-rest.C:
		}
		rest.Reset(pollEvery)
		ids, people := h.watched()
		if len(people) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), pollTimeout)
		versions, err := h.db.Versions(ctx, ids)
		now := map[string]string{}
		if err == nil {
			now, err = h.db.NotificationVersions(ctx, people)
		}
		if err == nil && n%presentEvery == 0 {
			there, err = h.pollPresence(ctx, ids, there)
		}
		cancel()
		if err != nil {
			rest.Reset(h.failures.Failed(cannotPoll, err))
			continue
		}
		h.failures.Succeeded(cannotPoll)
		var moved []string
		for _, id := range ids {
			if v, there := versions[id]; !there || v != last[id] {
				moved = append(moved, id)
			}
		}
		last = versions
		h.changed(moved)
		var notified []string
		for _, id := range people {
			if now[id] != marks[id] {
				notified = append(notified, id)
			}
		}
		marks = now
		h.notified(notified)
	}
}

// watched returns the boards and the people of the streams.
func (h *Hub) watched() (boardIDs, userIDs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.boards {
		boardIDs = append(boardIDs, id)
	}
	for id := range h.persons {
		userIDs = append(userIDs, id)
	}
	return boardIDs, userIDs
}

// pollPresence notifies the streams of boards whose viewers have changed, and
// returns the viewers. If another server has recorded a person as gone who
// is still connected here, the person is recorded again.
func (h *Hub) pollPresence(ctx context.Context, boardIDs []string, before map[string][]string) (map[string][]string, error) {
	there, err := h.db.PresentOn(ctx, boardIDs)
	if err != nil {
		return before, err
	}
	missed := map[string][]string{} // person to boards
	h.mu.Lock()
	for _, id := range boardIDs {
		for s := range h.boards[id] {
			if user := s.caller.UserID; !slices.Contains(there[id], user) && !slices.Contains(missed[user], id) {
				missed[user] = append(missed[user], id)
			}
		}
	}
	h.mu.Unlock()
	for user, ids := range missed {
		if err := h.db.MarkPresent(ctx, user, ids); err != nil {
			return before, err
		}
	}
	var other []string
	for _, id := range boardIDs {
		if !slices.Equal(there[id], before[id]) {
			other = append(other, id)
		}
	}
	h.shown(other)
	return there, nil
}

// checkCallers ends the streams of callers who are no longer authorized.
func (h *Hub) checkCallers() {
	tick := time.NewTicker(callersEvery)
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-tick.C:
		}
		streams := map[string][]*stream{} // session or token id to streams
		h.mu.Lock()
		for _, all := range h.persons {
			for s := range all {
				if id := s.caller.SessionID + s.caller.TokenID; id != "" { // each caller has one of the two
					streams[id] = append(streams[id], s)
				}
			}
		}
		h.mu.Unlock()
		if len(streams) == 0 {
			continue
		}
		ids := make([]string, 0, len(streams))
		for id := range streams {
			ids = append(ids, id)
		}
		ctx, cancel := context.WithTimeout(context.Background(), pollTimeout)
		valid, err := h.db.ValidCredentials(ctx, ids)
		cancel()
		if err != nil {
			h.failures.Failed(cannotCheckCallers, err)
			continue
		}
		h.failures.Succeeded(cannotCheckCallers)
		for id, all := range streams {
			for _, s := range all {
				if !valid[id] {
					s.endOnce()
				}
			}
		}
	}
}
