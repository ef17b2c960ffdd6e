package main

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// What a rule costs: 1,000 changes a second on a board without rules, the same on one where each change sets off a rule
// that comments on the card, and what became of those runs.

const (
	automationRate  = 1000 // changes a second, of all clients
	automationCards = 2000 // so that no card has more runs in a minute than its brake allows, for windows up to half a minute
	automationWait  = time.Minute
)

// pacedSource makes requests at a steady rate, or as fast as they are answered when that is slower.
type pacedSource struct {
	source
	every time.Duration
	at    time.Time
}

func (s *pacedSource) next(r *request) error {
	s.at = s.at.Add(s.every)
	if late := time.Since(s.at); late > 0 { // what was missed is not made up for
		s.at = s.at.Add(late)
	}
	time.Sleep(time.Until(s.at))
	return s.source.next(r)
}

// pacedUpdates rename cards of a board, automationRate a second by all clients together.
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

// measureAutomation measures changes without a rule and with one, and the runs behind them.
func (s *suite) measureAutomation(ctx context.Context, srv *server, f *fixture) error {
	run := func(name, board string) error {
		source, err := s.pacedUpdates(board)(ctx, f, s.clients)
		if err != nil {
			return err
		}
		return s.measureLoad(ctx, &load{name: name, clients: s.clients, pid: srv.proc.pid(), client: f.client, source: source})
	}
	if s.wants(nameRuleWithout, nameRuleWith) {
		if err := run(nameRuleWithout, "Without rules"); err != nil {
			return err
		}
	}
	if !s.wants(nameRuleWith, nameRuleRuns) {
		return nil
	}
	b, err := f.board(ctx, "With a rule", automationCards)
	if err != nil {
		return err
	}
	c := f.client()
	defer c.close()
	var before struct {
		Version int64 `json:"version"`
	}
	if err := call(c, "PATCH", "/boards/"+b.id, map[string]any{"features": map[string]any{"automation": true}}, 200, &before); err != nil {
		return err
	}
	rule := map[string]any{"name": "Renamed is told", "when": map[string]any{"event": "card_updated"},
		"then": []any{map[string]any{"operation": "add_comment", "input": map[string]any{"text": "{actor} renamed this to {card}."}}}}
	if err := ask(c, "POST", applicationPath+"/boards/"+b.id+"/rules", rule, 201, nil); err != nil {
		return err
	}
	began := time.Now()
	if err := run(nameRuleWith, "With a rule"); err != nil {
		return err
	}
	return s.measureRuns(ctx, c, b, before.Version, began)
}

// boardChange is what the changes of a board say of an event and its run.
type boardChange struct {
	Type   string    `json:"type"`
	At     time.Time `json:"at"`
	CardID string    `json:"cardId"`
}

// measureRuns waits until each change has its run, and notes how long after the change it was done.
func (s *suite) measureRuns(ctx context.Context, c *client, b *board, since int64, began time.Time) error {
	res := &result{name: nameRuleRuns, clients: s.clients, units: 1}
	waiting := map[string][]time.Time{} // changes without their run, by card
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
				waiting[e.CardID] = append(waiting[e.CardID], e.At)
				changes++
				open++
			case "comment.added":
				if len(waiting[e.CardID]) == 0 {
					return fmt.Errorf("the card %s has more comments than changes", e.CardID)
				}
				res.latency.add(e.At.Sub(waiting[e.CardID][0]))
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
	res.elapsed = last.Sub(began)
	if res.errors = open; open > 0 {
		s.progress("  error: %d of %d changes have no run", open, changes)
	}
	s.rows = append(s.rows, row{name: nameRuleRuns, result: res})
	return ctx.Err()
}
