package automate_test

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cardwall/internal/apptest"
	"cardwall/internal/automate"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

type fields = apptest.Fields

func TestMain(m *testing.M) {
	if err := apptest.FewerChecks(); err != nil {
		slog.Error(err.Error())
		os.Exit(2)
	}
	goleak.VerifyTestMain(m)
}

// world is a board with automation.
type world struct {
	*apptest.Service
	ada, bob  *apptest.Person // the board's admin, and a member of the workspace
	workspace string
	board     string
	todo      string
	done      string
	bug, idea string // labels
}

func newWorld(s *apptest.Service) *world {
	w := &world{Service: s, ada: s.Person("Ada"), bob: s.Person("Bob")}
	w.workspace = w.ada.Workspace("Engines", board.PlanBusiness)
	w.bob.Joins(w.workspace, board.WorkspaceMember)
	w.board = w.ada.Must("create_board", fields{"workspaceId": w.workspace, "name": "Launch"}).ID()
	w.ada.Must("update_board", fields{"boardId": w.board, "features": fields{"automation": true}})
	w.todo = w.ada.Must("create_list", fields{"boardId": w.board, "name": "To do"}).ID()
	w.done = w.ada.Must("create_list", fields{"boardId": w.board, "name": "Done"}).ID()
	w.bug = w.ada.Must("create_label", fields{"boardId": w.board, "name": "Bug", "color": "red"}).ID()
	w.idea = w.ada.Must("create_label", fields{"boardId": w.board, "name": "Idea", "color": "lime"}).ID()
	return w
}

// engine runs rules on a service until stop is called or the test ends.
func engine(s *apptest.Service, clock time.Duration) (stop func()) {
	return engineWith(s, automate.Options{Clock: clock, Log: slog.New(slog.NewTextHandler(s.T.Output(), nil))})
}

func engineWith(s *apptest.Service, o automate.Options) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	o.DB, o.Registry, o.Holder = s.DB, s.Registry, store.NewID("srv_")
	e := automate.New(o)
	var wg sync.WaitGroup
	wg.Go(func() { e.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	s.T.Cleanup(stop)
	return stop
}

// action returns a rule action for an operation.
func action(operation string, in fields) fields {
	return fields{"operation": operation, "input": in}
}

// rule creates a rule that Ada owns.
func (w *world) rule(when fields, query string, then ...fields) string {
	w.T.Helper()
	return w.ada.Must("create_rule", fields{"boardId": w.board, "name": "Rule", "when": when, "if": query, "then": then}).ID()
}

func (w *world) card(in fields) string {
	w.T.Helper()
	all := fields{"listId": w.todo, "title": "Card"}
	for k, v := range in {
		all[k] = v
	}
	return w.ada.Must("create_card", all).ID()
}

// until waits until a condition holds.
func (w *world) until(what string, holds func() bool) {
	w.T.Helper()
	apptest.Await(w.T, what, func() (ruleRuns, bool) { return ruleRuns{w}, holds() })
}

// ruleRuns prints the runs of all rules if a test times out.
type ruleRuns struct{ w *world }

func (r ruleRuns) String() string {
	return "the runs " + string(r.w.ada.Must("list_rule_runs", fields{"boardId": r.w.board}).Raw)
}

// waitIdle waits until the rules have processed all changes.
func (w *world) waitIdle() {
	w.T.Helper()
	w.until("all changes are processed", func() bool {
		backlogs, err := w.DB.Backlogs(w.T.Context(), nil)
		return err == nil && len(backlogs) == 0
	})
}

// runs returns the statuses of a rule's runs, oldest first.
func (w *world) runs(ruleID string) []string {
	w.T.Helper()
	out := w.ada.All("list_rule_runs", "status", fields{"boardId": w.board, "ruleId": ruleID})
	slices.Reverse(out)
	return out
}

func (w *world) labels(cardID string) []string {
	w.T.Helper()
	var out []string
	for _, l := range w.ada.Must("get_card", fields{"cardId": cardID}).Get("labels").([]any) {
		out = append(out, l.(map[string]any)["name"].(string))
	}
	return out
}

func (w *world) comments(cardID string) []string {
	w.T.Helper()
	return w.ada.All("list_comments", "text", fields{"cardId": cardID})
}

func both(t *testing.T, fn func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) { fn(t, newWorld(s)) })
}
