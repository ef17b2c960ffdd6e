package fleet

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

// Result is what Audit found.
type Result struct {
	Acknowledged int           // number of acknowledged writes
	Lost         int           // acknowledged writes that do not exist
	Duplicated   int           // writes and runs of the rule that had an effect twice
	Missing      int           // events and runs of the rule that did not arrive
	Unavailable  time.Duration // longest time without an acknowledgment
	Problems     []string      // what is wrong, including all of the above
}

// audit compares a fleet with its ledger.
type audit struct {
	*Fleet
	Result
}

func (a *audit) fail(format string, args ...any) {
	a.Problems = append(a.Problems, fmt.Sprintf(format, args...))
}

// Audit retries the unacknowledged writes and then compares the data and the deliveries with the ledger. Each
// acknowledged write must exist exactly once. The versions of a board must have no gaps. Each committed change must
// have been delivered to its webhook with one id, and nothing else may have been delivered. cardwall doctor must find
// no problems.
func (f *Fleet) Audit() (Result, error) {
	a := &audit{Fleet: f}
	err := a.run()
	return a.Result, err
}

func (a *audit) run() error {
	a.Unavailable = a.Ledger.Longest()
	err := a.resubmit()
	for _, anomaly := range a.Ledger.reported() {
		a.fail("%s%s", anomaly, a.logLine(anomaly))
	}
	if err != nil {
		return err
	}
	want, err := a.countLost()
	if err != nil {
		return err
	}
	if err := a.compareEvents(want); err != nil {
		return err
	}
	if err := a.compareRules(); err != nil {
		return err
	}
	if a.Lost > 0 {
		a.fail("%d acknowledged writes were lost", a.Lost)
	}
	if a.Duplicated > 0 {
		a.fail("%d writes were applied twice", a.Duplicated)
	}
	if a.Missing > 0 {
		a.fail("%d events were not delivered", a.Missing)
	}
	return a.Servers[0].Doctor(a.ctx)
}

// CountLost reads all data back and counts the acknowledged writes that were lost or applied twice. Unlike Audit, it
// sends no writes and ignores deliveries.
func (f *Fleet) CountLost() (Result, error) {
	a := &audit{Fleet: f}
	a.Unavailable = a.Ledger.Longest()
	_, err := a.countLost()
	return a.Result, err
}

// countLost is like CountLost, and returns the kinds of the events that must have been delivered.
func (a *audit) countLost() (want map[event]string, err error) {
	a.Acknowledged = a.Ledger.Acknowledged()
	cards, want, err := a.readBack()
	if err == nil {
		a.compareWrites(cards, want)
	}
	return want, err
}

// readBack returns all cards by title, and the kinds of the events that must have been delivered. It reports a problem if
// the versions of a board have a gap.
func (a *audit) readBack() (cards map[string][]card, want map[event]string, err error) {
	cards, want = map[string][]card{}, map[event]string{}
	silent := a.Ledger.silentCards()
	for _, p := range append([]*Board{a.Confidential}, a.Boards...) {
		if err := EachPage(a.Fleet, "/boards/"+p.ID+"/cards?limit=200", func(page []card) {
			for _, c := range page {
				cards[c.Title] = append(cards[c.Title], c)
			}
		}); err != nil {
			return nil, nil, err
		}
		next := int64(1)
		if err := EachPage(a.Fleet, "/boards/"+p.ID+"/changes?since=0&limit=200", func(page []entry) {
			for _, e := range page {
				if e.BoardVersion != next {
					a.fail("board %s: version %d follows version %d", p.ID, e.BoardVersion, next-1)
				}
				next = e.BoardVersion + 1
				if p.webhook != "" && e.BoardVersion > p.since && !silent[e.CardID] && slices.Contains(subscribedKinds(), e.Type) {
					want[event{p.webhook, p.ID, e.BoardVersion}] = e.Type
				}
			}
		}); err != nil {
			return nil, nil, err
		}
	}
	return cards, want, nil
}

