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

// BoardInput identifies a board.
type BoardInput struct {
	BoardID string `json:"boardId" maxLength:"64" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// RuleInput identifies a rule.
type RuleInput struct {
	RuleID string `json:"ruleId" maxLength:"64" doc:"The id of the rule." example:"rul_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// ListRulesInput is the input of list_rules.
type ListRulesInput struct {
	BoardInput
	op.Paging
}

// listRules returns the rules of a board, oldest first, to everyone who can see
// the board, so that they can find out what moved a card.
func listRules(ctx context.Context, v *store.View, in ListRulesInput) (op.Page[board.Rule], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.Rule]{}, err
	}
	if _, err := v.Board(ctx, in.BoardID, board.View); err != nil {
		return op.Page[board.Rule]{}, err
	}
	all, err := v.Rules(ctx, in.BoardID, after, in.Size()+1)
	return op.Cut(all, in.Size(), func(r board.Rule) any { return r.ID }), err
}

func getRule(ctx context.Context, v *store.View, in RuleInput) (board.Rule, error) {
	return v.Rule(ctx, in.RuleID, board.View)
}

// CreateRuleInput holds the fields of a new rule.
type CreateRuleInput struct {
	BoardInput
	Name string             `json:"name" maxLength:"512" doc:"The rule's name." example:"Done is done"`
	When board.RuleWhen     `json:"when" doc:"The trigger."`
	If   string             `json:"if,omitempty" maxLength:"4096" doc:"A query in the search grammar that the card must match. If it is absent, the rule has no condition." example:"label:bug -is:done"`
	Then []board.RuleAction `json:"then" minItems:"1" maxItems:"100" doc:"The actions, in order." example:"[{\"operation\":\"update_card\",\"input\":{\"done\":true}}]"`
	Off  bool               `json:"off,omitempty" doc:"Whether the rule is initially disabled." example:"false"`
}

// createRule creates a rule. The rule runs with the caller's permissions, for events that
// happen after its creation.
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
	if err := board.CheckLimit("automation rules on a board", count, 1, tx.Limits().Rules); err != nil {
		return r, err
	}
	tx.Emit(b.ID, board.RuleChanged(board.KindRuleCreated, r.ID, differences(board.Rule{}, r)))
	return r, tx.InsertRule(ctx, &r)
}

// own makes the caller the rule's owner.
func own(ctx context.Context, tx *store.Tx, r *board.Rule) error {
	me, err := tx.User(ctx)
	r.Owner, r.TimeZone = board.UserRef{ID: me.ID, Name: me.Name}, me.TimeZone
	return err
}

// UpdateRuleInput holds the fields to change. Absent fields stay unchanged.
type UpdateRuleInput struct {
	RuleInput
	Name *string            `json:"name,omitempty" maxLength:"512" doc:"The new name." example:"Done is really done"`
	When *board.RuleWhen    `json:"when,omitempty" doc:"The new trigger."`
	If   *string            `json:"if,omitempty" maxLength:"4096" doc:"The new query; empty for no condition." example:"label:bug"`
	Then []board.RuleAction `json:"then,omitempty" minItems:"1" maxItems:"100" doc:"The new actions, in order." example:"[{\"operation\":\"update_card\",\"input\":{\"done\":true}}]"`
}

// updateRule changes a rule. A caller who changes more than the name becomes its
// owner, so that no one can act with another person's permissions.
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
	save := tx.RenameRule
	if _, renamed := changes["name"]; !renamed || len(changes) > 1 {
		save = tx.UpdateRule
		if err := own(ctx, tx, &r); err != nil {
			return r, err
		}
	}
	if err := s.check(ctx, tx.View, &r); err != nil {
		return r, err
	}
	tx.Emit(r.BoardID, board.RuleChanged(board.KindRuleUpdated, r.ID, changes))
	return r, save(ctx, &r)
}

// deleteRule deletes a rule and its log.
func deleteRule(ctx context.Context, tx *store.Tx, in RuleInput) (DeletedRule, error) {
	r, err := tx.Rule(ctx, in.RuleID)
	if err != nil {
		return DeletedRule{}, err
	}
	tx.Emit(r.BoardID, board.RuleChanged(board.KindRuleDeleted, r.ID, differences(r, board.Rule{})))
	return DeletedRule{r.ID}, tx.DeleteRule(ctx, r)
}

