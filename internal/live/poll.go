package live

import (
	"context"
	"slices"
	"time"
)

const (
	pollInterval    = 250 * time.Millisecond // time between reads of the board versions
	pollsPerPresent = 4                      // polls per read of the people who have the boards open
	callersInterval = time.Second            // time between checks that callers are still authorized
	pollTimeout     = 5 * time.Second
)

// Log messages for failing tasks.
const (
	cannotPoll         = "changes of other servers not read"
	cannotCheckCallers = "authorization of live streams not checked"
)

// poll looks periodically for changes made on other servers to the boards, notifications
// and viewers of the open streams, and wakes these streams. It returns when the hub is
// closed.
func (h *Hub) poll() {
	timer := time.NewTimer(pollInterval)
	defer timer.Stop()
	last, lastNotified, present := map[string]int64{}, map[string]string{}, map[string][]string{}
	for n := 0; ; n++ {
		select {
		case <-h.stop:
			return
		case <-timer.C:
		}
		timer.Reset(pollInterval)
		ids, people := h.watched()
		if len(people) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), pollTimeout)
		versions, err := h.db.Versions(ctx, ids)
		notifications := map[string]string{}
		if err == nil {
			notifications, err = h.db.NotificationVersions(ctx, people)
		}
		if err == nil && n%pollsPerPresent == 0 {
			present, err = h.pollPresence(ctx, ids, present)
		}
		cancel()
		if err != nil {
			timer.Reset(h.failures.Failed(cannotPoll, err))
			continue
		}
		h.failures.Succeeded(cannotPoll)
		var changed []string
		for _, id := range ids {
			if v, ok := versions[id]; !ok || v != last[id] {
				changed = append(changed, id)
			}
		}
		last = versions
		h.changed(changed)
		var notified []string
		for _, id := range people {
			if notifications[id] != lastNotified[id] {
				notified = append(notified, id)
			}
		}
		lastNotified = notifications
		h.notified(notified)
	}
}

// watched returns the ids of the boards and people of the open streams.
func (h *Hub) watched() (boardIDs, userIDs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.boards {
		boardIDs = append(boardIDs, id)
	}
	for id := range h.users {
		userIDs = append(userIDs, id)
	}
	return boardIDs, userIDs
}

// pollPresence wakes the streams of boards whose viewers differ from those in before. It
// returns the current viewers. If another server has recorded a person as absent and the
// person is still connected to this server, pollPresence records the person as present
// again.
func (h *Hub) pollPresence(ctx context.Context, boardIDs []string, before map[string][]string) (map[string][]string, error) {
	present, err := h.db.PresentOn(ctx, boardIDs)
	if err != nil {
		return before, err
	}
	missed := map[string][]string{} // person to boards
	h.mu.Lock()
	for _, id := range boardIDs {
		for s := range h.boards[id] {
			if user := s.caller.UserID; !slices.Contains(present[id], user) && !slices.Contains(missed[user], id) {
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
	var changed []string
	for _, id := range boardIDs {
		if !slices.Equal(present[id], before[id]) {
			changed = append(changed, id)
		}
	}
	h.presenceChanged(changed)
	return present, nil
}

// checkCallers ends the streams of callers who are no longer authorized, until the hub is
// closed.
func (h *Hub) checkCallers() {
	tick := time.NewTicker(callersInterval)
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-tick.C:
		}
		streams := map[string][]*stream{} // session or token id to streams
		h.mu.Lock()
		for _, all := range h.users {
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