// EachPage calls visit with each page of a list. The path must contain a query, to which EachPage appends the cursor.
func EachPage[T any](f *Fleet, path string, visit func([]T)) error {
	for cursor := ""; ; {
		var page struct {
			Data       []T
			NextCursor string
		}
		if err := f.Read(path+"&cursor="+cursor, &page); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		visit(page.Data)
		if cursor = page.NextCursor; cursor == "" {
			return nil
		}
	}
}

// compareWrites counts acknowledged writes that were lost and writes that were applied twice.
func (a *audit) compareWrites(cards map[string][]card, committed map[event]string) {
	byID := map[string]card{}
	for title, all := range cards {
		for _, c := range all {
			byID[c.ID] = c
		}
		if len(all) > 1 {
			a.Duplicated += len(all) - 1
		}
		if a.Ledger.writes[title] == nil {
			a.fail("card %q was not created by a writer", title)
		}
	}
	for _, sent := range a.Ledger.writes {
		if !sent.acknowledged {
			continue
		}
		found := false
		if sent.change == "" {
			found = slices.ContainsFunc(cards[sent.Key], func(c card) bool { return c.ID == sent.ID })
		} else {
			c := byID[sent.change]
			found = c.Description == sent.Key && c.Done
		}
		if !sent.Silent {
			_, known := committed[event{sent.To.webhook, sent.To.ID, sent.version}]
			found = found && known
		}
		if !found {
			a.Lost++
		}
	}
}

// compareEvents waits for the events in want. It reports events that are missing or unexpected.
func (a *audit) compareEvents(want map[event]string) error {
	for deadline := time.Now().Add(deliveryTimeout); a.Receiver.missing(want) > 0 && time.Now().Before(deadline); {
		if err := Sleep(a.ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	if err := Sleep(a.ctx, 500*time.Millisecond); err != nil { // unexpected deliveries may arrive late
		return err
	}
	a.Missing = a.Receiver.missing(want)
	r := a.Receiver
	r.mu.Lock()
	defer r.mu.Unlock()
	for e, kind := range want {
		if r.accepted[e] == 0 {
			a.fail("%s did not receive version %d of board %s (%s); attempted: %t", e.webhook, e.version, e.board, kind, r.ids[e] != "")
		}
	}
	ids := map[string]event{}
	for e, id := range r.ids {
		if kind, ok := want[e]; !ok {
			a.fail("%s received version %d of board %s (%s), which was not committed", e.webhook, e.version, e.board, r.kinds[e])
		} else if kind != r.kinds[e] {
			a.fail("%s received version %d of board %s as %s, want %s", e.webhook, e.version, e.board, r.kinds[e], kind)
		}
		if other, twice := ids[id]; twice {
			a.fail("events %v and %v have the same id %s", other, e, id)
		}
		ids[id] = e
	}
	for _, anomaly := range r.anomalies {
		a.fail("%s", anomaly)
	}
	return nil
}

// compareRules waits until the automation rules of each board have run for each card that a writer created there. They
// must run exactly once per card.
func (a *audit) compareRules() error {
	for _, b := range a.Boards {
		if b.rules == 0 {
			continue
		}
		missing, extra := 1, 0
		for deadline := time.Now().Add(deliveryTimeout); missing > 0 && time.Now().Before(deadline); {
			missing, extra = 0, 0
			if err := EachPage(a.Fleet, "/boards/"+b.ID+"/cards?limit=200&view=compact", func(page []card) {
				for _, c := range page {
					if sent := a.Ledger.writes[c.Title]; sent != nil && !sent.Silent {
						missing += max(0, b.rules-c.Comments)
						extra += max(0, c.Comments-b.rules)
					}
				}
			}); err != nil {
				return err
			}
			if err := Sleep(a.ctx, 100*time.Millisecond); err != nil {
				return err
			}
		}
		if missing+extra > 0 {
			a.fail("board %s: the rules ran %d times too few and %d times too many", b.ID, missing, extra)
		}
		a.Missing += missing
		a.Duplicated += extra
	}
	return nil
}

// logLine returns the first log line with the request id that a response contains, or an empty string. The line is
// indented and follows a newline.
func (a *audit) logLine(response string) string {
	id := regexp.MustCompile(`req_\w+`).FindString(response)
	if id == "" {
		return ""
	}
	for _, n := range a.Servers {
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
