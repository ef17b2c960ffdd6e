package automate_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// Two rules that undo each other stop running, and the log states the reason.
func TestRulesDoNotTriggerEachOtherForever(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		engine(w.Service, 0)
		bug := []string{w.bug}
		off := w.rule(fields{"event": "label_added", "labelId": w.bug}, "", action("set_card_labels", fields{"remove": bug}))
		on := w.rule(fields{"event": "label_removed", "labelId": w.bug}, "", action("set_card_labels", fields{"add": bug}))
		self := w.rule(fields{"event": "comment_added"}, "", action("add_comment", fields{"text": "Indeed."}))
		card := w.card(nil)
		w.ada.Must("set_card_labels", fields{"cardId": card, "add": bug})
		w.ada.Must("add_comment", fields{"cardId": card, "text": "Well."})
		w.until("the rules stop", func() bool { return len(w.runs(off)) == 2 && len(w.runs(self)) == 2 })
		w.waitIdle()
		for id, want := range map[string][]string{off: {"done", "refused"}, on: {"done"}, self: {"done", "refused"}} {
			if runs := w.runs(id); !slices.Equal(runs, want) {
				t.Errorf("got runs %v, want %v", runs, want)
			}
		}
		refused := w.ada.Must("list_rule_runs", fields{"boardId": w.board, "ruleId": self, "status": "refused"})
		if !strings.HasPrefix(refused.Text("0.reason"), "The rule triggered itself") {
			t.Errorf("got the refused runs %s, want the reason \"The rule triggered itself\"", refused.Raw)
		}
		if comments := w.comments(card); len(comments) != 2 {
			t.Errorf("got comments %v, want 2", comments)
		}
	})
}

// Rules that create cards could trigger each other forever. The limit of runs per cause
// stops them.
func TestRunsPerCauseAreLimited(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		engine(w.Service, 0)
		// Without the limit, five rules that trigger each other run 5 + 20 + 60 + 120 + 120 times.
		for range 5 {
			w.rule(fields{"event": "card_created"}, "", action("create_card", fields{"listId": w.todo, "title": "One"}))
		}
		w.card(nil)
		w.until("the limit stops the runs", func() bool {
			return len(w.ada.All("list_rule_runs", "id", fields{"boardId": w.board, "status": "refused", "limit": 200})) > 0
		})
		w.waitIdle()
		if done := len(w.ada.All("list_rule_runs", "id", fields{"boardId": w.board, "status": "done", "limit": 200})); done < 5 ||
			done > board.RuleCauseRuns {
			t.Errorf("one card triggered %d runs, want 5 to %d", done, board.RuleCauseRuns)
		}
	})
}

// The number of runs per card and minute is limited.
func TestRunsPerCardAreLimited(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.Clock.Stop()
		engine(w.Service, 0)
		id := w.rule(fields{"event": "card_updated"}, "", action("add_comment", fields{"text": "Changed."}))
		card := w.card(nil)
		change := func() {
			w.ada.Must("update_card", fields{"cardId": card, "title": store.NewID("t_")})
			w.waitIdle()
		}
		for range board.RuleCardRuns + 5 {
			change()
		}
		want := slices.Repeat([]string{"done"}, board.RuleCardRuns)
		if runs := w.runs(id); !slices.Equal(runs, append(want, "refused")) {
			t.Errorf("got runs %v, want %d done and one refused", runs, board.RuleCardRuns)
		}
		w.Clock.Advance(2 * time.Minute)
		change()
		if runs := w.runs(id); runs[len(runs)-1] != "done" || len(runs) != board.RuleCardRuns+2 {
			t.Errorf("two minutes later: got runs %v, want one more done", runs)
		}
	})
}

