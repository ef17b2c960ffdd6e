package undo_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
)

// A program changes everything that can be undone. Undoing all of it restores the board, and
// undoing the undo restores what the program did.
func TestUndoRestoresTheBoard(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		before := w.state()
		p := w.program
		changes := 0
		do := func(n int, name string, in fields) apptest.Response {
			t.Helper()
			changes += n
			return p.Must(name, in)
		}
		do(1, "move_card", fields{"cardId": w.card, "listId": w.doing})
		do(2, "update_card", fields{"cardId": w.card, "title": "Print it", "description": "Twice.", "done": true})
		do(1, "update_card", fields{"cardId": w.card, "title": "Print all"})
		do(1, "set_card_labels", fields{"cardId": w.card, "remove": []string{w.label}})
		do(1, "set_card_assignees", fields{"cardId": w.card, "add": []string{w.bob.ID}, "remove": []string{w.ada.ID}})
		do(1, "set_card_due", fields{"cardId": w.card, "dueDate": "2026-12-31", "startDate": "2026-12-30"})
		do(1, "update_label", fields{"labelId": w.label, "name": "Defect", "color": "teal"})
		do(1, "update_checklist", fields{"checklistId": w.checklist, "title": "After"})
		do(2, "update_checklist_item", fields{"itemId": w.item, "title": "three", "done": true, "position": "bottom"})
		do(1, "update_list", fields{"listId": w.doing, "name": "In progress"})
		do(1, "move_list", fields{"listId": w.doing, "position": "top"})
		do(1, "update_board", fields{"boardId": w.board, "name": "Start", "description": "Soon.", "color": "teal"})
		do(1, "archive_card", fields{"cardId": w.other})
		link := do(1, "add_attachment", fields{"cardId": w.card, "url": "https://example.com/plan"}).ID()
		do(1, "update_attachment", fields{"attachmentId": link, "name": "Plan"})
		do(1, "add_checklist_item", fields{"checklistId": w.checklist, "title": "four"})
		created := do(1, "create_card", fields{"listId": w.todo, "title": "New", "position": "top"}).ID()
		do(1, "update_card", fields{"cardId": created, "title": "Newer"})
		do(1, "create_list", fields{"boardId": w.board, "name": "Later"})
		do(1, "archive_list", fields{"listId": w.todo})
		after := w.state()

		again := w.undo(p, fields{"since": always}, changes, 0, 0).Text("callId")
		w.requireState("after the undo", before)
		if last := w.lastCall(p); again != last {
			t.Errorf("got the call %s, want %s", again, last)
		}
		if a := w.undo(p, fields{"since": always}, 0, changes, 0); a.Get("callId") != nil {
			t.Errorf("an undo that changes nothing: got %s, want no id", a.Raw)
		}
		n := int(p.Must("list_my_changes", fields{"limit": 1}).Get("0.changes").(float64))
		w.undo(p, fields{"callIds": []string{again}}, n, 0, 0)
		w.requireState("after the undo of the undo", after)
		w.CheckConsistency()
	})
}

// What others changed since stays. The result names them.
func TestUndoKeepsLaterChangesOfOthers(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		p := w.program
		p.Must("update_card", fields{"cardId": w.card, "title": "Print it", "description": "Twice."})
		p.Must("set_card_labels", fields{"cardId": w.other, "add": []string{w.label}})
		created := p.Must("create_card", fields{"listId": w.todo, "title": "New"}).ID()
		p.Must("update_card", fields{"cardId": created, "title": "Newer"})
		p.Must("move_card", fields{"cardId": w.other, "listId": w.doing})
		w.bob.Must("update_card", fields{"cardId": w.card, "title": "By Bob"})
		w.bob.Must("add_comment", fields{"cardId": created, "text": "Good idea."})
		w.bob.Must("set_card_assignees", fields{"cardId": w.other, "add": []string{w.bob.ID}})

		a := w.undo(w.ada, fields{"since": always, "tokenId": w.token(p)}, 3, 0, 2)
		want := []string{
			"card.created: changed_since: Bob via Deploy script changed or used it since (comment.added).",
			"card.updated: changed_since: Bob via Deploy script changed the title of the card since.",
		}
		if got := reasons(a); !slices.Equal(got, want) {
			t.Errorf("got the reasons %q, want %q", got, want)
		}
		card, other := w.ada.Must("get_card", fields{"cardId": w.card}), w.ada.Must("get_card", fields{"cardId": w.other})
		if card.Text("title") != "By Bob" || card.Text("description") != "" {
			t.Errorf("got %s, want the title by Bob and no description", card.Raw)
		}
		if kept := w.ada.Must("get_card", fields{"cardId": created}); kept.Get("archivedAt") != nil || kept.Text("title") != "New" {
			t.Errorf("got %s, want the card with Bob's comment not archived, with its first title", kept.Raw)
		}
		if fmt.Sprint(other.Get("labels")) != "[]" || other.Text("listId") != w.todo || len(other.Get("assignees").([]any)) != 1 {
			t.Errorf("got %s, want no label, the list To do, and Bob as assignee", other.Raw)
		}
		w.CheckConsistency()
	})
}

