package automate

import (
	"context"
	"slices"
	"strings"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// DryRunInput is a rule to test.
type DryRunInput struct {
	BoardInput
	When board.RuleWhen     `json:"when" doc:"The trigger."`
	If   string             `json:"if,omitempty" maxLength:"4096" doc:"A query in the search grammar that the card must match. If it is absent, the rule has no condition." example:"label:bug -is:done"`
	Then []board.RuleAction `json:"then" minItems:"1" maxItems:"100" doc:"The actions, in order." example:"[{\"operation\":\"update_card\",\"input\":{\"done\":true}}]"`
}

// DryRun is the result of a dry run.
type DryRun struct {
	Looked int          `json:"looked" doc:"The number of cards that were checked." example:"50"`
	Cards  []DryRunCard `json:"cards" doc:"The cards that match the rule's query, most recently changed first."`
}

// DryRunCard is what a rule would do with one card.
type DryRunCard struct {
	CardID  string             `json:"cardId" doc:"The id of the card." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Number  int                `json:"number" doc:"The card's number on the board." example:"7"`
	Title   string             `json:"title" doc:"The card's title." example:"Write the press release"`
	ListID  string             `json:"listId" doc:"The id of the list that the card is in." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	At      *board.Instant     `json:"at" format:"date-time" doc:"When the trigger last occurred for the card; null if it has not occurred recently. For a time-based trigger, when it occurs for the card; null if the card is done, archived or has no due date." example:"2026-03-02T09:00:00.000Z"`
	Actions []board.RuleAction `json:"actions" doc:"The actions that the rule would perform, with placeholders replaced."`
}

// dryRun tests a rule on the most recently changed cards. It writes nothing.
func (s *service) dryRun(ctx context.Context, v *store.View, in DryRunInput) (DryRun, error) {
	out := DryRun{Cards: []DryRunCard{}}
	b, r, err := s.ruleToTest(ctx, v, in)
	if err != nil || !r.When.Event.AboutCard() {
		return out, err
	}
	q, err := condition(ctx, &r, v, "if")
	if err != nil {
		return out, err
	}
	recent := query.Query{Archived: query.ArchivedNo, Where: query.And{}, Sort: query.Sort{By: query.SortUpdated, Desc: true}}
	if q.Archived != query.ArchivedNo && (r.If != "" || r.When.Event == board.OnCardArchived) {
		recent.Archived = query.ArchivedAll
	}
	cards, _, err := v.Cards(ctx, store.CardPage{BoardID: b.ID, Query: recent, Compact: true, Limit: board.DryRunCards})
	if err != nil {
		return out, err
	}
	happened, err := lastOccurrences(ctx, v, b, &r)
	if err != nil {
		return out, err
	}
	lists, err := v.Lists(ctx, b.ID, true, "", 10*v.Limits().OpenLists)
	if err != nil {
		return out, err
	}
	zone, err := board.LoadZone("timeZone", r.TimeZone)
	if err != nil {
		return out, err
	}
	out.Looked = len(cards)
	for _, c := range cards {
		if r.If != "" {
			if ok, err := v.Matches(ctx, b.ID, c.ID, q); err != nil {
				return out, err
			} else if !ok {
				continue
			}
		}
		d := DryRunCard{CardID: c.ID, Number: c.Number, Title: c.Title, ListID: c.ListID, Actions: []board.RuleAction{}}
		at, ok := happened[c.ID]
		if r.When.Event.Timed() {
			at, ok = triggerTime(&c, r.When, zone)
		}
		if ok {
			d.At = &at
		}
		f := facts{today: v.Time().In(zone), card: c, person: &r.Owner}
		if i := slices.IndexFunc(lists, func(l board.List) bool { return l.ID == c.ListID }); i >= 0 {
			f.list = lists[i].Name
		}
		for _, a := range r.Then {
			filled, _ := f.fill(a.Input).(map[string]any)
			d.Actions = append(d.Actions, board.RuleAction{Operation: a.Operation, Input: filled})
		}
		out.Cards = append(out.Cards, d)
	}
	return out, nil
}

// ruleToTest returns the board and the rule of a dry run. It returns an error if the
// rule is invalid or the caller may not test it.
func (s *service) ruleToTest(ctx context.Context, v *store.View, in DryRunInput) (b board.Board, r board.Rule, err error) {
	if b, err = v.Board(ctx, in.BoardID, board.View); err != nil {
		return b, r, err
	}
	if !b.Role.Can(board.Administer) { // rules can be tested on an archived board, although they cannot be changed
		return b, r, board.Forbidden("Your role on this board is %s; its rules need the role admin.", b.Role)
	}
	if err := v.On(b.ID).Needs(board.Automation); err != nil {
		return b, r, err
	}
	me, err := v.User(ctx)
	if err != nil {
		return b, r, err
	}
	r = board.Rule{BoardID: b.ID, When: in.When, If: strings.TrimSpace(in.If), Then: in.Then, Owner: board.UserRef{ID: me.ID,
		Name: me.Name}, TimeZone: me.TimeZone}
	err = s.check(ctx, v, &r)
	return b, r, err
}

// lastOccurrences returns when the trigger last occurred for each card, among the
// board's most recent changes.
func lastOccurrences(ctx context.Context, v *store.View, b board.Board, r *board.Rule) (map[string]board.Instant, error) {
	wanted := r.When.Event.Kinds()
	changes, err := v.Occurrences(ctx, b.ID, b.Version-board.RuleEventHistory, board.RuleEventHistory,
		func(k board.Kind) bool { return slices.Contains(wanted, k) })
	at := map[string]board.Instant{}
	for i := range changes {
		if o := &changes[i]; o.CardID != nil && triggers(r.When, o) {
			at[*o.CardID] = o.At
		}
	}
	return at, err
}

// triggerTime returns when a time-based trigger occurs for a card. It returns false
// for a card that is done, is archived or has no due date. A card that is due on a
// day without a time is due at the end of that day.
func triggerTime(c *board.Card, w board.RuleWhen, zone *time.Location) (board.Instant, bool) {
	if c.Done || c.ArchivedAt != nil || c.DueDate == nil {
		return 0, false
	}
	due := c.DueAt
	if due == nil {
		day, err := board.ParseDate("dueDate", *c.DueDate)
		if err != nil {
			return 0, false
		}
		due = new(query.DayEdge(day.AddDate(0, 0, 1), zone).At)
	}
	return *due - board.Instant((time.Duration(value(w.Hours)) * time.Hour).Milliseconds()), true
}
