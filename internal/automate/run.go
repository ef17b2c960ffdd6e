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

// run runs a rule for an event, at most once. The actions, their events and the log entry
// are written in one transaction. run does nothing if the rule is off or has already run
// for the event, or if the card does not match. It reports whether the actions were
// performed. After an error, it may be called again.
func (e *Engine) run(ctx context.Context, workspaceID string, r *board.Rule, o *store.Occurrence) (done bool, err error) {
	root, chain := store.CauseOf(o.Cause)
	if root == "" {
		root = o.ID
	}
	cause := strings.Join(append([]string{root}, append(slices.Clone(chain), r.ID)...), " ")
	t := execution{engine: e, rule: r, occurrence: o, root: root, chain: chain}
	t.prepare()
	err = e.o.DB.Write(ctx, board.ByRule(r.ID, r.Owner.ID, workspaceID, cause), func(tx *store.Tx) error {
		done = false
		t.tx, t.facts = tx, nil
		status, err := t.run(ctx)
		done = err == nil && status == board.RunDone
		return err
	})
	return done, err
}

// execution is one run of a rule, inside its transaction.
type execution struct {
	tx         *store.Tx
	engine     *Engine
	rule       *board.Rule
	occurrence *store.Occurrence
	root       string    // the id of the event that triggered the first rule
	chain      []string  // the rules that led to this run
	parts      []op.Part // the actions decoded before the transaction
	facts      *facts    // facts of this transaction; nil until an action needs them
}

// prepare decodes the actions in advance, up to the first action that has placeholders or
// is refused.
func (t *execution) prepare() {
	for _, a := range t.rule.Then {
		if hasPlaceholder(a.Input) {
			return
		}
		p, err := t.part(a)
		if err != nil {
			return // the error is reported when the action is performed
		}
		t.parts = append(t.parts, p)
	}
}

func (t *execution) part(a board.RuleAction) (op.Part, error) {
	in, err := input(a, t.cardID(), t.facts)
	if err != nil {
		return op.Part{}, err
	}
	return t.engine.o.Registry.Part(a.Operation, in)
}

// action returns the decoded action at index i. Placeholders have the values that applied
// just before the first action that contains any.
func (t *execution) action(ctx context.Context, i int) (p op.Part, err error) {
	if i < len(t.parts) {
		return t.parts[i], nil
	}
	if a := t.rule.Then[i]; t.facts == nil && hasPlaceholder(a.Input) {
		if t.facts, err = t.loadFacts(ctx); err != nil {
			return p, err
		}
	}
	return t.part(t.rule.Then[i])
}