// A change that cannot be undone does not prevent older changes of the program from being undone.
// A change that somebody took back by hand counts as undone already, and leaves no entry.
func TestUndoGoesPastWhatItCannotDo(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		hall := w.ada.All("list_cards", "id", fields{"boardId": w.board, "list": w.doing})[0]
		w.program.Must("move_card", fields{"cardId": w.other, "listId": w.doing})
		w.program.Must("move_card", fields{"cardId": w.other, "listId": w.doing, "position": "top"})
		w.bob.Must("move_card", fields{"cardId": hall, "listId": w.todo})
		a := w.undo(w.program, fields{"since": always}, 1, 0, 1)
		want := []string{"card.reordered: cannot_be_undone: The card that was before it is not in the list any more."}
		if got := reasons(a); !slices.Equal(got, want) {
			t.Errorf("got the reasons %q, want %q", got, want)
		}
		if got := w.ada.Must("get_card", fields{"cardId": w.other}); got.Text("listId") != w.todo {
			t.Errorf("got %s, want the card in its first list", got.Raw)
		}

		w.program.Must("move_card", fields{"cardId": w.card, "listId": w.todo, "position": "bottom"})
		moved := w.lastCall(w.program)
		for _, id := range []string{w.other, hall} {
			w.bob.Must("move_card", fields{"cardId": id, "listId": w.todo, "position": "bottom"})
		}
		version := w.ada.Must("get_board", fields{"boardId": w.board}).Get("version")
		if a := w.undo(w.program, fields{"callIds": []string{moved}}, 0, 1, 0); float64(a.Version) != version {
			t.Errorf("got %s, want version %v, because the card is at the top again", a.Raw, version)
		}
	})
}

// Changes are undone with the present permissions of the caller. What the caller may not do,
// and what the activity does not describe, is reported.
func TestUndoReportsWhatItCannotDo(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		p := w.program
		edited := w.make("add_comment", fields{"cardId": w.card, "text": "Now."})
		added := p.Must("add_comment", fields{"cardId": w.card, "text": "When?"}).ID()
		p.Must("edit_comment", fields{"commentId": added, "text": "When exactly?"})
		p.Must("edit_comment", fields{"commentId": edited, "text": "Soon."})
		p.Must("update_card", fields{"cardId": w.card, "title": "Print it"})
		w.ada.Must("archive_card", fields{"cardId": w.card})
		want := []string{
			"card.updated: rejected: The card is archived. Restore it first.",
			"comment.added: rejected: The card is archived. Restore it first.",
			"comment.edited: cannot_be_undone: comment.edited cannot be undone, because the activity does not contain what it replaced.",
		}
		if got := reasons(w.undo(p, fields{"since": always}, 0, 0, 4)); !slices.Equal(got, want) {
			t.Errorf("got the reasons %q, want %q", got, want)
		}
		w.ada.Must("restore_card", fields{"cardId": w.card})
		w.undo(p, fields{"since": always}, 3, 0, 1)
		if got := w.ada.All("list_comments", "id", fields{"cardId": w.card}); !slices.Equal(got, []string{edited}) {
			t.Errorf("got the comments %v, want %s", got, edited)
		}

		p.Must("move_card_to_board", fields{"cardId": w.other, "listId": w.away})
		want = []string{"card.moved: cannot_be_undone: The card moved between boards. Move it back instead."}
		if got := reasons(w.undo(p, fields{"since": always, "boardId": w.elsewhere}, 0, 0, 1)); !slices.Equal(got, want) {
			t.Errorf("got the reasons %q, want %q", got, want)
		}
		w.ada.Must("update_board", fields{"boardId": w.board, "visibility": "private"})
		w.bob.Must("list_my_changes", nil)
		if a := w.bob.Call("undo_changes", fields{"boardId": w.board, "since": always}); a.Status != 404 {
			t.Errorf("undo on a board that the person cannot see: got %s, want not found", a.Raw)
		}
	})
}

