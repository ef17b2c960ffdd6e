package automate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardwall/internal/apptest"
	"cardwall/internal/automate"
	"cardwall/internal/board"
	"cardwall/internal/dbtool"
	"cardwall/internal/hook"
	"cardwall/internal/store"
)

// delivery is the body of a webhook delivery.
type delivery struct {
	Type  string `json:"type"`
	Actor struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"actor"`
	Data struct {
		CardID string `json:"cardId"`
	} `json:"data"`
}

// receiver starts a webhook receiver on this machine and an engine that sends to it, and
// creates a webhook for the receiver. It returns a function that returns the deliveries
// so far.
func (w *world) receiver(t *testing.T, events ...string) func() []delivery {
	t.Helper()
	var (
		mu  sync.Mutex
		all []delivery
	)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var d delivery
		if err == nil {
			err = json.Unmarshal(body, &d)
		}
		if err != nil {
			t.Errorf("receive: %v", err)
		}
		mu.Lock()
		all = append(all, d)
		mu.Unlock()
	}))
	t.Cleanup(server.Close)
	guard, err := hook.NewGuard(hook.GuardOptions{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, done := t.Context(), make(chan struct{})
	hooks := hook.New(hook.Options{DB: w.DB, Guard: guard, Holder: store.NewID("srv_"), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	go func() { defer close(done); hooks.Run(ctx) }()
	t.Cleanup(func() { <-done })
	w.ada.Must("create_webhook", fields{"boardId": w.board, "url": server.URL, "events": events})
	return func() []delivery {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// When a card enters Done, a rule marks it done, and a webhook receives that change.
func TestRuleChangeReachesWebhook(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		received := w.receiver(t, "card.completed")
		engine(w.Service, 0)
		rule := w.rule(fields{"event": "card_entered", "listId": w.done}, "", action("update_card", fields{"done": true}))
		card := w.card(nil)
		w.bob.Must("move_card", fields{"cardId": card, "listId": w.done})
		w.until("the card is done", func() bool { return w.ada.Must("get_card", fields{"cardId": card}).Get("done") == true })
		w.until("the receiver has a delivery", func() bool { return len(received()) > 0 })
		for _, d := range received() {
			if d.Type != "card.completed" || d.Actor.Type != "automation" || d.Actor.ID != rule || d.Data.CardID != card {
				t.Errorf("got the delivery %+v, want card.completed for card %s by rule %s", d, card, rule)
			}
		}
		last := w.ada.Must("list_board_activity", fields{"boardId": w.board, "limit": 1})
		if last.Text("0.type") != "card.completed" || last.Text("0.actor.type") != "automation" || last.Text("0.actor.id") != rule {
			t.Errorf("got the last activity entry %s, want card.completed by rule %s", last.Raw, rule)
		}
		audit := w.ada.Must("list_audit_entries", fields{"workspaceId": w.workspace, "actor": "automation"})
		if audit.Text("0.operation") != "update_card" || audit.Text("0.subject") != card || audit.Get("0.changes.done.to") != true {
			t.Errorf("got the audit log %s, want an update_card of card %s first", audit.Raw, card)
		}
		run := w.ada.Must("list_rule_runs", fields{"boardId": w.board})
		if run.Text("0.status") != "done" || run.Text("0.cardId") != card || run.Text("0.type") != "card.moved" ||
			run.Get("0.actions") != 1.0 || run.Get("1") != nil {
			t.Errorf("got the runs %s, want one done with one action", run.Raw)
		}
	})
}

// Each trigger fires for its own event, and not for an unrelated one.
func TestEveryTrigger(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		engine(w.Service, 0)
		old := w.card(fields{"title": "Old"})
		steps := w.ada.Must("add_checklist", fields{"cardId": old, "title": "Steps", "items": []string{"one", "two"}})
		archived := w.card(fields{"title": "Archived"})
		w.ada.Must("archive_card", fields{"cardId": archived})
		item := func(i int) fields { return fields{"itemId": steps.Text(fmt.Sprintf("items.%d.id", i)), "done": true} }
		status := func() {
			w.ada.Must("post_status_update", fields{"boardId": w.board, "status": "on_track", "title": "Begun"})
		}
		call := func(name string, extra fields) func() {
			return func() {
				in := fields{"cardId": old}
				for k, v := range extra {
					in[k] = v
				}
				w.ada.Must(name, in)
			}
		}
		covered := map[board.Trigger]bool{}
		for _, c := range []struct {
			when               fields
			unrelated, trigger func()
		}{
			{fields{"event": "card_created", "listId": w.done}, func() { w.card(nil) }, func() { w.card(fields{"listId": w.done}) }},
			{fields{"event": "card_entered", "listId": w.done}, call("update_card", fields{"title": "Older"}),
				call("move_card", fields{"listId": w.done})},
			{fields{"event": "card_left", "listId": w.done}, call("move_card", fields{"listId": w.done, "position": "top"}),
				call("move_card", fields{"listId": w.todo})},
			{fields{"event": "card_updated"}, call("move_card", fields{"listId": w.done}), call("update_card", fields{"description": "More."})},
			{fields{"event": "card_completed"}, call("update_card", fields{"done": false}), call("update_card", fields{"done": true})},
			{fields{"event": "card_reopened"}, call("update_card", fields{"title": "Oldest"}), call("update_card", fields{"done": false})},
			{fields{"event": "label_added", "labelId": w.bug}, call("set_card_labels", fields{"add": []string{w.idea}}),
				call("set_card_labels", fields{"add": []string{w.bug}})},
			{fields{"event": "label_removed", "labelId": w.bug}, call("set_card_labels", fields{"remove": []string{w.idea}}),
				call("set_card_labels", fields{"remove": []string{w.bug}})},
			{fields{"event": "person_assigned", "userId": w.bob.ID}, call("set_card_assignees", fields{"add": []string{w.ada.ID}}),
				call("set_card_assignees", fields{"add": []string{w.bob.ID}})},
			{fields{"event": "person_unassigned"}, call("set_card_assignees", fields{"add": []string{w.bob.ID}}),
				call("set_card_assignees", fields{"remove": []string{w.bob.ID}})},
			{fields{"event": "due_set"}, call("set_card_due", fields{"startDate": "2026-01-01"}),
				call("set_card_due", fields{"dueDate": "2026-12-24"})},
			{fields{"event": "due_cleared"}, call("set_card_due", fields{"dueDate": "2026-12-23"}), call("clear_card_due", nil)},
			{fields{"event": "comment_added"}, call("update_card", fields{"title": "Said"}), call("add_comment", fields{"text": "Hear."})},
			{fields{"event": "item_completed"}, call("update_card", fields{"title": "Item"}),
				func() { w.ada.Must("update_checklist_item", item(0)) }},
			{fields{"event": "checklist_completed"}, func() {
				w.ada.Must("update_checklist_item", with(item(0), "done", false))
				w.ada.Must("update_checklist_item", item(0))
			}, func() { w.ada.Must("update_checklist_item", item(1)) }},
			{fields{"event": "card_archived"}, call("update_card", fields{"title": "Kept"}), call("archive_card", nil)},
			{fields{"event": "card_restored"}, func() { w.card(nil) }, call("restore_card", nil)},
			{fields{"event": "list_created"}, func() { w.card(nil) },
				func() { w.ada.Must("create_list", fields{"boardId": w.board, "name": "More"}) }},
			{fields{"event": "list_archived"}, func() { w.card(nil) }, func() {
				id := w.ada.Must("create_list", fields{"boardId": w.board, "name": "Less"}).ID()
				w.ada.Must("archive_list", fields{"listId": id})
			}},
			{fields{"event": "status_posted"}, func() { w.card(nil) }, status},
		} {
			covered[board.Trigger(c.when["event"].(string))] = true
			other := w.ada.Must("create_list", fields{"boardId": w.board, "name": "Cards made by rules"}).ID()
			id := w.rule(c.when, "", action("create_card", fields{"listId": other, "title": "Made"}))
			c.unrelated()
			w.waitIdle()
			if runs := w.runs(id); len(runs) > 0 {
				t.Errorf("%v: got runs %v after another event, want none", c.when, runs)
			}
			c.trigger()
			w.until(fmt.Sprint(c.when), func() bool { return len(w.runs(id)) > 0 })
			w.waitIdle()
			if runs := w.runs(id); !slices.Equal(runs, []string{"done"}) {
				t.Errorf("%v: got runs %v, want one done", c.when, runs)
			}
			w.ada.Must("delete_rule", fields{"ruleId": id})
		}
		for _, kind := range board.Kinds() {
			for _, trigger := range kind.Triggers {
				if !trigger.Timed() && !covered[trigger] {
					t.Errorf("no case covers the trigger %s", trigger)
				}
			}
		}
	})
}

func with(in fields, name string, value any) fields {
	out := fields{name: value}
	for k, v := range in {
		if k != name {
			out[k] = v
		}
	}
	return out
}

// A time-based rule is triggered once for each due date. A due date that passed before
// the rule existed does not trigger it.
func TestDueDatesTriggerRules(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.Clock.Stop() // a card must stay due in three days until the test advances the clock
		day := func(offset int) string { return w.Clock.Now().UTC().AddDate(0, 0, offset).Format(board.DateLayout) }
		past := w.card(fields{"due": fields{"dueDate": day(-3)}})
		first, last := w.card(fields{"due": fields{"dueDate": day(1)}}), w.card(fields{"due": fields{"dueDate": day(9)}})
		soon := w.rule(fields{"event": "due_soon", "hours": 24}, "", action("set_card_labels", fields{"add": []string{w.idea}}))
		overdue := w.rule(fields{"event": "overdue"}, "-label:none", action("set_card_labels", fields{"add": []string{w.bug}}))
		card := w.card(fields{"due": fields{"dueDate": day(4)}})
		finished := w.card(fields{"due": fields{"dueDate": day(4)}})
		w.ada.Must("update_card", fields{"cardId": finished, "done": true})
		engine(w.Service, 10*time.Millisecond)
		w.Clock.Advance(24 * time.Hour)
		w.until("the first card is due soon", func() bool { return slices.Equal(w.labels(first), []string{"Idea"}) })
		if l := w.labels(card); len(l) > 0 {
			t.Errorf("card that is due in three days: got labels %v, want none", l)
		}
		w.Clock.Advance(3 * 24 * time.Hour)
		w.until("due soon", func() bool { return slices.Equal(w.labels(card), []string{"Idea"}) })
		w.Clock.Advance(2 * 24 * time.Hour)
		w.until("overdue", func() bool { return slices.Equal(w.labels(card), []string{"Bug", "Idea"}) })
		w.Clock.Advance(5 * 24 * time.Hour)
		w.until("the last card is overdue", func() bool { return slices.Equal(w.labels(last), []string{"Bug", "Idea"}) })
		once := []string{"done", "done", "done"} // for three cards
		if a, b := w.runs(soon), w.runs(overdue); !slices.Equal(a, once) || !slices.Equal(b, once) {
			t.Errorf("got runs %v and %v, want one for each card", a, b)
		}
		if l := w.labels(past); len(l) > 0 {
			t.Errorf("card that was overdue before the rule: got labels %v, want none", l)
		}
		if l := w.labels(finished); len(l) > 0 {
			t.Errorf("card that is done: got labels %v, want none", l)
		}
	})
}

// Actions of all kinds run, with placeholders in braces replaced. They run only for cards
// that match the rule's query.
func TestActions(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.Clock.Stop() // the date must not change during the test
		engine(w.Service, 0)
		w.rule(fields{"event": "card_entered", "listId": w.done}, "label:bug",
			action("update_card", fields{"done": true, "title": "{card}, done in {list}"}),
			action("set_card_due", fields{"dueDate": "{today+3}"}),
			action("set_card_assignees", fields{"add": []string{"{actor}"}}),
			action("set_card_labels", fields{"add": []string{w.idea}, "remove": []string{w.bug}}),
			action("add_checklist", fields{"title": "After", "items": []string{"Tell {actor}", "Rest"}}),
			action("add_comment", fields{"text": "{actor} finished number {number}."}),
			action("create_card", fields{"listId": w.todo, "title": "Follow {card}", "labels": []string{w.idea}}),
			action("move_card", fields{"listId": w.done, "position": "top"}),
		)
		other, card := w.card(fields{"title": "Other"}), w.card(fields{"title": "Press", "labels": []string{w.bug}})
		w.bob.Must("move_card", fields{"cardId": other, "listId": w.done})
		w.bob.Must("move_card", fields{"cardId": card, "listId": w.done})
		w.until("the rule has run", func() bool { return len(w.comments(card)) == 1 })
		w.waitIdle()
		c := w.ada.Must("get_card", fields{"cardId": card})
		due := w.Clock.Now().UTC().AddDate(0, 0, 3).Format(board.DateLayout)
		if c.Text("title") != "Press, done in Done" || c.Text("dueDate") != due || c.Text("assignees.0.id") != w.bob.ID ||
			c.Text("labels.0.id") != w.idea ||
			c.Text("checklists.0.items.0.title") != "Tell Bob" || c.Get("done") != true || c.Get("labels.1") != nil {
			t.Errorf("got the card %s, want the values that the actions set", c.Raw)
		}
		comments := w.ada.Must("list_comments", fields{"cardId": card})
		if comments.Text("0.text") != "Bob finished number 2." || comments.Get("0.author") != nil {
			t.Errorf("got the comments %s, want one of the rule that names Bob and number 2", comments.Raw)
		}
		created := w.ada.Must("list_cards", fields{"boardId": w.board, "list": w.todo})
		if created.Text("0.title") != "Follow Press" || created.Get("0.createdBy") != nil || created.Get("1") != nil {
			t.Errorf("got the cards %s, want only Follow Press, without a creator", created.Raw)
		}
		if c := w.ada.Must("get_card", fields{"cardId": other}); c.Get("done") != false {
			t.Errorf("card that does not match the query: got %s, want it unchanged", c.Raw)
		}
	})
}

// If one action of a run is refused, the whole run is undone.
func TestRefusedActionUndoesRun(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		engine(w.Service, 0)
		archived := w.ada.Must("create_list", fields{"boardId": w.board, "name": "Archived"}).ID()
		id := w.rule(fields{"event": "card_completed"}, "", action("add_comment", fields{"text": "Done."}),
			action("move_card", fields{"listId": archived}))
		w.ada.Must("archive_list", fields{"listId": archived})
		card := w.card(nil)
		before := w.ada.Must("get_board", fields{"boardId": w.board}).Get("version").(float64)
		w.ada.Must("update_card", fields{"cardId": card, "done": true})
		w.until("the rule has run", func() bool { return len(w.runs(id)) == 1 })
		run := w.ada.Must("list_rule_runs", fields{"boardId": w.board})
		if run.Text("0.status") != "refused" || !strings.HasPrefix(run.Text("0.reason"), "move_card: ") || run.Get("0.actions") != 0.0 {
			t.Errorf("got the runs %s, want one refused because of move_card", run.Raw)
		}
		if comments := w.comments(card); len(comments) > 0 {
			t.Errorf("got comments %v of the first action, want none, because the run is undone", comments)
		}
		if after := w.ada.Must("get_board", fields{"boardId": w.board}).Get("version").(float64); after != before+1 {
			t.Errorf("got board version %v, want %v", after, before+1)
		}
		if findings, err := dbtool.Examine(t.Context(), w.DB); err != nil || len(findings) > 0 {
			t.Errorf("doctor: got findings %v, error %v; want none", findings, err)
		}
	})
}

// A rule that fails repeatedly is disabled.
func TestFailingRuleIsDisabled(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		engine(w.Service, 0)
		id := w.rule(fields{"event": "comment_added"}, "", action("set_card_labels", fields{"add": []string{w.bug}}))
		w.ada.Must("delete_label", fields{"labelId": w.bug})
		for range board.RuleFailures + 3 {
			w.ada.Must("add_comment", fields{"cardId": w.card(nil), "text": "Again."})
		}
		w.until("the rule is off", func() bool { return w.ada.Must("get_rule", fields{"ruleId": id}).Get("on") == false })
		if r := w.ada.Must("get_rule", fields{"ruleId": id}); r.Text("offReason") != "failures" {
			t.Errorf("got the rule %s, want offReason failures", r.Raw)
		}
		if l := w.ada.Must("list_rules", fields{"boardId": w.board}); !slices.Equal(l.Each("id"), []string{id}) ||
			l.Get("0.on") != false {
			t.Errorf("got the rules %s, want only rule %s, off", l.Raw, id)
		}
		w.waitIdle()
		if runs := w.runs(id); len(runs) != board.RuleFailures || slices.Contains(runs, "done") {
			t.Errorf("got runs %v, want %d that failed", runs, board.RuleFailures)
		}
	})
}

// A rule that is renamed still runs for changes and dates that it has not handled yet.
func TestRenamedRuleHandlesEarlierEvents(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.Clock.Stop()
		comment := action("add_comment", fields{"text": "Made."})
		rules := []string{w.rule(fields{"event": "card_created"}, "", comment), w.rule(fields{"event": "overdue"}, "", comment)}
		tomorrow := w.Clock.Now().UTC().AddDate(0, 0, 1).Format(board.DateLayout)
		card := w.card(fields{"due": fields{"dueDate": tomorrow}})
		w.Clock.Advance(3 * 24 * time.Hour)
		for _, id := range rules {
			w.ada.Must("update_rule", fields{"ruleId": id, "name": "Renamed"})
		}
		engine(w.Service, 10*time.Millisecond)
		w.until("both rules have run", func() bool { return len(w.comments(card)) == 2 })
	})
}

// Progress is stored although a server that no longer exists has a lease on the board, as in
// a SQLite database that was restored from PostgreSQL.
func TestProgressIsStoredDespiteFormerLease(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.rule(fields{"event": "card_created"}, "", action("add_comment", fields{"text": "Made."}))
		apptest.Change(t, w.DB, "UPDATE automation_boards SET holder = 'srv_former', until = 1")
		engine(w.Service, 0)
		card := w.card(nil)
		w.until("the rule has run", func() bool { return len(w.comments(card)) == 1 })
		w.waitIdle() // reads the stored progress
	})
}

// Changes that send no events do not trigger a rule. Neither do changes made before the
// rule was created, or while the rule or the feature was disabled.
func TestChangesThatTriggerNoRule(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		card := w.card(fields{"title": "Before the rule"})
		id := w.rule(fields{"event": "card_created"}, "", action("add_comment", fields{"text": "Made."}))
		engine(w.Service, 0)
		second := w.ada.Must("create_board", fields{"workspaceId": w.workspace, "name": "Second"}).ID()
		list := w.ada.Must("create_list", fields{"boardId": second, "name": "List"}).ID()
		source := w.ada.Must("create_card", fields{"listId": list, "title": "Source"}).ID()
		copied := w.ada.Must("copy_card", fields{"cardId": source, "listId": w.todo}).ID()
		w.waitIdle()
		w.ada.Must("disable_rule", fields{"ruleId": id})
		off := w.card(fields{"title": "While it was off"})
		w.ada.Must("enable_rule", fields{"ruleId": id})
		w.ada.Must("update_board", fields{"boardId": w.board, "features": fields{"automation": false}})
		without := w.card(fields{"title": "Without the feature"})
		w.waitIdle()
		w.ada.Must("update_board", fields{"boardId": w.board, "features": fields{"automation": true}})
		after := w.card(fields{"title": "After"})
		w.until("the rule has run", func() bool { return len(w.comments(after)) == 1 })
		w.waitIdle()
		for _, id := range []string{card, copied, off, without} {
			if comments := w.comments(id); len(comments) > 0 {
				t.Errorf("card %q: got comments %v, want none", w.ada.Must("get_card", fields{"cardId": id}).Text("title"), comments)
			}
		}
	})
}

// Several servers process each event once, even if one of them stops.
func TestSeveralServersRunRuleOnce(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		nodes := []*apptest.Service{w.Service}
		if w.DB.Shared() {
			nodes = append(nodes, w.Node(), w.Node())
		}
		stop := make([]func(), len(nodes))
		for i, n := range nodes {
			stop[i] = engine(n, 0)
		}
		w.rule(fields{"event": "card_created"}, "", action("add_comment", fields{"text": "Made."}))
		var cards []string
		for i := range 60 {
			ada := w.ada.At(nodes[i%len(nodes)])
			cards = append(cards, ada.Must("create_card", fields{"listId": w.todo, "title": "Card"}).ID())
			if i == 30 {
				stop[0]()
				if len(nodes) == 1 {
					stop[0] = engine(nodes[0], 0)
				}
			}
		}
		w.until("the last card has a comment", func() bool { return len(w.comments(cards[len(cards)-1])) > 0 })
		w.waitIdle()
		for _, id := range cards {
			if comments := w.comments(id); len(comments) != 1 {
				t.Errorf("got %d comments on a card, want 1", len(comments))
			}
		}
	})
}

// If another transaction keeps the board locked, the rule waits and then runs.
func TestRuleWaitsForLockedBoard(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, apptest.WithLockTimeout(t, apptest.PostgresURL(t), 50*time.Millisecond), apptest.Options{})
	w := newWorld(s)
	rule := w.rule(fields{"event": "card_created"}, "", action("add_comment", fields{"text": "Made."}))
	card := w.card(nil)
	held, release := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		w.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Board(ctx, w.board, board.Administer)
			close(held)
			<-release
			return err
		})
	})
	<-held
	logged := make(logLines, 100)
	engineWith(s, automate.Options{Log: slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelError}))})
	waits := map[string]bool{} // by when they began
	apptest.Eventually(t, "the rule has waited more often than it would retry after unexpected errors", func() bool {
		for _, at := range s.Column("SELECT query_start::text FROM pg_stat_activity WHERE wait_event_type = 'Lock'" +
			" AND datname = current_database()") {
			waits[at] = true
		}
		return len(waits) > 3
	})
	close(release)
	holder.Wait()
	w.until("the card has a comment", func() bool { return len(w.comments(card)) == 1 })
	if got := w.runs(rule); !slices.Equal(got, []string{"done"}) {
		t.Errorf("got runs %v, want one done", got)
	}
	if len(logged) > 0 {
		t.Errorf("got the logged error %s, want none, because the rule only waits", <-logged)
	}
}

// logLines is a writer that sends each log line to a channel.
type logLines chan string

func (c logLines) Write(text []byte) (int, error) {
	c <- string(text)
	return len(text), nil
}
