package automate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// run has a rule do what it does about what happened, once: the actions, with
// their events and the line in the log, are one transaction. It does nothing for
// a rule that is off or has run for that, and when the card does not satisfy it.
// Its error is worth another try.
func (e *Engine) run(ctx context.Context, workspaceID string, r *board.Rule, o *store.Occurrence) (done bool, err error) {
	root, chain := store.CauseOf(o.Cause)
	if root == "" {
		root = o.ID
	}
	cause := strings.Join(append([]string{root}, append(slices.Clone(chain), r.ID)...), " ")
	t := turn{engine: e, rule: r, occurrence: o, root: root, chain: chain}
	t.prepare()
	err = e.o.DB.Write(ctx, board.ByRule(r.ID, r.Owner.ID, workspaceID, cause), func(tx *store.Tx) error {
		done = false
		t.tx, t.facts = tx, nil
		status, err := t.take(ctx)
		done = err == nil && status == board.RunDone
		return err
	})
	return done, err
}

// turn is one run of a rule, inside its transaction.
type turn struct {
	tx         *store.Tx
	engine     *Engine
	rule       *board.Rule
	occurrence *store.Occurrence
	root       string
	chain      []string  // the rules that led here
	parts      []op.Part // the actions that were read before the transaction
	facts      *facts    // of this transaction; nil until an action speaks of them
}

// prepare reads the actions ahead, up to the first that speaks of the card or is
// refused.
func (t *turn) prepare() {
	for _, a := range t.rule.Then {
		if speaks(a.Input) {
			return
		}
		p, err := t.part(a)
		if err != nil {
			return // refused in its turn
		}
		t.parts = append(t.parts, p)
	}
}

func (t *turn) part(a board.RuleAction) (op.Part, error) {
	in, err := input(a, t.cardID(), t.facts)
	if err != nil {
		return op.Part{}, err
	}
	return t.engine.o.Registry.Part(a.Operation, in)
}

// action is an action as it is done: what it says of the card is as it is before
// the first.
func (t *turn) action(ctx context.Context, i int) (p op.Part, err error) {
	if i < len(t.parts) {
		return t.parts[i], nil
	}
	if a := t.rule.Then[i]; t.facts == nil && speaks(a.Input) {
		if t.facts, err = t.look(ctx); err != nil {
			return p, err
		}
	}
	return t.part(t.rule.Then[i])
}

// take decides whether the rule runs now, and has it run.
func (t *turn) take(ctx context.Context) (board.RunStatus, error) {
	tx, r, o := t.tx, t.rule, t.occurrence
	_, denied := tx.Board(ctx, r.BoardID, board.Administer) // locks it; the owner must still be its admin
	if _, ok := refusal(denied); denied != nil && !ok {
		return "", denied // on PostgreSQL nothing more can be read
	}
	now, err := tx.RuleNow(ctx, r.ID, o.Key, t.cardID(), tx.Now()-minute)
	switch {
	case err != nil:
		return "", err
	case !now.On || now.Ran || r.When.Event.AboutCard() && !now.Here || !r.When.Event.Timed() && o.BoardVersion <= now.Since:
		return "", nil
	case board.IsCode(denied, board.CodeNotFound), board.IsCode(denied, board.CodeForbidden):
		return t.disowned(ctx)
	case denied != nil:
		return t.stop(ctx, denied, o.Key)
	case !tx.On(r.BoardID).Features.Has(board.Automation):
		return "", nil
	}
	if ok, err := t.satisfied(ctx); err != nil || !ok {
		return "", err
	}
	if reason, key, err := t.brake(ctx, now.OnCard); err != nil || reason != "" {
		if err != nil {
			return "", err
		}
		return t.refuse(ctx, reason, key)
	}
	ok, err := tx.TakeRun(ctx, tx.On(r.BoardID).OrganizationID, now.Plan)
	if err != nil {
		return "", err
	}
	if !ok {
		return t.refuse(ctx, fmt.Sprintf("The organization's plan allows %d runs a day; they are used up.", now.Plan.Limits().RunsPerDay), "day:"+tx.Time().Format(board.DateLayout))
	}
	var at board.RuleAction
	if err := tx.Attempt(ctx, func() (err error) {
		at, err = t.act(ctx)
		return err
	}); err != nil {
		f, ok := refusal(err)
		if !ok {
			return "", err
		}
		return t.stop(ctx, board.Refuse(f.Code, "%s: %s", at.Operation, f.Message), o.Key)
	}
	return t.write(ctx, board.RunDone, "", o.Key, len(r.Then))
}

// refusal is why something is not to be done; ok is false where the service
// failed, and the transaction may have ended.
func refusal(err error) (f *board.Fault, ok bool) {
	f, ok = board.AsFault(err)
	return f, ok && f.Code != board.CodeUnavailable && f.Code != board.CodeInternal
}

// minute is what the brake of a card counts in.
const minute = board.Instant(60_000)

// cardID is the card that it is about; "" for none.
func (t *turn) cardID() string {
	if t.occurrence.CardID == nil {
		return ""
	}
	return *t.occurrence.CardID
}

// satisfied tells whether the card is as the rule wants it. What is about no card
// always is.
func (t *turn) satisfied(ctx context.Context) (bool, error) {
	if t.rule.If == "" && t.rule.When.Event != board.OnChecklistCompleted {
		return true, nil
	}
	q, err := condition(ctx, t.rule, t.tx.View, "if")
	if err != nil { // its owner's time zone is gone, or the grammar has changed
		return false, t.fault(ctx, err)
	}
	ok, err := t.tx.Matches(ctx, t.rule.BoardID, *t.occurrence.CardID, q)
	if err != nil || !ok || t.rule.When.Event != board.OnChecklistCompleted {
		return ok, err
	}
	return complete(ctx, t.tx.View, t.occurrence)
}