// Nobody can undo the calls of somebody else, or calls on another board.
func TestUndoOnlyOwnCalls(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.bob.Must("update_card", fields{"cardId": w.card, "title": "By Bob"})
		call := w.lastCall(w.bob)
		for what, in := range map[string]fields{
			"somebody else's call":      {"callIds": []string{call}},
			"an unknown call":           {"callIds": []string{"aud_01jb2m3n4p5q6r7s8t9v0w1x2y"}},
			"neither calls nor a time":  {},
			"both calls and a time":     {"callIds": []string{call}, "since": always},
			"a call, but another board": {"callIds": []string{w.lastCall(w.ada)}, "boardId": w.elsewhere},
		} {
			if in["boardId"] == nil {
				in["boardId"] = w.board
			}
			if a := w.ada.Call("undo_changes", in); a.Status != 400 {
				t.Errorf("%s: got status %d, body %s; want 400", what, a.Status, a.Raw)
			}
		}
		if a := w.ada.Must("undo_changes", fields{"boardId": w.board, "since": always, "tokenId": w.token(w.bob)}); a.Get("undone") != 0.0 {
			t.Errorf("undo with the token of somebody else: got %s, want nothing undone", a.Raw)
		}
		if title := w.ada.Must("get_card", fields{"cardId": w.card}).Text("title"); title != "By Bob" {
			t.Errorf("got the title %q, want Bob's", title)
		}
	})
}

// An assistant lists and undoes its calls through both revisions of the protocol. A repeated
// undo with the same key has the same result.
func TestAssistantUndoesItsCalls(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
			before := w.state()
			call := func(name string, in fields) map[string]any {
				t.Helper()
				a := w.program.RPC(revision, "tools/call", fields{"name": name, "arguments": in})
				if a.Result == nil || a.Result["isError"] == true {
					t.Fatalf("%s: got %s, want a result", name, a.Raw)
				}
				return a.Result["structuredContent"].(map[string]any)
			}
			call("update_cards", fields{"boardId": w.board, "cardIds": []string{w.card, w.other}, "done": true, "listId": w.doing})
			w.bob.Must("update_card", fields{"cardId": w.other, "done": false})
			newest := call("list_my_changes", fields{"limit": 1})["data"].([]any)[0].(map[string]any)
			if newest["operation"] != "update_cards" || newest["changes"] != 4.0 || newest["boardName"] != "Launch" {
				t.Errorf("got the call %v, want update_cards with 4 changes on Launch", newest)
			}
			in := fields{"boardId": w.board, "callIds": []string{newest["id"].(string)}, "idempotencyKey": "undo-" + revision}
			for range 2 {
				if got := call("undo_changes", in)["data"].(map[string]any); fmt.Sprint(got["undone"], got["refused"]) != "3 1" {
					t.Errorf("%s: got %v, want 3 changes undone and 1 refused", revision, got)
				}
			}
			w.requireState("after the undo", before)
		}
	})
}

// Calls that create much, or change cards in different ways, are undone as a whole.
func TestUndoOfCallsThatChangeMuch(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		before := w.state()
		w.program.Must("create_cards", fields{"boardId": w.board, "cards": []fields{
			{"listId": w.todo, "title": "One", "labels": []string{w.label}}, {"listId": w.doing, "title": "Two", "position": "top"}}})
		w.undo(w.program, fields{"callIds": []string{w.lastCall(w.program)}}, 2, 0, 0)
		w.requireState("after the undo of new cards", before)
		w.program.Must("update_cards", fields{"boardId": w.board, "cardIds": []string{w.card, w.other}, "listId": w.doing,
			"changes": []fields{{"cardIds": []string{w.card}, "dueDate": nil}, {"cardIds": []string{w.other}, "dueDate": "2027-01-01"}}})
		w.undo(w.program, fields{"callIds": []string{w.lastCall(w.program)}}, 4, 0, 0)
		w.requireState("after the undo of changes", before)

		made := w.program.Must("create_board", fields{"workspaceId": w.workspace, "name": "Fair",
			"lists": []fields{{"name": "To do"}, {"name": "Done"}}, "labels": []fields{{"name": "Hall", "color": "teal"}}})
		undone := w.program.Must("undo_changes", fields{"boardId": made.ID(), "since": always})
		b := w.ada.Must("get_board", fields{"boardId": made.ID()})
		if undone.Get("refused") != 0.0 || b.Get("archivedAt") == nil {
			t.Errorf("got the undo %s and the board %s, want it archived", undone.Raw, b.Raw)
		}
		w.CheckConsistency()
	})
}

