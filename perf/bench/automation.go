package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"cardwall/perf/client"
)

// The cost of a rule: 1,000 changes per second on a board without rules; the same on a board where a rule checks each change
// and comments on the urgent cards, which are every fifth; the same where it comments on every card; and the runs of the rules.

const (
	automationRate  = 1000 // changes per second of all clients
	automationCards = 2000 // enough that no card exceeds the limit of runs per minute in a window of half a minute
	automationWait  = time.Minute
)

// pacedSource sends requests at a fixed rate, or more slowly if the responses are slower.
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

// pacedUpdates renames cards of a board, automationRate per second by all clients together.
func (s *suite) pacedUpdates(name string) func(context.Context, *fixture, int) (func(int) source, error) {
	return func(ctx context.Context, f *fixture, clients int) (func(int) source, error) {
		b, err := f.board(ctx, name, automationCards)
		if err != nil {
			return nil, err
		}
		every := time.Second * time.Duration(clients) / automationRate
		return func(i int) source {
			first := time.Now().Add(every * time.Duration(i) / time.Duration(clients))
			return &pacedSource{source: &updateSource{random: s.random(), cards: b.cards}, every: every, at: first}
		}, nil
	}
}

// ruled is a measure of changes to a board with a rule.
type ruled struct {
	changes, runs string // the measures
	board         string
	query         string         // the condition of the rule; "" for all cards
	meant         func(int) bool // whether the condition holds for card number i
}

func ruledMeasures() []ruled {
	return []ruled{
		{nameRuleFifth, nameRuleFifthRuns, "With a rule for some", "label:Urgent", urgent},
		{nameRuleWith, nameRuleRuns, "With a rule", "", func(int) bool { return true }},
	}
}

// measureAutomation measures changes without a rule and with rules, and the runs of the rules.
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
	for _, m := range ruledMeasures() {
		if !s.wants(m.changes, m.runs) {
			continue
		}
		if err := s.measureRuled(ctx, f, m, run); err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) measureRuled(ctx context.Context, f *fixture, m ruled, run func(name, board string) error) error {
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
	if err := ask(c, "POST", applicationPath+"/boards/"+b.id+"/rules", rule, 201, nil); err != nil {
		return err
	}
	meant := map[string]bool{}
	for i, card := range b.cards {
		meant[card.id] = m.meant(i)
	}
	began := time.Now()
	if err := run(m.changes, m.board); err != nil {
		return err
	}
	return s.measureRuns(ctx, c, b, &runsMeasure{name: m.runs, meant: meant, since: before.Version, began: began})
}

// boardChange is an entry in the list of changes of a board.
type boardChange struct {
	Type   string    `json:"type"`
	At     time.Time `json:"at"`
	CardID string    `json:"cardId"`
}

// runsMeasure is a measure of the runs that changes cause.
type runsMeasure struct {
	name  string
	meant map[string]bool // the cards for which the rule must run
	since int64           // the version of the board before the changes
	began time.Time
}

// measureRuns waits until the rule has run for each change, and measures how long after the change that was. It is an error
// if the rule runs for another card.
func (s *suite) measureRuns(ctx context.Context, c *client.Client, b *board, m *runsMeasure) error {
	res := &result{name: m.name, clients: s.clients, units: 1}
	since := m.since
	waiting := map[string][]time.Time{} // times of changes without a run, by card
	var last time.Time
	changes, open := 0, 0
	for deadline := time.Now().Add(automationWait); ; {
		var page []boardChange
		if err := call(c, "GET", "/boards/"+b.id+"/changes?limit=200&since="+strconv.FormatInt(since, 10), nil, 200, &page); err != nil {
			return err
		}
		since += int64(len(page))
		for _, e := range page {
			switch e.Type {
			case "card.updated":
				if !m.meant[e.CardID] {
					continue
				}
				waiting[e.CardID] = append(waiting[e.CardID], e.At)
				changes++
				open++
			case "comment.added":
				if len(waiting[e.CardID]) == 0 {
					return fmt.Errorf("the card %s has more comments than changes", e.CardID)
				}
				res.latency.Add(e.At.Sub(waiting[e.CardID][0]))
				waiting[e.CardID], last = waiting[e.CardID][1:], e.At
				open--
			}
		}
		if len(page) > 0 {
			continue
		}
		if open == 0 || time.Now().After(deadline) || ctx.Err() != nil {
			break
		}
		sleepUntil(ctx, time.Now().Add(50*time.Millisecond))
	}
	res.elapsed = last.Sub(m.began)
	if res.errors = open; open > 0 {
		s.progress("  error: %d of %d changes have no run", open, changes)
	}
	s.rows = append(s.rows, row{name: m.name, result: res})
	return ctx.Err()
}
