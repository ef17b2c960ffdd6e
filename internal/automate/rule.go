package automate

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// BoardInput names a board.
type BoardInput struct {
	BoardID string `json:"boardId" maxLength:"64" doc:"The board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// RuleInput names a rule.
type RuleInput struct {
	RuleID string `json:"ruleId" maxLength:"64" doc:"The rule." example:"rul_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// ListRulesInput pages through the rules of a board.
type ListRulesInput struct {
	BoardInput
	op.Paging
}

// listRules lists the rules of a board in the order of their making, for all who
// see it: whoever wonders what moved a card can find out.
func listRules(ctx context.Context, v *store.View, in ListRulesInput) (op.Page[board.Rule], error) {
	var behind string
	if err := in.After(&behind); err != nil {
		return op.Page[board.Rule]{}, err
	}
	if _, err := v.Board(ctx, in.BoardID, board.View); err != nil {
		return op.Page[board.Rule]{}, err
	}
	all, err := v.Rules(ctx, in.BoardID, behind, in.Size()+1)
	return op.Cut(all, in.Size(), func(r board.Rule) any { return r.ID }), err
}

func getRule(ctx context.Context, v *store.View, in RuleInput) (board.Rule, error) {
	return v.Rule(ctx, in.RuleID, board.View)
}

// CreateRuleInput is what a rule is made of.
type CreateRuleInput struct {
	BoardInput
	Name string             `json:"name" maxLength:"512" doc:"Its name." example:"Done is done"`
	When board.RuleWhen     `json:"when" doc:"The trigger."`
	If   string             `json:"if,omitempty" maxLength:"4096" doc:"A query in the search grammar that the card must match; none when absent." example:"label:bug -is:done"`
	Then []board.RuleAction `json:"then" minItems:"1" maxItems:"100" doc:"The actions, in order." example:"[{\"operation\":\"update_card\",\"input\":{\"done\":true}}]"`
	Off  bool               `json:"off,omitempty" doc:"Whether the rule is created switched off." example:"false"`
}

// createRule makes a rule. What happens from now on sets it off; it runs with the
// caller's rights.
func (s *service) createRule(ctx context.Context, tx *store.Tx, in CreateRuleInput) (board.Rule, error) {
	b, err := tx.Board(ctx, in.BoardID, board.Administer)
	if err != nil {
		return board.Rule{}, err
	}
	if err := tx.On(b.ID).Needs(board.Automation); err != nil {
		return board.Rule{}, err
	}
	r := board.Rule{ID: tx.NewID("rul_"), BoardID: b.ID, When: in.When, If: strings.TrimSpace(in.If), Then: in.Then, On: !in.Off}
	if in.Off {
		r.OffReason, r.OffAt = new(board.RulePaused), new(tx.Now())
	}
	if r.Name, err = board.Line("name", in.Name); err != nil {
		return r, err
	}
	if err := own(ctx, tx, &r); err != nil {
		return r, err
	}
	if err := s.check(ctx, tx.View, &r); err != nil {
		return r, err
	}
	count, err := tx.CountRules(ctx, b.ID)
	if err != nil {
		return r, err
	}
	if err := board.Room("automation rules on a board", count, 1, tx.Limits().Rules); err != nil {
		return r, err
	}
	tx.Emit(b.ID, board.RuleChanged("rule.created", r.ID, differences(board.Rule{}, r)))
	return r, tx.InsertRule(ctx, &r)
}

// own makes the caller the rule's owner.
func own(ctx context.Context, tx *store.Tx, r *board.Rule) error {
	me, err := tx.User(ctx)
	r.Owner, r.TimeZone = board.UserRef{ID: me.ID, Name: me.Name}, me.TimeZone
	return err
}

// UpdateRuleInput is what changes; what is absent stays.
type UpdateRuleInput struct {
	RuleInput
	Name *string            `json:"name,omitempty" maxLength:"512" doc:"The new name." example:"Done is really done"`
	When *board.RuleWhen    `json:"when,omitempty" doc:"The new trigger."`
	If   *string            `json:"if,omitempty" maxLength:"4096" doc:"The new query; empty for none." example:"label:bug"`
	Then []board.RuleAction `json:"then,omitempty" minItems:"1" maxItems:"100" doc:"The new actions, in order." example:"[{\"operation\":\"update_card\",\"input\":{\"done\":true}}]"`
}

// updateRule changes a rule. Who changes what it does is its owner from then on,
// so that nobody acts with another's rights.
func (s *service) updateRule(ctx context.Context, tx *store.Tx, in UpdateRuleInput) (board.Rule, error) {
	r, err := tx.Rule(ctx, in.RuleID)
	if err == nil {
		err = tx.On(r.BoardID).Needs(board.Automation)
	}
	if err != nil {
		return r, err
	}
	before := r
	if in.Name != nil {
		if r.Name, err = board.Line("name", *in.Name); err != nil {
			return r, err
		}
	}
	if in.When != nil {
		r.When = *in.When
	}
	if in.If != nil {
		r.If = strings.TrimSpace(*in.If)
	}
	if in.Then != nil {
		r.Then = in.Then
	}
	changes := differences(before, r)
	if len(changes) == 0 {
		return r, nil
	}
	if _, renamed := changes["name"]; !renamed || len(changes) > 1 {
		if err := own(ctx, tx, &r); err != nil {
			return r, err
		}
	}
	if err := s.check(ctx, tx.View, &r); err != nil {
		return r, err
	}
	tx.Emit(r.BoardID, board.RuleChanged("rule.updated", r.ID, changes))
	return r, tx.UpdateRule(ctx, &r)
}

// deleteRule forgets a rule with its log.
func deleteRule(ctx context.Context, tx *store.Tx, in RuleInput) (DeletedRule, error) {
	r, err := tx.Rule(ctx, in.RuleID)
	if err != nil {
		return DeletedRule{}, err
	}
	tx.Emit(r.BoardID, board.RuleChanged("rule.deleted", r.ID, differences(r, board.Rule{})))
	return DeletedRule{r.ID}, tx.DeleteRule(ctx, r)
}

// DeletedRule is the answer to deleting a rule.
type DeletedRule struct {
	ID string `json:"id" doc:"The id of the deleted object." example:"rul_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// switchOnRule has a rule run again, with the caller's rights. What happened while
// it was off is not made up for.
func (s *service) switchOnRule(ctx context.Context, tx *store.Tx, in RuleInput) (board.Rule, error) {
	r, err := tx.Rule(ctx, in.RuleID)
	if err == nil {
		err = tx.On(r.BoardID).Needs(board.Automation)
	}
	if err != nil || r.On {
		return r, err
	}
	before := r
	r.On, r.OffReason, r.OffAt = true, nil, nil
	if err := own(ctx, tx, &r); err != nil {
		return r, err
	}
	if err := s.check(ctx, tx.View, &r); err != nil {
		return r, err
	}
	tx.Emit(r.BoardID, board.RuleChanged("rule.switched_on", r.ID, differences(before, r)))
	return r, tx.UpdateRule(ctx, &r)
}

// switchOffRule stops a rule. A run that is not committed yet does nothing.
func switchOffRule(ctx context.Context, tx *store.Tx, in RuleInput) (board.Rule, error) {
	r, err := tx.Rule(ctx, in.RuleID)
	if err != nil || !r.On {
		return r, err
	}
	before := r
	r.On, r.OffReason, r.OffAt = false, new(board.RulePaused), new(tx.Now())
	tx.Emit(r.BoardID, board.RuleChanged("rule.switched_off", r.ID, differences(before, r)))
	return r, tx.UpdateRule(ctx, &r)
}

// differences are what a person changed of a rule. One that is new or gone has no
// trigger on the other side.
func differences(from, to board.Rule) board.Changes {
	c := board.Changes{}
	board.Set(c, "name", from.Name, to.Name)
	board.Set(c, "if", from.If, to.If)
	board.Set(c, "on", from.On, to.On)
	if from.When != to.When {
		c["when"] = board.FromTo{From: orNothing(from.When, from.ID == ""), To: orNothing(to.When, to.ID == "")}
	}
	if !reflect.DeepEqual(from.Then, to.Then) {
		c["then"] = board.FromTo{From: orNothing(from.Then, from.ID == ""), To: orNothing(to.Then, to.ID == "")}
	}
	return c
}

func orNothing(v any, nothing bool) any {
	if nothing {
		return nil
	}
	return v
}

// check refuses a rule that could never do what it says: a narrowing that its
// trigger does not take, a query that is none, an action that is refused
// whatever happens, and what is not on the board. A loader has loaded that.
func (s *service) check(ctx context.Context, v *store.View, r *board.Rule) error {
	if err := checkWhen(ctx, v, r); err != nil {
		return err
	}
	if _, err := condition(ctx, r, v, ""); err != nil {
		return err
	}
	if most := v.Limits().RuleActions; len(r.Then) > most {
		return board.Refuse(board.CodeLimitReached, "A rule can have at most %d actions; there are %d.", most, len(r.Then))
	}
	for i, a := range r.Then {
		if err := s.checkAction(ctx, v, r, a); err != nil {
			if f, ok := board.AsFault(err); ok {
				return board.Refuse(f.Code, "then[%d], %s: %s", i, a.Operation, f.Message)
			}
			return err
		}
	}
	return nil
}

func checkWhen(ctx context.Context, v *store.View, r *board.Rule) error {
	w := r.When
	for _, narrowing := range []struct {
		field string
		given bool
		takes bool
	}{
		{"listId", value(w.ListID) != "", w.Event.TakesList()}, {"labelId", value(w.LabelID) != "", w.Event.TakesLabel()},
		{"userId", value(w.UserID) != "", w.Event.TakesPerson()}, {"hours", value(w.Hours) != 0, w.Event == board.OnDueSoon},
	} {
		if narrowing.given && !narrowing.takes {
			return board.Invalid("when.%s does not go with the event %s.", narrowing.field, w.Event)
		}
	}
	if w.Event == board.OnDueSoon && value(w.Hours) == 0 {
		return board.Invalid("when.hours is required for the event due_soon.")
	}
	if r.If != "" && !w.Event.AboutCard() {
		return board.Invalid("if must be empty for the event %s, which is about no card.", w.Event)
	}
	if err := onBoard(ctx, v, r.BoardID, "when.listId", value(w.ListID)); err != nil {
		return err
	}
	if err := known(ctx, v.LabelsOf, r.BoardID, "when.labelId must be a label of the board.", value(w.LabelID)); err != nil {
		return err
	}
	return known(ctx, v.PeopleOf, r.BoardID, "when.userId must be a person who sees the board.", value(w.UserID))
}

// onBoard refuses a list that is not one of the board's.
func onBoard(ctx context.Context, v *store.View, boardID, field, listID string) error {
	if listID == "" {
		return nil
	}
	list, err := v.List(ctx, listID, board.View)
	if board.IsCode(err, board.CodeNotFound) || err == nil && list.BoardID != boardID {
		return board.Invalid("%s must be a list of the rule's board.", field)
	}
	return err
}

// known refuses ids that a loader does not find on the board.
func known[T any](ctx context.Context, load func(context.Context, string, []string) (map[string]T, error), boardID, message string, ids ...string) error {
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" })
	if len(ids) == 0 {
		return nil
	}
	found, err := load(ctx, boardID, ids)
	if err == nil && slices.ContainsFunc(ids, func(id string) bool { _, ok := found[id]; return !ok }) {
		err = board.Invalid("%s", message)
	}
	return err
}

func (s *service) checkAction(ctx context.Context, v *store.View, r *board.Rule, a board.RuleAction) error {
	if !slices.Contains(board.RuleActions(), a.Operation) {
		return board.Invalid("operation must be one of %s.", board.Listed(board.RuleActions()))
	}
	if a.NeedsCard() && !r.When.Event.AboutCard() {
		return board.Invalid("the event %s is about no card.", r.When.Event)
	}
	if _, given := a.Input["cardId"]; given {
		return board.Invalid("cardId is left out; it is the card that the rule is about.")
	}
	sample := facts{today: v.Time(), card: board.Card{Title: "Card", Number: 1}, list: "List", person: &r.Owner}
	in, err := input(a, "crd_01jb2m3n4p5q6r7s8t9v0w1x2y", &sample)
	if err != nil {
		return err
	}
	if _, err := s.registry.Part(a.Operation, in); err != nil {
		return err
	}
	if err := onBoard(ctx, v, r.BoardID, "listId", strings.Join(named(a, "listId"), "")); err != nil {
		return err
	}
	switch a.Operation {
	case "set_card_labels":
		return known(ctx, v.LabelsOf, r.BoardID, "add and remove must hold labels of the board.", append(named(a, "add"), named(a, "remove")...)...)
	case "set_card_assignees": // taking off somebody who left the board is no mistake
		return known(ctx, v.PeopleOf, r.BoardID, "add must hold people who see the board.", named(a, "add")...)
	case "create_card":
		if err := known(ctx, v.LabelsOf, r.BoardID, "labels must be labels of the board.", named(a, "labels")...); err != nil {
			return err
		}
		return known(ctx, v.PeopleOf, r.BoardID, "assignees must be people who can see the board.", named(a, "assignees")...)
	}
	return nil
}

// condition is the query of a rule, in the words of its owner. An archived card
// satisfies it where archiving sets the rule off, unless it says otherwise. A
// rule that runs is lenient about people who have left.
func condition(ctx context.Context, r *board.Rule, v *store.View, lenient string) (query.Query, error) {
	if r.If == "" {
		return query.Query{Archived: query.ArchivedAll, Where: query.And{}}, nil
	}
	zone, err := board.LoadZone("timeZone", r.TimeZone)
	if err != nil {
		return query.Query{}, err
	}
	q, err := query.Filter{Q: r.If}.Parse(query.Env{
		Now: v.Time(), Zone: zone, Me: r.Owner.ID, Name: "if", Lenient: lenient,
		People: v.People(ctx, store.CardPage{BoardID: r.BoardID}), Named: v.Named(ctx, store.CardPage{BoardID: r.BoardID}),
	})
	if q.Archived == query.ArchivedNo && r.When.Event == board.OnCardArchived {
		q.Archived = query.ArchivedAll
	}
	return q, err
}