// A deleted label, checklist or item is created again, on the same cards and in the same place.
func TestUndoRestoresWhatWasDeleted(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.ada.Must("update_checklist_item", fields{"itemId": w.item, "done": true})
		before := w.state()
		w.program.Must("update_checklist_item", fields{"itemId": w.item, "title": "three"})
		w.program.Must("delete_checklist_item", fields{"itemId": w.item})
		w.program.Must("update_label", fields{"labelId": w.label, "name": "Defect"})
		w.program.Must("delete_label", fields{"labelId": w.label})
		w.program.Must("delete_checklist", fields{"checklistId": w.checklist})
		w.undo(w.program, fields{"since": always}, 6, 0, 0)
		w.requireState("after the undo", before)
		w.CheckConsistency()
	})
}

// Calls can be undone one by one, newest first: what was undone is not a later change.
func TestUndoOneCallAfterTheOther(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		before := w.state()
		var calls []string
		for _, title := range []string{"One", "Two", "Three"} {
			w.program.Must("update_card", fields{"cardId": w.card, "title": title})
			calls = append(calls, w.lastCall(w.program))
		}
		want := []string{"card.updated: changed_since: Ada via Claude changed the title of the card since."}
		if got := reasons(w.undo(w.ada, fields{"callIds": calls[:1]}, 0, 0, 1)); !slices.Equal(got, want) {
			t.Errorf("the oldest first: got the reasons %q, want %q", got, want)
		}
		for _, call := range slices.Backward(calls) {
			w.undo(w.ada, fields{"callIds": []string{call}}, 1, 0, 0)
		}
		w.requireState("after the undo", before)
	})
}

func TestUndoIsLimited(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		cards := w.ada.All("list_cards", "id", fields{"boardId": w.board})
		for i := range 168 { // 3 changes each
			w.program.Must("update_cards", fields{"boardId": w.board, "cardIds": cards, "done": i%2 == 0})
		}
		if a := w.program.Call("undo_changes", fields{"boardId": w.board, "since": always}); !strings.Contains(string(a.Raw), `"limit_reached"`) {
			t.Errorf("504 changes: got status %d, body %s; want limit_reached", a.Status, a.Raw)
		}
		call := w.lastCall(w.program)
		w.undo(w.program, fields{"callIds": []string{call}}, 3, 0, 0)
	})
}

// After a card or a list has moved to a board that a person cannot see, neither the person's own
// calls nor the audit log contain its name.
func TestCallsDoNotNameWhatMovedAway(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.ada.Must("update_card", fields{"cardId": w.card, "title": "Plan"})
		w.ada.Must("update_list", fields{"listId": w.doing, "name": "Plans"})
		private := w.bob.Must("create_board", fields{"workspaceId": w.workspace, "name": "Private", "visibility": "private"}).ID()
		list := w.bob.Must("create_list", fields{"boardId": private, "name": "Secret"}).ID()
		w.bob.Must("move_card_to_board", fields{"cardId": w.card, "listId": list})
		w.bob.Must("move_list_to_board", fields{"listId": w.doing, "boardId": private})
		w.bob.Must("update_card", fields{"cardId": w.card, "title": "Secret plan"})
		w.bob.Must("update_list", fields{"listId": w.doing, "name": "Secret plans"})
		calls := w.ada.Must("list_my_changes", fields{"boardId": w.board, "limit": 2})
		audit := w.ada.Must("list_audit_entries", fields{"workspaceId": w.workspace})
		if strings.Contains(string(calls.Raw), "Secret") || strings.Contains(string(audit.Raw), "Secret") {
			t.Errorf("got the calls %s and the audit log %s, want no names of what is on Bob's board", calls.Raw, audit.Raw)
		}
		if calls.Text("0.subject") != w.doing || calls.Get("0.subjectName") != nil {
			t.Errorf("got the call %s, want the id of the list without a name", calls.Raw)
		}
	})
}
