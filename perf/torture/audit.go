package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// entry is a change to a board.
type entry struct {
	BoardVersion int64
	Type         string
	CardID       string
}

// card is a card as list_cards returns it.
type card struct {
	ID, Title, Description string
	Done                   bool
	Comments               int
}

// deliveryTimeout is how long deliveries and the runs of the rule may take after the last failure has ended.
const deliveryTimeout = 90 * time.Second

// audit retries the unacknowledged writes and then compares the data and the deliveries with the ledger. Each
// acknowledged write must exist exactly once. The versions of a board must have no gaps. Each committed change must
// have been delivered to its webhook with one id, and nothing else may have been delivered. cardwall doctor must find
// no problems.
func (w *workload) audit() error {
	w.unavailable = w.ledger.longest
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

// readBack returns all cards by title, and the kinds of the events that must have been delivered. The trial fails if
// the versions of a board have a gap.
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
					w.fail("board %s: version %d follows version %d", p.board, e.BoardVersion, next-1)
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

// eachPage calls visit with each page of a list. The path must contain a query, to which eachPage appends the cursor.
func eachPage[T any](w *workload, path string, visit func([]T)) error {
	for cursor := ""; ; {
		var page struct {
			Data       []T
			NextCursor string
		}
		if err := w.read(path+"&cursor="+cursor, &page); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		visit(page.Data)
		if cursor = page.NextCursor; cursor == "" {
			return nil
		}
	}
}

// compareWrites counts acknowledged writes that were lost and writes that were applied twice.
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
			w.fail("card %q was not created by a writer", title)
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

// compareEvents waits for the events in want. The trial fails if an event is missing or unexpected.
func (w *workload) compareEvents(want map[event]string) error {
	for deadline := time.Now().Add(deliveryTimeout); w.receiver.missing(want) > 0 && time.Now().Before(deadline); {
		if err := w.sleep(100 * time.Millisecond); err != nil {
			return err
		}
	}
	if err := w.sleep(500 * time.Millisecond); err != nil { // unexpected deliveries may arrive late
		return err
	}
	w.missing = w.receiver.missing(want)
	r := w.receiver
	r.mu.Lock()
	defer r.mu.Unlock()
	for e, kind := range want {
		if r.accepted[e] == 0 {
			w.fail("%s did not receive version %d of board %s (%s); attempted: %t", e.webhook, e.version, e.board, kind, r.ids[e] != "")
		}
	}
	ids := map[string]event{}
	for e, id := range r.ids {
		if kind, ok := want[e]; !ok {
			w.fail("%s received version %d of board %s (%s), which was not committed", e.webhook, e.version, e.board, r.kinds[e])
		} else if kind != r.kinds[e] {
			w.fail("%s received version %d of board %s as %s, want %s", e.webhook, e.version, e.board, r.kinds[e], kind)
		}
		if other, twice := ids[id]; twice {
			w.fail("events %v and %v have the same id %s", other, e, id)
		}
		ids[id] = e
	}
	for _, anomaly := range r.anomalies {
		w.fail("%s", anomaly)
	}
	return nil
}

// compareRules waits until the automation rule has run for each card on its board. The rule must run exactly once per
// card.
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
		w.fail("the rule did not run for %d cards, and ran %d extra times", missing, extra)
	}
	w.missing += missing
	w.duplicated += extra
	return nil
}

// logLine returns the first log line with the request id that a response contains, or an empty string. The line is
// indented and follows a newline.
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
