package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// entry is an entry of a board's list of changes.
type entry struct {
	BoardVersion int64
	Type         string
	CardID       string
}

// card is a card in the list of a board.
type card struct {
	ID, Title, Description string
	Done                   bool
	Comments               int
}

// deliveryTimeout is how long deliveries may take after everything works again.
const deliveryTimeout = 90 * time.Second

// audit sends the unacknowledged writes again, reads everything back and compares. Each acknowledged write must exist once,
// the versions of a board must have no gap, and each committed change must have been delivered to its webhook under one
// id, and nothing else.
func (w *workload) audit() error {
	w.unavailable = w.ledger.worst
	err := w.resubmit()
	for _, anomaly := range w.ledger.anomalies {
		w.fail("%s%s", anomaly, w.logLine(anomaly))
	}
	if err != nil {
		return err
	}
	w.acknowledged = w.ledger.acknowledgedCount()
	cards, want, err := w.readBack()
	if err != nil {
		return err
	}
	w.compareWrites(cards, want)
	if err := w.compareEvents(want); err != nil {
		return err
	}
	if err := w.compareRules(); err != nil {
		return err
	}
	if w.lost > 0 {
		w.fail("%d acknowledged writes were lost", w.lost)
	}
	if w.duplicated > 0 {
		w.fail("%d writes were applied twice", w.duplicated)
	}
	if w.missing > 0 {
		w.fail("%d events were not delivered", w.missing)
	}
	return w.nodes[0].Doctor(w.ctx)
}

// readBack returns all cards by title, and the kinds of the events that must have been delivered.
func (w *workload) readBack() (cards map[string][]card, want map[event]string, err error) {
	cards, want = map[string][]card{}, map[event]string{}
	for _, p := range append([]*target{w.confidential}, w.boards...) {
		if err := eachPage(w, "/boards/"+p.board+"/cards?limit=200", func(page []card) {
			for _, c := range page {
				cards[c.Title] = append(cards[c.Title], c)
			}
		}); err != nil {
			return nil, nil, err
		}
		next := int64(1)
		if err := eachPage(w, "/boards/"+p.board+"/changes?since=0&limit=200", func(page []entry) {
			for _, e := range page {
				if e.BoardVersion != next {
					w.fail("version %d of %s follows version %d", e.BoardVersion, p.board, next-1)
				}
				next = e.BoardVersion + 1
				if p.webhook != "" && e.BoardVersion > p.since && slices.Contains(subscribedKinds(), e.Type) {
					want[event{p.webhook, p.board, e.BoardVersion}] = e.Type
				}
			}
		}); err != nil {
			return nil, nil, err
		}
	}
	return cards, want, nil
}

// eachPage calls do with each page of a list.
func eachPage[T any](w *workload, path string, do func([]T)) error {
	for cursor := ""; ; {
		var page struct {
			Data       []T
			NextCursor string
		}
		if err := w.read(path+"&cursor="+cursor, &page); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		do(page.Data)
		if cursor = page.NextCursor; cursor == "" {
			return nil
		}
	}
}

// compareWrites checks that every acknowledged write exists once, as it was acknowledged.
func (w *workload) compareWrites(cards map[string][]card, committed map[event]string) {
	byID := map[string]card{}
	for title, all := range cards {
		for _, c := range all {
			byID[c.ID] = c
		}
		if len(all) > 1 {
			w.duplicated += len(all) - 1
		}
		if w.ledger.writes[title] == nil {
			w.fail("there is a card %q that no writer created", title)
		}
	}
	for _, sent := range w.ledger.writes {
		if !sent.acknowledged {
			continue
		}
		found := false
		if sent.card == "" {
			found = slices.ContainsFunc(cards[sent.key], func(c card) bool { return c.ID == sent.id })
		} else {
			c := byID[sent.card]
			found = c.Description == sent.key && c.Done
		}
		if !sent.confidential {
			_, known := committed[event{sent.to.webhook, sent.to.board, sent.version}]
			found = found && known
		}
		if !found {
			w.lost++
		}
	}
}

// compareEvents waits for the wanted events, and fails the trial if others were delivered.
func (w *workload) compareEvents(want map[event]string) error {
	for deadline := time.Now().Add(deliveryTimeout); w.receiver.missing(want) > 0 && time.Now().Before(deadline); {
		if err := w.sleep(100 * time.Millisecond); err != nil {
			return err
		}
	}
	if err := w.sleep(500 * time.Millisecond); err != nil { // for deliveries that should not arrive
		return err
	}
	w.missing = w.receiver.missing(want)
	r := w.receiver
	r.mu.Lock()
	defer r.mu.Unlock()
	for e, kind := range want {
		if r.accepted[e] == 0 {
			w.fail("%s did not receive version %d of %s, a %s; attempted: %t", e.webhook, e.version, e.board, kind, r.ids[e] != "")
		}
	}
	ids := map[string]event{}
	for e, id := range r.ids {
		if kind, ok := want[e]; !ok {
			w.fail("%s received version %d of %s, a %s that was not committed", e.webhook, e.version, e.board, r.kinds[e])
		} else if kind != r.kinds[e] {
			w.fail("%s received version %d of %s as %s instead of %s", e.webhook, e.version, e.board, r.kinds[e], kind)
		}
		if other, twice := ids[id]; twice {
			w.fail("the events %v and %v have the same id %s", other, e, id)
		}
		ids[id] = e
	}
	for _, anomaly := range r.anomalies {
		w.fail("%s", anomaly)
	}
	return nil
}

// compareRules waits until the automation rule has run for each card of its board, and checks that it ran once.
func (w *workload) compareRules() error {
	if w.automated == nil {
		return nil
	}
	missing, extra := 1, 0
	for deadline := time.Now().Add(deliveryTimeout); missing > 0 && time.Now().Before(deadline); {
		missing, extra = 0, 0
		if err := eachPage(w, "/boards/"+w.automated.board+"/cards?limit=200&view=compact", func(page []card) {
			for _, c := range page {
				if c.Comments == 0 {
					missing++
				}
				extra += max(0, c.Comments-1)
			}
		}); err != nil {
			return err
		}
		if err := w.sleep(100 * time.Millisecond); err != nil {
			return err
		}
	}
	if missing+extra > 0 {
		w.fail("the rule did not run for %d cards, and ran %d times too often", missing, extra)
	}
	w.missing += missing
	w.duplicated += extra
	return nil
}

// logLine returns the line of a server's log for the request that a response names, or an empty string if there is none.
func (w *workload) logLine(response string) string {
	id := regexp.MustCompile(`req_\w+`).FindString(response)
	if id == "" {
		return ""
	}
	for _, n := range w.nodes {
		log, err := os.ReadFile(n.LogPath)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, id) {
				return "\n    " + line[:min(len(line), 600)]
			}
		}
	}
	return ""
}