// DeletedRule is the result of delete_rule.
type DeletedRule struct {
	ID string `json:"id" doc:"The id of the deleted object." example:"rul_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// enableRule enables a disabled rule and makes the caller its owner, so that it runs with
// the caller's permissions. Events that happened while it was disabled are not handled. If
// the rule is already enabled, enableRule does nothing.
func (s *service) enableRule(ctx context.Context, tx *store.Tx, in RuleInput) (board.Rule, error) {
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
	tx.Emit(r.BoardID, board.RuleChanged(board.KindRuleSwitchedOn, r.ID, differences(before, r)))
	return r, tx.UpdateRule(ctx, &r)
}

// disableRule disables a rule. A run that has not been committed yet has no effect.
func disableRule(ctx context.Context, tx *store.Tx, in RuleInput) (board.Rule, error) {
	r, err := tx.Rule(ctx, in.RuleID)
	if err != nil || !r.On {
		return r, err
	}
	before := r
	r.On, r.OffReason, r.OffAt = false, new(board.RulePaused), new(tx.Now())
	tx.Emit(r.BoardID, board.RuleChanged(board.KindRuleSwitchedOff, r.ID, differences(before, r)))
	return r, tx.UpdateRule(ctx, &r)
}

// differences returns the changes between two versions of a rule. For a created rule, the
// old trigger and actions are null. For a deleted rule, the new ones are.
func differences(from, to board.Rule) board.Changes {
	c := board.Changes{}
	board.Set(c, "name", from.Name, to.Name)
	board.Set(c, "if", from.If, to.If)
	board.Set(c, "on", from.On, to.On)
	if from.When != to.When {
		c["when"] = board.FromTo{From: orNil(from.When, from.ID == ""), To: orNil(to.When, to.ID == "")}
	}
	if !reflect.DeepEqual(from.Then, to.Then) {
		c["then"] = board.FromTo{From: orNil(from.Then, from.ID == ""), To: orNil(to.Then, to.ID == "")}
	}
	return c
}

func orNil(v any, nothing bool) any {
	if nothing {
		return nil
	}
	return v
}

// check returns an error for a rule that cannot work: a parameter that its
// trigger does not have, an invalid query, too many actions, an action that would
// always be refused, or a reference to an object that is not on the board. The
// rule's board must be loaded.
func (s *service) check(ctx context.Context, v *store.View, r *board.Rule) error {
	if err := checkWhen(ctx, v, r); err != nil {
		return err
	}
	if _, err := condition(ctx, r, v, ""); err != nil {
		return err
	}
	if most := v.Limits().RuleActions; len(r.Then) > most {
		return board.Refuse(board.CodeLimitReached, "A rule can have at most %d actions; this "+
			"one has %d.", most, len(r.Then))
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
			return board.Invalid("when.%s is not allowed for the %s event.", narrowing.field, w.Event)
		}
	}
	if w.Event == board.OnDueSoon && value(w.Hours) == 0 {
		return board.Invalid("when.hours is required for the due_soon event.").In("when.hours", board.RuleRequired)
	}
	if r.If != "" && !w.Event.AboutCard() {
		return board.Invalid("if must be empty for the %s event, because that event does not concern a card.", w.Event).
			In("if", board.RuleValue)
	}
	if err := onBoard(ctx, v, r.BoardID, "when.listId", value(w.ListID)); err != nil {
		return err
	}
	if err := known(ctx, v.LabelsOf, r.BoardID, "when.labelId must be a label on "+
		"the board.", value(w.LabelID)); err != nil {
		return err
	}
	return known(ctx, v.PeopleOf, r.BoardID, "when.userId must be a person who can see the board.", value(w.UserID))
}

// onBoard returns an error for a list that is not on the board.
func onBoard(ctx context.Context, v *store.View, boardID, field, listID string) error {
	if listID == "" {
		return nil
	}
	list, err := v.List(ctx, listID, board.View)
	if board.IsCode(err, board.CodeNotFound) || err == nil && list.BoardID != boardID {
		return board.Invalid("%s must be a list on the rule's board.", field).In(field, board.RuleValue)
	}
	return err
}

// known returns an error for ids that load does not find on the board.
func known[T any](ctx context.Context, load func(context.Context, string, []string) (map[string]T, error), boardID,
	message string, ids ...string) error {
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
		return board.Invalid("operation must be one of %s.", board.JoinValues(board.RuleActions())).
			In("operation", board.RuleValue)
	}
	if a.NeedsCard() && !r.When.Event.AboutCard() {
		return board.Invalid("the event %s does not concern a card.", r.When.Event)
	}
	if _, given := a.Input["cardId"]; given {
		return board.Invalid("cardId must be omitted. An action that needs a card applies to the card that triggered the rule.").
			In("cardId", board.RuleValue)
	}
	sample := facts{today: v.Time(), card: board.Card{Title: "Card", Number: 1}, list: "List", person: &r.Owner}
	in, err := input(a, "crd_01jb2m3n4p5q6r7s8t9v0w1x2y", &sample)
	if err != nil {
		return err
	}
	if _, err := s.registry.Part(a.Operation, in); err != nil {
		return err
	}
	if err := onBoard(ctx, v, r.BoardID, "listId", strings.Join(idsIn(a, "listId"), "")); err != nil {
		return err
	}
	switch a.Operation {
	case "set_card_labels":
		return known(ctx, v.LabelsOf, r.BoardID, "add and remove must contain only labels of "+
			"the board.", append(idsIn(a, "add"), idsIn(a, "remove")...)...)
	case "set_card_assignees": // unassigning a person who has left the board is allowed
		return known(ctx, v.PeopleOf, r.BoardID, "add must contain only people who can see the board.", idsIn(a, "add")...)
	case "create_card":
		if err := known(ctx, v.LabelsOf, r.BoardID, "labels must contain only labels of the board.",
			idsIn(a, "labels")...); err != nil {
			return err
		}
		return known(ctx, v.PeopleOf, r.BoardID, "assignees must contain only people who can see "+
			"the board.", idsIn(a, "assignees")...)
	}
	return nil
}

// condition parses the query of a rule with the owner's identity and time zone. If the
// trigger is archiving, archived cards match by default. In runs and dry runs, lenient is
// "if", so names and ids that no longer exist match nothing. If lenient is "", they are
// errors.
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
