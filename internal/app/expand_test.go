package app_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// Each operation that takes expand returns the same records as the operations that list them for one card.
func TestExpandedRecords(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		other := w.owner.Must("create_card", fields{"listId": w.list, "title": "Cake"}).ID()
		for _, text := range []string{"First", "Second"} {
			w.owner.Must("add_comment", fields{"cardId": other, "text": text})
		}
		w.owner.Must("set_card_assignees", fields{"cardId": other, "add": []string{w.owner.ID}})
		lists := map[string]string{"comments": "list_comments", "checklists": "list_checklists", "attachments": "list_attachments",
			"activity": "list_board_activity"}
		samples := map[string]fields{
			"get_card": {"cardId": w.card}, "get_card_by_number": {"boardId": w.board, "number": 1}, "list_cards": {"boardId": w.board},
			"list_my_cards": {}, "search_cards": {"q": "press"},
		}
		for _, o := range s.Registry.All() {
			names := o.Expandable()
			if names == nil {
				continue
			}
			in, ok := samples[o.Name]
			if !ok {
				t.Errorf("%s: no sample", o.Name)
				continue
			}
			delete(samples, o.Name)
			a := w.owner.Must(o.Name, with(in, "expand", strings.Join(names, ",")+", comments"))
			cards, ok := a.Data.([]any)
			if !ok {
				cards = []any{a.Data}
			}
			for name, list := range lists {
				var want []any
				for _, c := range cards {
					in := fields{"cardId": c.(map[string]any)["id"]}
					if name == "activity" {
						in = with(in, "boardId", w.board)
					}
					want = append(want, w.owner.Must(list, in).Data.([]any)...)
				}
				if got := a.Expanded[name].([]any); !sameRecords(got, want) {
					t.Errorf("%s: expanded.%s: got %v, want %v", o.Name, name, got, want)
				}
			}
			one := w.owner.Must(o.Name, with(in, "expand", "comments"))
			if got := slices.Collect(maps.Keys(one.Expanded)); !slices.Equal(got, []string{"comments"}) {
				t.Errorf("%s: expand=comments: got %v, want only comments", o.Name, got)
			}
			if plain := w.owner.Must(o.Name, in); plain.Expanded != nil {
				t.Errorf("%s: got %s without expand", o.Name, plain.Raw)
			}
			w.owner.Refused(board.CodeInvalidRequest, o.Name, with(in, "expand", "comments,secrets"))
		}
		for name := range samples {
			t.Errorf("%s does not take expand", name)
		}
		empty := w.owner.Must("list_cards", fields{"boardId": w.board, "q": "nothing", "expand": "comments,activity"})
		if string(empty.Raw) != `{"data":[],"expanded":{"comments":[],"activity":[]}}` {
			t.Errorf("no cards: got %s", empty.Raw)
		}
		w.owner.Refused(board.CodeInvalidRequest, "list_lists", fields{"boardId": w.board, "expand": "cards"})
	})
}

// sameRecords reports whether two lists have the same records, in any order.
func sameRecords(a, b []any) bool {
	text := func(all []any) (out []string) {
		for _, r := range all {
			record, _ := json.Marshal(r, json.Deterministic(true))
			out = append(out, string(record))
		}
		return slices.Sorted(slices.Values(out))
	}
	return slices.Equal(text(a), text(b))
}

// A card that was on a board that the caller cannot see shows no activity from there.
func TestExpandedActivityOfAMovedCard(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		secret := w.owner.Must("create_board", fields{"workspaceId": w.workspace, "name": "Secret", "visibility": "private"}).ID()
		list := w.owner.Must("create_list", fields{"boardId": secret, "name": "Ideas"}).ID()
		card := w.owner.Must("create_card", fields{"listId": list, "title": "Surprise"}).ID()
		w.owner.Must("move_card_to_board", fields{"cardId": card, "listId": w.list})
		a := w.owner.Must("get_card", fields{"cardId": card, "expand": "activity"})
		entries := a.Expanded["activity"].([]any)
		if len(entries) == 0 {
			t.Error("got no entry of the present board")
		}
		for _, e := range entries {
			if e.(map[string]any)["boardId"] != w.board {
				t.Errorf("got the entry %v of another board", e)
			}
		}
	})
}

// More records than allowed are refused: not one of them is missing in a response.
func TestExpandIsBounded(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		card := w.newCard()
		talk := func(n int) {
			for range n {
				w.make("add_comment", fields{"cardId": card, "text": "Why?"})
			}
		}
		refused := func(name string, in fields) {
			t.Helper()
			a := w.owner.Refused(board.CodeInvalidRequest, name, in)
			const want = `"reason":"expand_limit","details":[{"field":"expand","rule":"value","allowed":"at most 500 records"}]`
			if !strings.Contains(string(a.Raw), want) {
				t.Errorf("%s %v: got %s, want %s", name, in, a.Raw, want)
			}
		}
		talk(499)
		w.make("add_checklist_item", fields{"checklistId": w.make("add_checklist", fields{"cardId": card, "title": "Why"}), "title": "x"})
		a := w.owner.Must("get_card", fields{"cardId": card, "expand": "comments,checklists"})
		if n := len(a.Expanded["comments"].([]any)); n != 499 {
			t.Errorf("got %d comments, want 499", n)
		}
		talk(1)
		w.owner.Must("get_card", fields{"cardId": card, "expand": "comments"})
		refused("get_card", fields{"cardId": card, "expand": "comments,checklists"})
		refused("get_card", fields{"cardId": card, "expand": "activity"})
		refused("list_cards", fields{"boardId": w.board, "expand": "attachments,comments"})
		w.owner.Must("list_cards", fields{"boardId": w.board, "expand": "attachments,checklists"})
	})
}

// The entity tag of a response with additional records changes with them, and is valid in If-Match for the card.
func TestExpandedResponsesHaveTags(t *testing.T) {
	t.Parallel()
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		in := fields{"cardId": w.card, "expand": "comments"}
		first := w.owner.Must("get_card", in).Header.Get("ETag")
		same := func(tag string) bool {
			t.Helper()
			return w.owner.CallWith("get_card", in, http.Header{"If-None-Match": {tag}}).Status == http.StatusNotModified
		}
		if !same(first) {
			t.Errorf("unchanged: the tag %s does not match", first)
		}
		if plain := w.owner.Must("get_card", fields{"cardId": w.card}).Header.Get("ETag"); same(plain) {
			t.Errorf("the tag %s of the card alone matches", plain)
		}
		comment := w.owner.Must("list_comments", fields{"cardId": w.card}).Data.([]any)[0].(map[string]any)["id"]
		w.owner.Must("edit_comment", fields{"commentId": comment, "text": "Changed"})
		if same(first) {
			t.Error("a comment has changed, but the tag matches")
		}
		update := fields{"cardId": w.card, "title": "With a tag"}
		tag := w.owner.Must("get_card", in).Header.Get("ETag")
		if a := w.owner.CallWith("update_card", update, http.Header{"If-Match": {tag}}); a.Status != http.StatusOK {
			t.Errorf("If-Match: got %s, want success", a.Raw)
		}
		if a := w.owner.CallWith("update_card", update, http.Header{"If-Match": {tag}}); !strings.Contains(string(a.Raw), "version_conflict") {
			t.Errorf("If-Match with an old tag: got %s, want version_conflict", a.Raw)
		}
	})
}
