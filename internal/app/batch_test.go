package app_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// step returns an operation of a batch.
func step(operation string, input fields) fields {
	return fields{"operation": operation, "input": input}
}

func batch(mode string, steps ...fields) fields { return fields{"mode": mode, "operations": steps} }

func TestBatchInOneTransaction(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		list, ids := w.newList("one", "two")
		program := w.owner.With(board.ScopeRead, board.ScopeWrite)
		before := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version").(float64)
		a := program.Must("batch", fields{"operations": []fields{
			step("create_card", fields{"listId": list, "title": "three", "position": "top"}),
			step("add_comment", fields{"cardId": ids[0], "text": "In the batch."}),
			step("update_card", fields{"cardId": ids[0], "title": "one"}), // no change
			step("move_card", fields{"cardId": ids[0], "listId": list, "position": "bottom"}),
			step("clear_card_due", fields{"cardId": ids[1]}),
		}})
		if got := w.titles(list); !slices.Equal(got, []string{"three", "two", "one"}) {
			t.Errorf("got the cards %v, want three, two, one", got)
		}
		card := w.owner.Must("get_card", fields{"cardId": a.Text("results.0.data.id")})
		if got := a.Get("results.0.boardVersion"); card.Get("title") != "three" || got != before+1 {
			t.Errorf("result 0: got %s with version %v, want the new card with %v", card.Raw, got, before+1)
		}
		if got := a.Get("results.3.boardVersion"); a.Get("results.1.data.text") != "In the batch." || got != before+3 {
			t.Errorf("got %s, want the comment, and the version %v after the move", a.Raw, before+3)
		}
		calls := program.All("list_my_changes", "operation", fields{"limit": 5})
		if !slices.Equal(calls[:3], []string{"move_card", "add_comment", "create_card"}) {
			t.Errorf("list_my_changes: got %v, want an entry for each operation that changed something", calls)
		}
	})
}

// If an operation of a batch fails, the error names it, and nothing has happened.
func TestBatchThatFails(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		list, ids := w.newList("one")
		elsewhere := w.make("create_list", fields{"boardId": w.second, "name": "Elsewhere"})
		create := step("create_card", fields{"listId": list, "title": "two"})
		version := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version")
		for i, c := range []struct {
			steps         []fields
			code          board.Code
			message, path string
		}{
			{[]fields{create, step("update_card", fields{"cardId": ids[0], "title": 5})}, board.CodeInvalidRequest,
				"operations[1]: title must be", "operations[1].input.title"},
			{[]fields{create, create, step("archive_card", fields{"cardId": "crd_none"})}, board.CodeNotFound, "operations[2]: ", ""},
			{[]fields{create, step("create_card", fields{"listId": elsewhere, "title": "x"})}, board.CodeInvalidRequest,
				"operations[1]: In a batch with the mode all, all operations must change the same board.", ""},
			{[]fields{create, step("create_saved_filter", fields{"workspaceId": w.workspace, "name": "Mine", "query": "is:open"})},
				board.CodeInvalidRequest, "operations[1]: In a batch with the mode all", ""},
			{[]fields{create, step("update_card", fields{"cardId": ids[0], "colour": "red"})}, board.CodeInvalidRequest,
				"operations[1]: colour is not a field of update_card", "operations[1].input.colour"},
			{[]fields{create, step("update_card", nil)}, board.CodeInvalidRequest, "operations[1]: cardId is required.",
				"operations[1].input.cardId"},
		} {
			for _, a := range []apptest.Response{
				w.owner.Call("batch", batch("all", c.steps...)),
				w.owner.Keyed(fmt.Sprint("key-", i), "batch", batch("all", c.steps...)),
				w.owner.Keyed(fmt.Sprint("key-", i), "batch", batch("all", c.steps...)),
			} {
				if a.Code != c.code || !strings.Contains(string(a.Raw), `"message":"`+c.message) ||
					c.path != "" && !strings.Contains(string(a.Raw), `"field":"`+c.path+`"`) {
					t.Errorf("%v: got status %d, body %s; want %s, %q for %s", c.steps, a.Status, a.Raw, c.code, c.message, c.path)
				}
			}
		}
		if after := w.owner.Must("get_board", fields{"boardId": w.board}).Get("version"); after != version {
			t.Errorf("got the version %v of the board, want %v", after, version)
		}
	})
}

