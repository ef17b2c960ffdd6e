package automate

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// service implements the operations on rules. It uses the registry to validate
// the actions of rules.
type service struct{ registry *op.Registry }

// AddOperations registers the operations on rules. The operations that rules
// perform must already be registered.
func AddOperations(r *op.Registry) *op.Registry {
	s := &service{r}
	r.In("Automation", "Rules that act on cards when something happens on a board.")
	op.Query(r, "list_rules", "GET /boards/{boardId}/rules",
		"List the automation rules of a board. Everyone who can see the board can "+
			"see them.", listRules, op.Application)
	op.Query(r, "get_rule", "GET /rules/{ruleId}", "Get an automation rule.", getRule, op.Application)
	op.Command(r, "create_rule", "POST /boards/{boardId}/rules",
		"Create an automation rule. It responds to events from now on and acts with the caller's permissions. "+
			"Requires a board admin and the feature automation.",
		s.createRule, op.Admin, op.Creates, op.Application)
	op.Command(r, "update_rule", "PATCH /rules/{ruleId}",
		"Change an automation rule. A person who changes what it does becomes its owner.",
		s.updateRule, op.Admin, op.Application)
	op.Command(r, "delete_rule", "DELETE /rules/{ruleId}",
		"Delete an automation rule with its log. The changes it made stay.", deleteRule, op.Admin, op.Application)
	op.Command(r, "switch_on_rule", "POST /rules/{ruleId}/switch-on",
		"Switch an automation rule on. The caller becomes its owner. Events that happened while it was off "+
			"are not processed.",
		s.switchOnRule, op.Admin, op.Application)
	op.Command(r, "switch_off_rule", "POST /rules/{ruleId}/switch-off",
		"Switch an automation rule off.", switchOffRule, op.Admin, op.Application)
	op.Query(r, "dry_run_rule", "POST /boards/{boardId}/rule-dry-run",
		"Test an automation rule without changing anything. Looks at the 50 most recently changed cards of "+
			"the board. Returns those that match the rule's query, when its trigger last occurred for each, and "+
			"what the rule would do.",
		s.dryRun, op.Application)
	op.Query(r, "list_rule_runs", "GET /boards/{boardId}/rule-runs",
		"List the runs of a board's automation rules in the last 30 days, newest first. Refused runs are "+
			"included with the reason.",
		listRuns, op.Application)
	return r
}

// ListRunsInput is the input of list_rule_runs.
type ListRunsInput struct {
	BoardInput
	RuleID string          `json:"ruleId,omitempty" maxLength:"64" doc:"Only the runs of this rule." example:"rul_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Status board.RunStatus `json:"status,omitempty" enum:"done,failed,refused" doc:"Only entries with this status." example:"failed"`
	op.Paging
}

func listRuns(ctx context.Context, v *store.View, in ListRunsInput) (op.Page[board.RuleRun], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.RuleRun]{}, err
	}
	if _, err := v.Board(ctx, in.BoardID, board.View); err != nil {
		return op.Page[board.RuleRun]{}, err
	}
	if in.RuleID != "" {
		r, err := v.Rule(ctx, in.RuleID, board.View)
		if err == nil && r.BoardID != in.BoardID {
			err = board.NotFound()
		}
		if err != nil {
			return op.Page[board.RuleRun]{}, err
		}
	}
	all, err := v.Runs(ctx, in.BoardID, in.RuleID, in.Status, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(r board.RuleRun) any { return r.ID }), err
}