// A rule does not run if its owner is no longer an admin.
func TestRuleStopsIfOwnerIsNoLongerAdmin(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		engine(w.Service, 0)
		w.ada.Must("share_board", fields{"boardId": w.board, "userId": w.bob.ID, "role": "admin"})
		then := []fields{action("add_comment", fields{"text": "Made."})}
		create := func(p *apptest.Person) string {
			return p.Must("create_rule", fields{"boardId": w.board, "name": "Rule", "when": fields{"event": "card_created"}, "then": then}).ID()
		}
		id := create(w.bob)
		first := w.card(nil)
		w.until("the rule has run", func() bool { return len(w.comments(first)) == 1 })
		w.ada.Must("share_board", fields{"boardId": w.board, "userId": w.bob.ID, "role": "viewer"})
		second := w.card(nil)
		w.waitIdle()
		if r := w.ada.Must("get_rule", fields{"ruleId": id}); r.Get("on") != false || r.Text("offReason") != "owner" ||
			len(w.comments(second)) > 0 {
			t.Errorf("got rule %s and comments %v, want it off and no comments", r.Raw, w.comments(second))
		}
		// A rule that is still enabled is disabled when its next event occurs.
		w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			r, err := tx.Rule(ctx, id)
			if err != nil {
				return err
			}
			r.On, r.OffReason, r.OffAt = true, nil, nil
			return tx.UpdateRule(ctx, &r)
		})
		third := w.card(nil)
		w.until("the rule is off", func() bool { return w.ada.Must("get_rule", fields{"ruleId": id}).Get("on") == false })
		if runs := w.runs(id); !slices.Equal(runs, []string{"done", "refused"}) || len(w.comments(third)) > 0 {
			t.Errorf("got runs %v and comments %v, want [done refused] and no comments", runs, w.comments(third))
		}
		// A person who enables a rule, or changes its query or actions, becomes its
		// owner.
		if r := w.ada.Must("enable_rule", fields{"ruleId": id}); r.Text("owner.id") != w.ada.ID {
			t.Errorf("got the rule %s, want the owner %s", r.Raw, w.ada.ID)
		}
		w.ada.Must("share_board", fields{"boardId": w.board, "userId": w.bob.ID, "role": "admin"})
		if r := w.bob.Must("update_rule", fields{"ruleId": id, "name": "Ours"}); r.Text("owner.id") != w.ada.ID {
			t.Errorf("after renaming the rule: got %s, want the owner %s", r.Raw, w.ada.ID)
		}
		if r := w.bob.Must("update_rule", fields{"ruleId": id, "if": "is:open"}); r.Text("owner.id") != w.bob.ID {
			t.Errorf("after changing the query: got %s, want the owner %s", r.Raw, w.bob.ID)
		}
	})
}

// Rules of a workspace in the trash do not run and stay enabled, although the workspace
// has no members. They run again after a restore.
func TestRulesStayEnabledInTrashedWorkspace(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.Clock.Stop()
		comment := action("add_comment", fields{"text": "Made."})
		created := w.rule(fields{"event": "card_created"}, "", comment)
		overdue := w.rule(fields{"event": "overdue"}, "", comment)
		day := func(offset int) string { return w.Clock.Now().UTC().AddDate(0, 0, offset).Format(board.DateLayout) }
		w.card(fields{"due": fields{"dueDate": day(1)}}) // no engine handles it before the workspace is in the trash
		w.ada.Must("delete_workspace", fields{"workspaceId": w.workspace})
		w.Clock.Advance(3 * 24 * time.Hour)
		engine(w.Service, 10*time.Millisecond)
		timed := func() (rules []board.Rule) {
			err := w.DB.Read(w.T.Context(), board.System(), func(v *store.View) (err error) {
				rules, err = v.EnabledRules(w.T.Context(), w.board, true)
				return err
			})
			if err != nil {
				t.Error(err)
			}
			return rules
		}
		apptest.Eventually(t, "all events are handled", func() bool {
			backlogs, err := w.DB.Backlogs(w.T.Context(), nil)
			rules := timed()
			return err == nil && len(backlogs) == 0 && (len(rules) == 0 || rules[0].WatchedAt == board.InstantOf(w.Clock.Now()))
		})
		w.ada.Must("restore_workspace", fields{"workspaceId": w.workspace})
		for _, id := range []string{created, overdue} {
			if r := w.ada.Must("get_rule", fields{"ruleId": id}); r.Get("on") != true || len(w.runs(id)) > 0 {
				t.Errorf("after the restore: got rule %s with runs %v, want it on without runs", r.Raw, w.runs(id))
			}
		}
		card := w.card(fields{"due": fields{"dueDate": day(1)}})
		w.until("the rule has run", func() bool { return len(w.comments(card)) == 1 })
		w.Clock.Advance(3 * 24 * time.Hour)
		w.until("both rules have run", func() bool { return len(w.comments(card)) == 2 })
	})
}