// In the mode each, operations that fail do not prevent the others.
func TestBatchOfSingleOperations(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		list, ids := w.newList("one")
		elsewhere := w.make("create_list", fields{"boardId": w.second, "name": "Elsewhere"})
		a := w.owner.With(board.ScopeRead, board.ScopeWrite).Must("batch", batch("each",
			step("create_card", fields{"listId": list, "title": "two"}),
			step("archive_card", fields{"cardId": "crd_none"}),
			step("trash_board", fields{"boardId": w.second}), // requires the admin scope
			step("create_card", fields{"listId": elsewhere, "title": "three"}),
			step("list_cards", fields{"boardId": w.board}),
			step("batch", batch("each", step("archive_card", fields{"cardId": ids[0]}))),
			step("update_card", fields{"cardId": ids[0], "title": ""}),
		))
		want := []any{nil, "not_found", "insufficient_scope", nil, "invalid_request", "invalid_request", "invalid_request"}
		for i, code := range want {
			if got := a.Get(fmt.Sprintf("results.%d.error.code", i)); got != code {
				t.Errorf("result %d: got the error %v, want %v: %s", i, got, code, a.Raw)
			}
		}
		if got := w.titles(list); !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("got the cards %v, want one and two", got)
		}
		if got := a.Get("results.3.data.listId"); got != elsewhere {
			t.Errorf("result 3: got a card in the list %v, want %s", got, elsewhere)
		}
	})
}

// A retry of a batch returns the results of the first request, and performs what is missing. Another batch
// with the same key is refused.
func TestRetryOfABatch(t *testing.T) {
	withSlow(t, 0, func(t *testing.T, ada *apptest.Person, o *slow, in fields) {
		list := ada.All("list_lists", "id", in)[0]
		create := func(title string) fields { return step("create_card", fields{"listId": list, "title": title}) }
		all := batch("all", create("one"), create("two"))
		first := ada.Keyed("all", "batch", all)
		if second := ada.Keyed("all", "batch", all); !bytes.Equal(second.Raw, first.Raw) || second.Header.Get("Idempotent-Replayed") != "true" ||
			first.Header.Get("Idempotent-Replayed") != "" || first.Status != http.StatusOK {
			t.Errorf("got\n%s and, after a retry,\n%s; want the same results", first.Raw, second.Raw)
		}
		each := batch("each", create("three"), step("wait", in), create("four"))
		var results []apptest.Response
		for _, end := range []error{errors.New("the connection to the database broke"), nil, nil} {
			o.end <- end
			results = append(results, ada.Keyed("each", "batch", each))
		}
		if a, b := results[0], results[1]; a.Get("results.1.error.code") != "internal" || b.Get("results.1.data.id") != in["boardId"] ||
			a.Text("results.0.data.id") != b.Text("results.0.data.id") || a.Text("results.2.data.id") != b.Text("results.2.data.id") {
			t.Errorf("got\n%s and, after a retry,\n%s; want the operation that failed to succeed, and the same cards", a.Raw, b.Raw)
		}
		if !bytes.Equal(results[1].Raw, results[2].Raw) || len(o.end) != 1 {
			t.Errorf("got\n%s and, after another retry,\n%s; want the same results", results[1].Raw, results[2].Raw)
		}
		for key, other := range map[string]fields{"all": batch("all", create("one")), "each": batch("each", create("three"), create("five"))} {
			if a := ada.Keyed(key, "batch", other); a.Code != board.CodeInvalidRequest || !strings.Contains(string(a.Raw), "another request") {
				t.Errorf("another batch with the key %s: got status %d, body %s; want a refusal", key, a.Status, a.Raw)
			}
		}
		if got := ada.All("list_cards", "title", in); len(got) != 4 {
			t.Errorf("got the cards %v, want one to four, each once", got)
		}
	})
}

// The stored responses to a batch do not contain the text of a comment that was deleted.
func TestRetryOfABatchWithDeletedComments(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		for _, mode := range []string{"all", "each"} {
			in := batch(mode, step("add_comment", fields{"cardId": w.card, "text": "secret one"}),
				step("add_comment", fields{"cardId": w.card, "text": "kept"}),
				step("add_comment", fields{"cardId": w.card, "text": "secret two"}))
			a := w.owner.Keyed(mode, "batch", in)
			for _, i := range []int{0, 2} {
				w.owner.Must("delete_comment", fields{"commentId": a.Text(fmt.Sprintf("results.%d.data.id", i))})
			}
			b := w.owner.Keyed(mode, "batch", in)
			if strings.Contains(string(b.Raw), "secret") || b.Get("results.1.data.text") != "kept" || b.Get("results.2.data.text") != "" {
				t.Errorf("%s: got %s, want the responses without the deleted texts", mode, b.Raw)
			}
		}
	})
}

