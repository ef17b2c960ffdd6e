package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// Cards are a table by default. Its columns are the ones that fields selects, and its values are
// valid as input of other tools.
func TestCardsAreATable(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		bob, cleo := w.member("Bob", "bob"), w.member("Cleo", "cleo")
		red := w.ada.Must("create_label", fields{"boardId": w.board, "name": "", "color": "red"}).ID()
		bug := w.ada.Must("create_label", fields{"boardId": w.board, "name": "Bug", "color": "blue"}).ID()
		w.ada.Must("update_card", fields{"cardId": w.card, "done": true})
		second := w.ada.Must("create_card", fields{"listId": w.list, "title": "Sec\u200bond", "description": "All of it.",
			"labels": []string{red, bug}, "assignees": []string{bob, cleo}, "due": fields{"dueDate": "2026-12-01"}}).ID()
		w.ada.Must("add_checklist", fields{"cardId": second, "title": "Before", "items": []string{"one", "two"}})
		w.ada.Must("create_card", fields{"listId": w.list, "title": "Third", "assignees": []string{w.ada.ID},
			"due": fields{"dueDate": "2026-12-01", "dueTime": "09:30", "timeZone": "UTC"}})
		for _, c := range []struct {
			tool          string
			in            fields
			columns, rows string
		}{
			{"list_cards", fields{"boardId": w.board}, "[number title list labels assignees due done]",
				"[[1 Press release To do <nil> <nil> <nil> true] [2 Second To do [red Bug] [Bob Cleo] 2026-12-01] " +
					"[3 Third To do <nil> Ada 2026-12-01T09:30Z]]"},
			{"search_cards", fields{"q": "third"}, "[board number title list labels assignees due done]",
				"[[Launch 3 Third To do <nil> Ada 2026-12-01T09:30Z]]"},
			{"list_my_cards", fields{}, "[board number title list labels assignees due done]",
				"[[Launch 3 Third To do <nil> Ada 2026-12-01T09:30Z]]"},
			{"list_cards", fields{"boardId": w.board, "label": bug, "fields": "id, description,checklist,comments"},
				"[id description checklist comments]", "[[" + second + " All of it. 0/2]]"},
			{"list_cards", fields{"boardId": w.board, "label": bug, "fields": []string{"number", "url"}},
				"[number url]", "[[2 " + apptest.BaseURL + "/cards/" + second + "]]"},
			{"list_cards", fields{"boardId": w.board, "q": "nothing", "fields": nil, "view": nil},
				"[number title list labels assignees due done]", "[]"},
		} {
			for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
				a := w.ada.ToolOf(w.ada.RPC(revision, "tools/call", fields{"name": c.tool, "arguments": c.in}))
				if got := fmt.Sprint(a.Get("columns"), a.Get("rows")); got != c.columns+" "+c.rows {
					t.Errorf("%s %v: got\n%s\nwant\n%s %s", c.tool, c.in, got, c.columns, c.rows)
				}
			}
		}
		for _, in := range []fields{
			{"fields": "title,colour"}, {"fields": ""}, {"fields": 7}, {"fields": []string{}}, {"fields": "title", "view": "full"},
			{"fields": strings.Repeat("title,", 30) + "title"},
		} {
			in["boardId"] = w.board
			if a := w.ada.Tool("list_cards", in); a.Code != board.CodeInvalidRequest || !strings.HasPrefix(a.Message, "fields ") {
				t.Errorf("%v: got %s, want an error about fields", in, a.Text)
			}
		}
		if a := w.ada.Tool("list_lists", fields{"boardId": w.board, "fields": "name"}); a.Code != board.CodeInvalidRequest {
			t.Errorf("a tool without a table: got %s, want an error", a.Text)
		}
	})
}

// A model reads a board of 1,000 cards in five calls and 40,000 tokens.
func TestTableTokens(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	label := w.ada.Must("create_label", fields{"boardId": w.board, "name": "Marketing", "color": "red"}).ID()
	person := w.member("Ada Lovelace", "lovelace")
	for i := range 999 {
		w.ada.Must("create_card", fields{"listId": w.list, "title": fmt.Sprint("Write the press release draft for month ", i),
			"labels": []string{label}, "assignees": []string{person}, "due": fields{"dueDate": "2026-12-01"}})
	}
	calls, sum, cards := 0, 0, 0
	for in := (fields{"boardId": w.board, "limit": 200}); ; calls++ {
		a := w.ada.Tool("list_cards", in)
		sum += apptest.Tokens(t, a.Text)
		cards += len(a.Column("number"))
		if a.Next == "" {
			break
		}
		in["cursor"] = a.Next
	}
	if cards != 1000 || calls+1 > 5 || sum > 40_000 {
		t.Errorf("got %d cards in %d calls with %d tokens, want 1000 in at most 5 calls with at most 40,000 tokens", cards, calls+1, sum)
	}
	t.Logf("%d tokens for %d cards", sum, cards)

	// Results of the maximum size, even those with many ids, have at most 20,000 tokens.
	for name, in := range map[string]fields{
		"list_cards": {"boardId": w.board, "limit": 200, "view": "compact"}, "list_board_activity": {"boardId": w.board, "limit": 200},
		"search_cards": {"q": "is:open", "limit": 200, "fields": "id,boardId,listId"},
	} {
		a := w.ada.Tool(name, in)
		n := apptest.Tokens(t, a.Text)
		if t.Logf("%s: %d bytes, %d tokens", name, len(a.Text), n); n > 20_000 {
			t.Errorf("%s: got %d tokens, want at most 20,000", name, n)
		}
	}
}
