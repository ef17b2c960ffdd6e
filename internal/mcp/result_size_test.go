package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
)

// Every result has at most 60,000 bytes. A shortened result explains how to ask for less. The
// pages of a list together contain all of its records.
func TestResultsStayWithinTheSizeLimit(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		long := strings.Repeat("語<&\"", 4000)
		var cards []string
		w.ada.Must("update_card", fields{"cardId": w.card, "description": long[:16_000]})
		for i := range 25 {
			id := w.ada.Must("create_card", fields{"listId": w.list,
				"title": fmt.Sprintf("Card %d %s", i, strings.Repeat("語", 490)), "description": long[:16_000]}).ID()
			cards = append(cards, id)
			w.ada.Must("set_card_due", fields{"cardId": id, "dueDate": "2026-12-01"})
			w.ada.Must("add_comment", fields{"cardId": w.card, "text": long[:16_000]})
		}
		for i := range 150 {
			w.ada.Must("create_label",
				fields{"boardId": w.board, "name": fmt.Sprint(i, strings.Repeat("<", 60)), "color": "red"})
		}
		for i := range 60 {
			w.ada.Must("create_list", fields{"boardId": w.board, "name": fmt.Sprint(i, strings.Repeat("&", 200))})
		}
		callTool := func(name string, in fields) apptest.ToolResponse {
			t.Helper()
			a := w.ada.Tool(name, in)
			if a.Failed || len(a.Raw) > 60_000 {
				t.Errorf("%s %v: got %d bytes, %s; want success with at most 60000 bytes", name, in, len(a.Raw),
					a.Text[:min(300, len(a.Text))])
			}
			return a
		}
		if a := callTool("list_cards", fields{"boardId": w.board, "limit": 5, "view": "compact"}); strings.Contains(a.Text, "shortened") ||
			strings.Contains(a.Text, "語<&") || len(a.Each("id")) != 5 {
			t.Errorf("five compact cards: got %s, want all without descriptions", a.Text)
		}
		for name, in := range map[string]fields{
			"list_cards":          {"boardId": w.board, "limit": 200, "fields": "number,title,description"},
			"list_comments":       {"cardId": w.card, "limit": 200},
			"search_cards":        {"q": "card", "limit": 200, "view": "full"},
			"list_board_activity": {"boardId": w.board, "limit": 200}, "get_board": {"boardId": w.board},
			"get_card":               {"cardId": cards[0]},
			"get_workspace_calendar": {"workspaceId": w.workspace, "from": "2026-11-01", "to": "2026-12-31"},
			"list_labels":            {"boardId": w.board, "limit": 200},
			"update_card":            {"cardId": cards[0], "done": true},
		} {
			a := callTool(name, in)
			if !strings.Contains(a.Text, `"shortened":`) || !strings.Contains(a.Text, "Next: ") {
				t.Errorf("%s: got %s, want a shortened field that contains Next", name, a.Text[max(0, len(a.Text)-600):])
			}
		}
		for _, list := range []struct {
			name string
			in   fields
		}{
			{"list_cards", fields{"boardId": w.board, "limit": 200, "view": "full"}},
			{"list_comments", fields{"cardId": w.card, "limit": 40}}, {"list_labels", fields{"boardId": w.board}},
		} {
			var got []string
			for page, more := list.in, true; more; {
				a := callTool(list.name, page)
				got = append(got, a.Each("id")...)
				more = a.Next != ""
				page["cursor"] = a.Next
			}
			query := fields{}
			for name, v := range list.in {
				if name != "cursor" {
					query[name] = v
				}
			}
			if want := w.ada.All(list.name, "id", query); !slices.Equal(got, want) {
				t.Errorf("%s: got %d records, want the %d records of the REST API", list.name, len(got), len(want))
			}
		}
		for _, uri := range []string{"service://boards/" + w.board, "service://boards/" + w.board + "/cards/" + w.card,
			"service://boards/" + w.board + "/cards/" + cards[0]} {
			w.readResource(w.ada, apptest.Stateless, uri)
		}
	})
}

// By default, a list returns 25 records in the compact view.
func TestListsAreShortAndCompact(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		for i := range 30 {
			w.ada.Must("create_card", fields{"listId": w.list, "title": fmt.Sprint("Card ", i), "description": "long"})
		}
		a := w.ada.Tool("list_cards", fields{"boardId": w.board, "view": "compact"})
		if n := len(a.Each("id")); n != 25 || a.Next == "" || a.Get("1.description") != nil {
			t.Errorf("first page: got %d cards, next %q, %s; want 25 compact cards and a cursor", n, a.Next, a.Text)
		}
		if rest := w.ada.Tool("list_cards", fields{"boardId": w.board, "cursor": a.Next}); len(rest.Column("title")) != 6 {
			t.Errorf("second page: got %s, want 6 cards", rest.Text)
		}
		if a := w.ada.Tool("list_cards",
			fields{"boardId": w.board, "view": "full", "limit": 2}); a.Get("1.description") != "long" {
			t.Errorf("view full: got %s, want descriptions", a.Text)
		}
	})
}