// run runs the rule if it may run now. It returns the status of the run, or "" if there is
// none.
func (t *execution) run(ctx context.Context) (board.RunStatus, error) {
	tx, r, o := t.tx, t.rule, t.occurrence
	_, denied := tx.Board(ctx, r.BoardID, board.Administer) // locks the board; the owner must still be its admin
	if _, ok := refusal(denied); denied != nil && !ok {
		return "", denied // on PostgreSQL, the failed transaction cannot read anything else
	}
	now, err := tx.RuleState(ctx, r.ID, o.Key, t.cardID(), tx.Now()-minute)
	switch {
	case err != nil:
		return "", err
	case !now.On || now.HasRun || r.When.Event.AboutCard() && !now.CardOnBoard || !r.When.Event.Timed() && o.BoardVersion <= now.Since:
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
	if reason, key, err := t.loopLimit(ctx, now.CardRuns); err != nil || reason != "" {
		if err != nil {
			return "", err
		}
		return t.refuse(ctx, reason, key)
	}
	ok, err := tx.CountRun(ctx, tx.On(r.BoardID).OrganizationID, now.Plan)
	if err != nil {
		return "", err
	}
	if !ok {
		return t.refuse(ctx, fmt.Sprintf("The organization's plan allows %d runs per day, and all have "+
			"been used.", now.Plan.Limits().RunsPerDay), "day:"+tx.Time().Format(board.DateLayout))
	}
	var at board.RuleAction
	if err := tx.Subtransaction(ctx, func() (err error) {
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

// refusal returns the fault with which an action was refused. It returns false for any
// other error, after which the transaction may have ended.
func refusal(err error) (f *board.Fault, ok bool) {
	f, ok = board.AsFault(err)
	return f, ok && f.Code != board.CodeUnavailable && f.Code != board.CodeInternal
}

// minute is the period to which the limit of runs per card applies.
const minute = board.Instant(60_000)

// cardID returns the id of the card that the event concerns, or "" if there is none.
func (t *execution) cardID() string {
	if t.occurrence.CardID == nil {
		return ""
	}
	return *t.occurrence.CardID
}

// satisfied reports whether the card matches the rule's query. For checklist_completed,
// the checklist must also be complete.
func (t *execution) satisfied(ctx context.Context) (bool, error) {
	if t.rule.If == "" && t.rule.When.Event != board.OnChecklistCompleted {
		return true, nil
	}
	q, err := condition(ctx, t.rule, t.tx.View, "if")
	if err != nil { // the owner's time zone no longer exists, or the grammar has changed
		return false, t.fault(ctx, err)
	}
	ok, err := t.tx.Matches(ctx, t.rule.BoardID, *t.occurrence.CardID, q)
	if err != nil || !ok || t.rule.When.Event != board.OnChecklistCompleted {
		return ok, err
	}
	return complete(ctx, t.tx.View, t.occurrence)
}

// fault records a refusal as a failed run. It returns other errors unchanged.
func (t *execution) fault(ctx context.Context, err error) error {
	if _, ok := board.AsFault(err); ok {
		_, err = t.stop(ctx, err, t.occurrence.Key)
	}
	return err
}

// complete reports whether the checklist of a completed item has no open items
// left.
func complete(ctx context.Context, v *store.View, o *store.Occurrence) (bool, error) {
	lists, err := v.Checklists(ctx, *o.CardID)
	for _, l := range lists {
		if l.ID == o.Changes["checklistId"].To {
			return !slices.ContainsFunc(l.Items, func(i board.ChecklistItem) bool { return !i.Done }), err
		}
	}
	return false, err
}

// loopLimit returns the reason why a loop limit stops the run, or "" if none does. The
// key ensures that a limit is logged only once per cause or minute, so that it does not
// fill the log.
func (t *execution) loopLimit(ctx context.Context, onCard int) (reason, key string, err error) {
	if len(t.chain) > 0 {
		switch {
		case slices.Contains(t.chain, t.rule.ID):
			return "The rule triggered itself, through " + counted(len(t.chain), "rule") + ".", "cause:" + t.root, nil
		case len(t.chain) >= board.RuleChain:
			return fmt.Sprintf("Rules have triggered each other %d times "+
				"in a row.", len(t.chain)), "cause:" + t.root, nil
		}
		runs, err := t.tx.CountRunsOfCause(ctx, t.root)
		if err != nil || runs >= board.RuleCauseRuns {
			return fmt.Sprintf("One change has triggered %d runs.", runs), "cause:" + t.root, err
		}
	}
	if onCard >= board.RuleCardRuns {
		return fmt.Sprintf("Rules have run on this card %d times within "+
			"a minute.", onCard), fmt.Sprintf("card:%s:%d", t.cardID(), t.tx.Now()/minute), nil
	}
	return "", "", nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// act performs the actions. It returns the action that was refused, if any.
func (t *execution) act(ctx context.Context) (board.RuleAction, error) {
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

// loadFacts loads the values of the placeholders.
func (t *execution) loadFacts(ctx context.Context) (*facts, error) {
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

// disowned disables the rule because its owner is no longer an admin of the board. It
// does nothing if the board no longer exists.
func (t *execution) disowned(ctx context.Context) (board.RunStatus, error) {
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
	if err := t.tx.DisableRule(ctx, t.rule.ID, t.rule.BoardID, board.RuleOffOwner); err != nil {
		return "", err
	}
	return t.refuse(ctx, "The rule's owner is no longer an admin of the board, so the rule was "+
		"disabled.", t.occurrence.Key)
}

// stop records why a run did not happen. The status is refused if the board or card
// cannot be changed now, and failed if a person should check the rule.
func (t *execution) stop(ctx context.Context, why error, key string) (board.RunStatus, error) {
	f, ok := refusal(why)
	if !ok {
		return "", why
	}
	switch f.Code {
	case board.CodeArchived, board.CodeBoardArchived, board.CodePlanReadOnly, board.CodePlanLimit, board.CodeLimitReached,
		board.CodeCapacityFull, board.CodePowerupDisabled:
		return t.refuse(ctx, f.Message, key)
	}
	return t.write(ctx, board.RunFailed, f.Message, key, 0)
}

func (t *execution) refuse(ctx context.Context, reason, key string) (board.RunStatus, error) {
	return t.write(ctx, board.RunRefused, reason, key, 0)
}

func (t *execution) write(ctx context.Context, status board.RunStatus, reason, key string, actions int) (board.RunStatus, error) {
	run := store.Run{Key: key, Root: t.root, RuleRun: board.RuleRun{
		RuleID: t.rule.ID, BoardID: t.rule.BoardID, Type: t.occurrence.Type, CardID: t.occurrence.CardID, Status: status,
		Reason: reason, Actions: actions,
	}}
	if v := t.occurrence.BoardVersion; v > 0 {
		run.Version = &v
	}
	return status, t.tx.InsertRun(ctx, &run)
}