// An operation of a batch can depend on the entity tag of its record.
func TestBatchWithEntityTags(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		tag := w.owner.Must("get_card", fields{"cardId": w.card}).Header.Get("ETag")
		rename := func(title, tag string) fields {
			one := step("update_card", fields{"cardId": w.card, "title": title})
			one["ifMatch"] = tag
			return one
		}
		w.owner.Must("batch", batch("all", rename("First", tag)))
		if a := w.owner.Call("batch", batch("all", rename("Second", tag))); a.Status != http.StatusPreconditionFailed ||
			!strings.Contains(string(a.Raw), `"current":{`) || !strings.Contains(string(a.Raw), "operations[0]: If-Match") {
			t.Errorf("got status %d, body %s; want a conflict with the current card", a.Status, a.Raw)
		}
		a := w.owner.Must("batch", batch("each", rename("Third", tag),
			rename("Fourth", w.owner.Must("get_card", fields{"cardId": w.card}).Header.Get("ETag"))))
		if a.Get("results.0.error.reason") != "version_conflict" || a.Get("results.0.error.current.title") != "First" ||
			a.Get("results.1.data.title") != "Fourth" {
			t.Errorf("got %s, want a conflict with the current card, and the card after the second operation", a.Raw)
		}
	})
}

// A batch counts as its operations against the rate limit, or not at all.
func TestRateOfABatch(t *testing.T) {
	t.Parallel()
	apptest.BothWith(t, apptest.Options{RateLimits: true}, func(t *testing.T, s *apptest.Service) {
		ada := s.Person("Ada")
		workspace := ada.Workspace("Engines", board.PlanFree)
		boardID, _, _ := newBoardWithCards(ada, workspace, 1, 1)
		cardID := ada.All("list_cards", "id", fields{"boardId": boardID})[0]
		program := ada.Within(workspace)
		left := func() int { // before this call
			n, err := strconv.Atoi(program.Must("get_me", nil).Header.Get("X-RateLimit-Remaining"))
			if err != nil {
				t.Fatal(err)
			}
			return n + 1
		}
		of := func(n int) fields {
			return batch("each", slices.Repeat([]fields{step("update_card", fields{"cardId": cardID, "title": "Card"})}, n)...)
		}
		before := left() - 1
		a := program.Must("batch", of(40))
		if got, want := a.Header.Get("X-RateLimit-Remaining"), fmt.Sprint(before-40); got != want {
			t.Errorf("after a batch of 40: got %s remaining, want %s", got, want)
		}
		if a := program.Call("batch", of(30)); a.Code != board.CodeRateLimited || a.Header.Get("Retry-After") == "" {
			t.Errorf("got status %d, body %s; want rate_limited", a.Status, a.Raw)
		}
		if got, want := left(), before-40; got != want {
			t.Errorf("after the refusal: got %d remaining, want %d", got, want)
		}
		if a := program.Refused(board.CodeInvalidRequest, "batch", of(61)); !strings.Contains(string(a.Raw), "at most 60 elements") {
			t.Errorf("a batch of 61: got %s, want the limit", a.Raw)
		}
	})
}

// Each operation that can be part of a batch succeeds in one. In the mode all, it may be refused because it changes
// more than a board.
func TestEveryOperationOfABatch(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"all", "each"} {
		apptest.Both(t, func(t *testing.T, s *apptest.Service) {
			w, count := newWorld(s), 0
			for _, o := range s.Registry.All() {
				if !o.Batchable() {
					continue
				}
				a := w.owner.Call("batch", batch(mode, step(o.Name, w.sample(t, o))))
				switch {
				case a.Status == http.StatusOK && a.Get("results.0.error") == nil && a.Get("results.0.data") != nil:
					count++
				case mode == "each" || !strings.Contains(a.Message, "must change the same board"):
					t.Errorf("%s in the mode %s: got status %d, body %s; want success", o.Name, mode, a.Status, a.Raw)
				}
			}
			if count < 40 {
				t.Errorf("%d operations are possible in the mode %s, want at least 40", count, mode)
			}
		})
	}
}

// Every public command is either possible in a batch or in this list.
func TestBatchableOperations(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, t.TempDir()+"/cardwall.db", apptest.Options{})
	var got []string
	for _, o := range s.Registry.All() {
		if o.Audience == op.Public && !o.ReadOnly && !o.Batchable() {
			got = append(got, o.Name)
		}
	}
	want := []string{"add_attachment", "append_upload", "batch", "copy_board", "copy_list", "create_board_from_template", "create_webhook",
		"delete_label", "move_list_to_board", "remove_board_member", "rotate_webhook_secret", "save_board_as_template", "set_background",
		"update_webhook"}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