// fault writes a refusal as a failed run; what is no refusal stays an error.
func (t *turn) fault(ctx context.Context, err error) error {
	if _, ok := board.AsFault(err); ok {
		_, err = t.stop(ctx, err, t.occurrence.Key)
	}
	return err
}

// complete tells whether the checklist has no open item, of which one was done.
func complete(ctx context.Context, v *store.View, o *store.Occurrence) (bool, error) {
	lists, err := v.Checklists(ctx, *o.CardID)
	for _, l := range lists {
		if l.ID == o.Changes["checklistId"].To {
			return !slices.ContainsFunc(l.Items, func(i board.ChecklistItem) bool { return !i.Done }), err
		}
	}
	return false, err
}

// brake is why rules that set each other off must not go on; "" when they may. So
// that a brake does not fill the log, it has a key of its own, which is written
// once.
func (t *turn) brake(ctx context.Context, onCard int) (reason, key string, err error) {
	if len(t.chain) > 0 {
		switch {
		case slices.Contains(t.chain, t.rule.ID):
			return "The rule set this off itself, by way of " + counted(len(t.chain), "rule") + ".", "cause:" + t.root, nil
		case len(t.chain) >= board.RuleChain:
			return fmt.Sprintf("Rules have set each other off %d times in a row.", len(t.chain)), "cause:" + t.root, nil
		}
		runs, err := t.tx.RunsOfCause(ctx, t.root)
		if err != nil || runs >= board.RuleCauseRuns {
			return fmt.Sprintf("One change has set off %d runs.", runs), "cause:" + t.root, err
		}
	}
	if onCard >= board.RuleCardRuns {
		return fmt.Sprintf("Rules have run on this card %d times within a minute.", onCard), fmt.Sprintf("card:%s:%d", t.cardID(), t.tx.Now()/minute), nil
	}
	return "", "", nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// act does the actions, and answers the one that was refused.
func (t *turn) act(ctx context.Context) (board.RuleAction, error) {
	for i, a := range t.rule.Then {
		p, err := t.action(ctx, i)
		if err == nil {
			_, err = p.Within(ctx, t.tx)
		}
		if err != nil {
			return a, err
		}
	}
	return board.RuleAction{}, nil
}

// look finds what the words in the actions' texts stand for.
func (t *turn) look(ctx context.Context) (*facts, error) {
	zone, err := board.LoadZone("timeZone", t.rule.TimeZone)
	if err != nil {
		return nil, err
	}
	f := &facts{today: t.tx.Time().In(zone)}
	if id := t.occurrence.CardID; id != nil {
		if f.card, err = t.tx.View.Card(ctx, *id, board.View); err != nil {
			return nil, err
		}
		list, err := t.tx.View.List(ctx, f.card.ListID, board.View)
		if err != nil {
			return nil, err
		}
		f.list = list.Name
	}
	if a := t.occurrence.Actor; a.Type == board.ActorPerson && a.ID != nil {
		people, err := t.tx.PeopleOf(ctx, t.rule.BoardID, []string{*a.ID})
		if err != nil {
			return nil, err
		}
		if p, ok := people[*a.ID]; ok {
			f.person = &p
		}
	}
	return f, nil
}

// disowned switches the rule off, unless it is the board that is gone.
func (t *turn) disowned(ctx context.Context) (board.RunStatus, error) {
	var gone bool
	if err := t.tx.AsSystem(func() error {
		_, err := t.tx.View.Board(ctx, t.rule.BoardID, board.View)
		gone = board.IsCode(err, board.CodeNotFound)
		if gone {
			return nil
		}
		return err
	}); err != nil || gone {
		return "", err
	}
	if err := t.tx.SwitchOffRule(ctx, t.rule.ID, t.rule.BoardID, board.RuleOffOwner); err != nil {
		return "", err
	}
	return t.refuse(ctx, "The rule's owner is no admin of the board any more; it was switched off.", t.occurrence.Key)
}

// stop writes why a run was not to be: refused where the board or the card takes
// no change just now, failed where the rule should be looked at.
func (t *turn) stop(ctx context.Context, why error, key string) (board.RunStatus, error) {
	f, ok := refusal(why)
	if !ok {
		return "", why
	}
	switch f.Code {
	case board.CodeArchived, board.CodeBoardArchived, board.CodePlanReadOnly, board.CodePlanLimit, board.CodeLimitReached, board.CodeCapacityFull, board.CodePowerupDisabled:
		return t.refuse(ctx, f.Message, key)
	}
	return t.write(ctx, board.RunFailed, f.Message, key, 0)
}

func (t *turn) refuse(ctx context.Context, reason, key string) (board.RunStatus, error) {
	return t.write(ctx, board.RunRefused, reason, key, 0)
}

func (t *turn) write(ctx context.Context, status board.RunStatus, reason, key string, actions int) (board.RunStatus, error) {
	run := store.Run{Key: key, Root: t.root, RuleRun: board.RuleRun{
		RuleID: t.rule.ID, BoardID: t.rule.BoardID, Type: t.occurrence.Type, CardID: t.occurrence.CardID, Status: status, Reason: reason, Actions: actions,
	}}
	if v := t.occurrence.BoardVersion; v > 0 {
		run.Version = &v
	}
	return status, t.tx.InsertRun(ctx, &run)
}
