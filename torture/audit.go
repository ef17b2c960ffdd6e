package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// entry is a change as the board's own list of changes has it.
type entry struct {
	BoardVersion int64
	Type         string
	CardID       string
}

// card is a card as its list shows it.
type card struct {
	ID, Title, Description string
	Done                   bool
	Comments               int
}

// eventsPatience is how long deliveries may take to come once everything is well again.
const eventsPatience = 90 * time.Second

// audit sends again what was not answered, reads everything back and compares: each acknowledged write is there once, each
// board's versions have no gap, each committed change came to its webhook under one id, and nothing else did.
func (s *site) audit() error {
	s.unavailable = s.ledger.worst
	err := s.settle()
	for _, odd := range s.ledger.odd {
		s.fault("%s%s", odd, s.reason(odd))
	}
	if err != nil {
		return err
	}
	s.acknowledged = s.ledger.acknowledgedNow()
	cards, want, err := s.readBack()
	if err != nil {
		return err
	}
	s.compareWrites(cards, want)
	if err := s.compareEvents(want); err != nil {
		return err
	}
	if err := s.compareRules(); err != nil {
		return err
	}
	if s.lost > 0 {
		s.fault("%d acknowledged writes are lost", s.lost)
	}
	if s.duplicated > 0 {
		s.fault("%d writes are there twice", s.duplicated)
	}
	if s.missing > 0 {
		s.fault("%d events never came", s.missing)
	}
	return s.nodes[0].doctor(s.ctx)
}

// readBack reads all cards, by title, and what their webhooks must have got.
func (s *site) readBack() (cards map[string][]card, want map[arrival]string, err error) {
	cards, want = map[string][]card{}, map[arrival]string{}
	for _, p := range append([]*place{s.secret}, s.boards...) {
		if err := eachPage(s, "/boards/"+p.board+"/cards?limit=200", func(page []card) {
			for _, c := range page {
				cards[c.Title] = append(cards[c.Title], c)
			}
		}); err != nil {
			return nil, nil, err
		}
		next := int64(1)
		if err := eachPage(s, "/boards/"+p.board+"/changes?since=0&limit=200", func(page []entry) {
			for _, e := range page {
				if e.BoardVersion != next {
					s.fault("version %d of %s follows on %d", e.BoardVersion, p.board, next-1)
				}
				next = e.BoardVersion + 1
				if p.webhook != "" && e.BoardVersion > p.from && slices.Contains(wantedKinds(), e.Type) {
					want[arrival{p.webhook, p.board, e.BoardVersion}] = e.Type
				}
			}
		}); err != nil {
			return nil, nil, err
		}
	}
	return cards, want, nil
}

// eachPage reads a list page by page.
func eachPage[T any](s *site, path string, do func([]T)) error {
	for cursor := ""; ; {
		var page struct {
			Data       []T
			NextCursor string
		}
		if err := s.read(path+"&cursor="+cursor, &page); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		do(page.Data)
		if cursor = page.NextCursor; cursor == "" {
			return nil
		}
	}
}

// compareWrites looks for each write: an acknowledged one must be there once, as it was acknowledged.
func (s *site) compareWrites(cards map[string][]card, committed map[arrival]string) {
	byID := map[string]card{}
	for title, all := range cards {
		for _, c := range all {
			byID[c.ID] = c
		}
		if len(all) > 1 {
			s.duplicated += len(all) - 1
		}
		if w := s.ledger.writes[title]; w == nil {
			s.fault("there is a card %q that nobody asked for", title)
		}
	}
	for _, w := range s.ledger.writes {
		if !w.acknowledged {
			continue
		}
		there := false
		if w.card == "" {
			for _, c := range cards[w.key] {
				there = there || c.ID == w.id
			}
		} else {
			c := byID[w.card]
			there = c.Description == w.key && c.Done
		}
		if !w.secret {
			_, known := committed[arrival{w.to.webhook, w.to.board, w.version}]
			there = there && known
		}
		if !there {
			s.lost++
		}
	}
}

// compareEvents waits for what must come, and refuses what must not.
func (s *site) compareEvents(want map[arrival]string) error {
	for deadline := time.Now().Add(eventsPatience); s.receiver.missing(want) > 0 && time.Now().Before(deadline); {
		if err := s.rest(100 * time.Millisecond); err != nil {
			return err
		}
	}
	if err := s.rest(500 * time.Millisecond); err != nil { // what is too much comes a little later
		return err
	}
	s.missing = s.receiver.missing(want)
	r := s.receiver
	r.mu.Lock()
	defer r.mu.Unlock()
	for a, kind := range want {
		if r.taken[a] == 0 {
			s.fault("%s never got version %d of %s, %s; attempted: %t", a.webhook, a.version, a.board, kind, r.ids[a] != "")
		}
	}
	ids := map[string]arrival{}
	for a, id := range r.ids {
		if kind, ok := want[a]; !ok {
			s.fault("%s got version %d of %s, a %s that was never committed", a.webhook, a.version, a.board, r.kinds[a])
		} else if kind != r.kinds[a] {
			s.fault("%s got version %d of %s as %s, and it is %s", a.webhook, a.version, a.board, r.kinds[a], kind)
		}
		if other, twice := ids[id]; twice {
			s.fault("%s is the id of %v and of %v", id, other, a)
		}
		ids[id] = a
	}
	for _, odd := range r.odd {
		s.fault("%s", odd)
	}
	return nil
}

// compareRules waits until the rule of the board that has one has run for each of its cards, once.
func (s *site) compareRules() error {
	if s.ruled == nil {
		return nil
	}
	none, often := 1, 0
	for deadline := time.Now().Add(eventsPatience); none > 0 && time.Now().Before(deadline); {
		none, often = 0, 0
		if err := eachPage(s, "/boards/"+s.ruled.board+"/cards?limit=200&view=compact", func(page []card) {
			for _, c := range page {
				if c.Comments == 0 {
					none++
				}
				often += max(0, c.Comments-1)
			}
		}); err != nil {
			return err
		}
		if err := s.rest(100 * time.Millisecond); err != nil {
			return err
		}
	}
	if none+often > 0 {
		s.fault("a rule did not run for %d of its cards, and more than once for %d", none, often)
	}
	s.missing += none
	s.duplicated += often
	return nil
}

// reason is what a server's log says of the request that an answer names; empty when it names none.
func (s *site) reason(answer string) string {
	id := regexp.MustCompile(`req_\w+`).FindString(answer)
	if id == "" {
		return ""
	}
	for _, n := range s.nodes {
		log, err := os.ReadFile(n.logPath)
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
