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
			"see its rules.", listRules, op.Application)
	op.Query(r, "get_rule", "GET /rules/{ruleId}", "Get an automation rule.", getRule, op.Application)
	op.Command(r, "create_rule", "POST /boards/{boardId}/rules",
		"Create an automation rule. The rule handles events that happen after its creation, and acts with the caller's "+
			"permissions. The caller must be an admin of the board. Requires the automation feature.",
		s.createRule, op.Admin, op.Creates, op.Application)
	op.Command(r, "update_rule", "PATCH /rules/{ruleId}",
		"Change an automation rule. A caller who changes more than the name becomes the owner of the rule.",
		s.updateRule, op.Admin, op.Application)
	op.Command(r, "delete_rule", "DELETE /rules/{ruleId}",
		"Delete an automation rule and its log. Changes that the rule made are kept.", deleteRule, op.Admin, op.Application)
	op.Command(r, "enable_rule", "POST /rules/{ruleId}/enable",
		"Enable an automation rule. If it was disabled, the caller becomes its owner. Events that happened while it "+
			"was disabled are not handled.",
		s.enableRule, op.Admin, op.Application)
	op.Command(r, "disable_rule", "POST /rules/{ruleId}/disable",
		"Disable an automation rule.", disableRule, op.Admin, op.Application)
	op.Query(r, "dry_run_rule", "POST /boards/{boardId}/rule-dry-run",
		"Test an automation rule without changing anything. Checks the 50 most recently changed cards of the board. "+
			"For each card that matches the rule's query, returns when the trigger last occurred and what the rule would do. "+
			"The caller must be an admin of the board. Requires the automation feature.",
		s.dryRun, op.Application)
	op.Query(r, "list_rule_runs", "GET /boards/{boardId}/rule-runs",
		"List the runs of a board's automation rules in the last 30 days, newest first. Includes runs that failed "+
			"or were refused, with the reason.",
		listRuns, op.Application)
	return r
}

// ListRunsInput is the input of list_rule_runs.
type ListRunsInput struct {
	BoardInput
	RuleID string          `json:"ruleId,omitempty" maxLength:"64" doc:"Only runs of the rule with this id." example:"rul_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Status board.RunStatus `json:"status,omitempty" enum:"done,failed,refused" doc:"Only runs with this status." example:"failed"`
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