// For random rules and changes, all runs end, no rule occurs twice in a chain of
// causes, and no rule acts for a person who is not an admin.
func TestRandomRulesEnd(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		engine(w.Service, 0)
		people := []*apptest.Person{w.ada, w.bob}
		rapid.Check(t, func(rt *rapid.T) {
			w := w.withNewBoard()
			w.ada.Must("share_board", fields{"boardId": w.board, "userId": w.bob.ID, "role": "admin"})
			lists, labels := []string{w.todo, w.done}, []string{w.bug, w.idea}
			list, label := rapid.SampledFrom(lists), rapid.SampledFrom(labels)
			when := func() fields {
				in := fields{"event": rapid.SampledFrom([]string{
					"card_created", "card_entered", "card_left", "card_updated", "card_completed", "card_reopened", "label_added", "label_removed",
					"person_assigned", "person_unassigned", "due_set", "due_cleared", "comment_added",
				}).Draw(rt, "event")}
				if e := in["event"].(string); (e == "card_entered" || e == "card_left") && rapid.Bool().Draw(rt, "narrow") {
					in["listId"] = list.Draw(rt, "of list")
				}
				return in
			}
			then := func() fields {
				switch rapid.IntRange(0, 8).Draw(rt, "action") {
				case 0:
					return action("move_card", fields{"listId": list.Draw(rt, "to list")})
				case 1:
					return action("update_card", fields{"done": rapid.Bool().Draw(rt, "done")})
				case 2:
					return action("update_card", fields{"title": "{card}!"})
				case 3:
					return action("set_card_labels", fields{"add": []string{label.Draw(rt, "label")}})
				case 4:
					return action("set_card_labels", fields{"remove": []string{label.Draw(rt, "label")}})
				case 5:
					return action("set_card_assignees", fields{"add": []string{"{actor}", w.ada.ID}})
				case 6:
					return action("set_card_due", fields{"dueDate": "{today+1}"})
				case 7:
					return action("add_comment", fields{"text": "{card}"})
				}
				return action("create_card", fields{"listId": list.Draw(rt, "in list"), "title": "From {card}"})
			}
			query := rapid.SampledFrom([]string{"", "", "is:open", "-label:bug", "list:Done"})
			rules := map[string]*apptest.Person{}
			for range rapid.IntRange(2, 7).Draw(rt, "rules") {
				owner := rapid.SampledFrom(people).Draw(rt, "owner")
				in := fields{"boardId": w.board, "name": "Rule", "when": when(), "if": query.Draw(rt, "if"), "then": []fields{then(), then()}}
				rules[owner.Must("create_rule", in).ID()] = owner
			}
			card := w.card(nil)
			before := int64(-1)
			for range rapid.IntRange(2, 6).Draw(rt, "events") {
				switch rapid.IntRange(0, 5).Draw(rt, "change") {
				case 0:
					w.ada.Must("move_card", fields{"cardId": card, "listId": list.Draw(rt, "moved to")})
				case 1:
					w.ada.Must("update_card", fields{"cardId": card, "done": rapid.Bool().Draw(rt, "is done")})
				case 2:
					w.ada.Must("set_card_labels", fields{"cardId": card, "add": []string{label.Draw(rt, "added label")}})
				case 3:
					w.ada.Must("add_comment", fields{"cardId": card, "text": "Said."})
				case 4:
					card = w.card(nil)
				case 5:
					if before < 0 {
						before = w.ada.Must("share_board", fields{"boardId": w.board, "userId": w.bob.ID, "role": "viewer"}).Version
					}
				}
			}
			w.waitIdle()
			for _, cause := range w.Column("SELECT cause FROM activity WHERE cause IS NOT NULL AND board_id = $1", w.board) {
				_, chain := store.CauseOf(cause)
				if sorted := slices.Sorted(slices.Values(chain)); len(chain) > board.RuleChain || len(slices.Compact(sorted)) != len(chain) {
					rt.Errorf("got the cause %s, want at most %d rules, each only once", cause, board.RuleChain)
				}
			}
			runs := map[string]int{}
			for _, root := range w.Column("SELECT root FROM rule_runs WHERE status = 'done' AND board_id = $1", w.board) {
				if runs[root]++; runs[root] > board.RuleCauseRuns {
					rt.Errorf("cause %s: got more than %d runs", root, board.RuleCauseRuns)
				}
			}
			if before < 0 {
				return
			}
			for _, change := range w.ada.Must("list_board_changes", fields{"boardId": w.board, "since": before, "limit": 200}).Data.([]any) {
				actor := change.(map[string]any)["actor"].(map[string]any)
				if id, _ := actor["id"].(string); actor["type"] == "automation" && rules[id] != w.ada {
					rt.Errorf("got the change %v by a rule whose owner is not an admin, want none", change)
				}
			}
		})
	})
}

// withNewBoard returns a copy of the world with a new board.
func (w *world) withNewBoard() *world {
	o := *w
	o.board = w.ada.Must("create_board", fields{"workspaceId": w.workspace, "name": "New"}).ID()
	o.ada.Must("update_board", fields{"boardId": o.board, "features": fields{"automation": true}})
	o.todo = o.ada.Must("create_list", fields{"boardId": o.board, "name": "To do"}).ID()
	o.done = o.ada.Must("create_list", fields{"boardId": o.board, "name": "Done"}).ID()
	o.bug = o.ada.Must("create_label", fields{"boardId": o.board, "name": "Bug", "color": "red"}).ID()
	o.idea = o.ada.Must("create_label", fields{"boardId": o.board, "name": "Idea", "color": "lime"}).ID()
	return &o
}
