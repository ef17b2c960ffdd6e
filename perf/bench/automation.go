package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"cardwall/perf/client"
)

// These benchmarks show the cost of automation rules. They make 1,000 changes per second on one of three boards at a
// time: one without rules, one where a rule comments on the urgent cards (one in five), and one where a rule comments
// on every card. They also measure how soon the rules run.

const (
	automationRate  = 1000        // changes per second, by all clients together
	automationCards = 2000        // enough to keep each card below the limit on runs per minute within a window of 30 seconds
	automationWait  = time.Minute // longest wait for the rules to run
)

// pacedSource sends requests at a fixed rate, or more slowly if the responses take longer.
type pacedSource struct {
	source
	every time.Duration
	at    time.Time
}

func (s *pacedSource) next(r *client.Request) error {
	s.at = s.at.Add(s.every)
	if late := time.Since(s.at); late > 0 { // missed requests are not sent later
		s.at = s.at.Add(late)
	}
	time.Sleep(time.Until(s.at))
	return s.source.next(r)
}

// pacedUpdates returns the sources of a benchmark that renames the cards of the board with the given name. All clients
// together send automationRate requests per second.
func (s *suite) pacedUpdates(name string) prepareFunc {
	return onBoard(name, automationCards, func(b *board, i, clients int) source {
		every := time.Second * time.Duration(clients) / automationRate
		first := time.Now().Add(every * time.Duration(i) / time.Duration(clients))
		return &pacedSource{source: &updateSource{random: s.random(), cards: b.cards}, every: every, at: first}
	})
}

// ruleBenchmark measures changes to a board with a rule.
type ruleBenchmark struct {
	changes, runs string // names of the rows for the changes and for the runs
	board         string
	query         string         // condition of the rule; empty for all cards
	matches       func(int) bool // reports whether the condition is true for the card with this number
}

func ruleBenchmarks() []ruleBenchmark {
	return []ruleBenchmark{
		{nameRuleFifth, nameRuleFifthRuns, "With a rule for some", "label:Urgent", urgent},
		{nameRuleWith, nameRuleRuns, "With a rule", "", func(int) bool { return true }},
	}
}

// measureAutomation measures changes without a rule, changes with rules, and the runs of the rules.
func (s *suite) measureAutomation(ctx context.Context, srv *installation, f *fixture) error {
	run := func(name, board string) error {
		source, err := s.pacedUpdates(board)(ctx, f, s.clients)
		if err != nil {
			return err
		}
		return s.measureLoad(ctx, &load{name: name, clients: s.clients, pid: srv.Process.PID(), client: f.client, source: source})
	}
	if s.wants(nameRuleWithout, nameRuleFifth, nameRuleWith) {
		if err := run(nameRuleWithout, "Without rules"); err != nil {
			return err
		}
	}
	for _, m := range ruleBenchmarks() {
		if !s.wants(m.changes, m.runs) {
			continue
		}
		if err := s.measureRule(ctx, f, m, run); err != nil {
			return err
		}
	}
	return nil
}

// measureRule measures changes to a board with a rule, and the runs of the rule.
func (s *suite) measureRule(ctx context.Context, f *fixture, m ruleBenchmark, run func(name, board string) error) error {
	b, err := f.board(ctx, m.board, automationCards)
	if err != nil {
		return err
	}
	c := f.client()
	defer c.Close()
	var before struct {
		Version int64 `json:"version"`
	}
	if err := call(c, "PATCH", "/boards/"+b.id, map[string]any{"features": map[string]any{"automation": true}}, 200, &before); err != nil {
		return err
	}
	rule := map[string]any{"name": "Comment on renaming", "when": map[string]any{"event": "card_updated"}, "if": m.query,
		"then": []any{map[string]any{"operation": "add_comment", "input": map[string]any{"text": "{actor} renamed this to {card}."}}}}
	if err := callPath(c, "POST", applicationPath+"/boards/"+b.id+"/rules", rule, 201, nil); err != nil {
		return err
	}
	matches := map[string]bool{}
	for i, card := range b.cards {
		matches[card.id] = m.matches(i)
	}
	start := time.Now()
	if err := run(m.changes, m.board); err != nil {
		return err
	}
	return s.measureRuns(ctx, c, b, &runsBenchmark{name: m.runs, matches: matches, since: before.Version, start: start})
}

// boardChange is an entry in the list of changes of a board.
type boardChange struct {
	Type   string    `json:"type"`
	At     time.Time `json:"at"`
	CardID string    `json:"cardId"`
}

// runsBenchmark measures the rule runs that changes cause.
type runsBenchmark struct {
	name    string
	matches map[string]bool // ids of the cards for which the rule must run
	since   int64           // board version before the changes
	start   time.Time
}

// measureRuns waits until the rule has run for each matching change and measures the time from the change to the run.
// It returns an error if the rule runs too often or for a card that it must not match.
func (s *suite) measureRuns(ctx context.Context, c *client.Client, b *board, m *runsBenchmark) error {
	res := &result{name: m.name, clients: s.clients, units: 1}
	since := m.since
	waiting := map[string][]time.Time{} // times of the changes for which the rule has not run, by card
	var last time.Time
	changes, pending := 0, 0
	for deadline := time.Now().Add(automationWait); ; {
		var page []boardChange
		if err := call(c, "GET", "/boards/"+b.id+"/changes?limit=200&since="+strconv.FormatInt(since, 10), nil, 200, &page); err != nil {
			return err
		}
		since += int64(len(page))
		for _, e := range page {
			switch e.Type {
			case "card.updated":
				if !m.matches[e.CardID] {
					continue
				}
				waiting[e.CardID] = append(waiting[e.CardID], e.At)
				changes++
				pending++
			case "comment.added":
				if len(waiting[e.CardID]) == 0 {
					return fmt.Errorf("card %s has more comments than matching changes", e.CardID)
				}
				res.latency.Add(e.At.Sub(waiting[e.CardID][0]))
				waiting[e.CardID], last = waiting[e.CardID][1:], e.At
				pending--
			}
		}
		if len(page) > 0 {
			continue
		}
		if pending == 0 || time.Now().After(deadline) || ctx.Err() != nil {
			break
		}
		sleepUntil(ctx, time.Now().Add(50*time.Millisecond))
	}
	res.elapsed = last.Sub(m.start)
	if res.errors = pending; pending > 0 {
		s.progress("  error: the rule did not run for %d of %d changes", pending, changes)
	}
	s.rows = append(s.rows, row{name: m.name, result: res})
	return ctx.Err()
}
