package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// Names of every form either find exactly the record that has the name, or nothing.
func TestUnusualNames(t *testing.T) {
	bothNamed(t, func(t *testing.T, n *named) {
		list := func(name string) string {
			return n.ada.Must("create_list", fields{"boardId": n.board, "name": name}).ID()
		}
		likeID := "lst_01jb2m3n4p5q6r7s8t9v0w1x2y"
		numbered := n.ada.Must("create_board", fields{"workspaceId": n.workspace, "name": "#12"}).ID()
		sharp := n.ada.Must("create_board", fields{"workspaceId": n.workspace, "name": "C#"}).ID()
		card := func(boardID string) string {
			l := n.ada.Must("create_list", fields{"boardId": boardID, "name": "A"}).ID()
			return n.ada.Must("create_card", fields{"listId": l, "title": "A"}).ID()
		}
		inNumbered, inSharp := card(numbered), card(sharp)
		list(likeID)
		greek, turkish, wide := list("ΣΊΣΥΦΟΣ"), list("İstanbul"), list("Ａ１")
		long, slash := list(strings.Repeat("ß", 255)), list("Launch / Done")
		joined := list("Re\u200dady")
		for _, c := range []struct {
			tool string
			in   fields
			path string
			want string
		}{
			{"get_board", fields{"boardId": "#12"}, "id", numbered},
			{"get_card", fields{"cardId": "#12#1"}, "id", inNumbered},
			{"get_card", fields{"cardId": "c##1"}, "id", inSharp},
			{"get_card", fields{"cardId": "Launch#\uff12"}, "id", n.card2},
			{"move_card", fields{"cardId": n.card, "listId": "σίσυφος"}, "listId", greek},
			{"move_card", fields{"cardId": n.card, "listId": "İSTANBUL"}, "listId", turkish},
			{"move_card", fields{"cardId": n.card, "listId": "a1"}, "listId", wide},
			{"move_card", fields{"cardId": n.card, "listId": strings.Repeat("ß", 255)}, "listId", long},
			{"move_card", fields{"cardId": n.card, "listId": "Launch / Done"}, "listId", slash},
			{"move_card", fields{"cardId": n.card, "listId": "Launch / Launch / Done"}, "listId", slash},
			{"move_card", fields{"cardId": n.card, "listId": "ready"}, "listId", joined},
			{"move_card", fields{"cardId": n.card, "listId": "\u2060Rea\ufe0fdy\U000E0041\u00a0"}, "listId", joined},
		} {
			if got := n.call(apptest.Stateless, c.tool, c.in).Response.Text(c.path); got != c.want {
				t.Errorf("%s %q: got %s %s, want %s", c.tool, c.in, c.path, got, c.want)
			}
		}
		if a := n.ada.Tool("move_card", fields{"cardId": n.card, "listId": likeID}); a.Code != board.CodeNotFound {
			t.Errorf("a list with the name of an id: got %s, want not_found", a.Raw)
		}
		done := list("Done")
		n.refuses(n.ada, "move_card", fields{"cardId": n.card, "listId": "Launch / Done"}, slash, done)
		n.ada.Must("update_list", fields{"listId": done, "name": "Ready"})
		n.refuses(n.ada, "move_card", fields{"cardId": n.card, "listId": "Ready"}, joined, done)
		for name, code := range map[string]board.Code{
			"\u200b\u2060": board.CodeInvalidRequest, strings.Repeat("x", 1101): board.CodeInvalidRequest,
			strings.Repeat("\U0001F600", 200_000): board.CodeInvalidRequest, "ΣΊΣΥΦΟΣ\u0301\u0301": board.CodeNotFound,
			"lst_": board.CodeNotFound, "To do\u0000!": board.CodeInvalidRequest, "%": board.CodeNotFound, "_o do": board.CodeNotFound,
			"'; DROP TABLE lists; --": board.CodeNotFound,
		} {
			a := n.ada.Tool("move_card", fields{"cardId": n.card, "listId": name})
			if a.Code != code || len(a.Raw) > 8000 {
				t.Errorf("%.40q: got %.400s, want a short %s", name, a.Raw, code)
			}
		}
		for _, number := range []string{"#0", "#-1", "#+1", "#1.5", "#99999999999999999999", "#", "##", "Launch#", "Launch #1x", "Launch 1"} {
			n.unknown(n.ada, "get_card", fields{"cardId": number})
		}
		for _, in := range []fields{{"cardIds": []any{"#1", nil}}, {"cardIds": "#1"}, {"cardIds": []any{1}}, {"cardIds": []string{" "}},
			{"cardIds": []string{"#1", "Launch#1"}}, {"changes": []any{fields{"cardIds": []any{"#1", 1}}, nil}},
			{"changes": fields{"cardIds": []string{"#1"}}}, {"changes[0].cardIds": []string{"#1"}}, {"cardIds": "#1", "changes": []any{"#1"}}} {
			in["boardId"], in["done"] = "Launch", true
			if a := n.ada.Tool("update_cards", in); !a.Failed {
				t.Errorf("update_cards %v: got %s, want an error", in, a.Raw)
			}
		}
	})
}

// The number of names in a field and the number of boards of a call are limited. A named board
// leaves room for 100 cards. A name that is repeated counts once.
func TestManyNames(t *testing.T) {
	bothNamed(t, func(t *testing.T, n *named) {
		labels := func(count int) fields {
			names := make([]string, count)
			for i := range names {
				names[i] = strings.Repeat(" ", i) + "Bug"
			}
			return fields{"cardId": n.card, "add": names}
		}
		n.call(apptest.Stateless, "set_card_labels", labels(100))
		if text := n.refuses(n.ada, "set_card_labels", labels(101)); !strings.Contains(text, "at most 100 names") {
			t.Errorf("got %s, want the limit", text)
		}
		many := fields{"boardId": "Launch", "cardIds": slices.Repeat([]string{"#1"}, 100), "done": true}
		if text := n.ada.Tool("update_cards", many).Text; !strings.Contains(text, "must not contain an id twice") {
			t.Errorf("got %s, want an error of the operation", text)
		}
		same := fields{"listId": "doing", "title": "Same", "labels": []string{"Bug"}, "assignees": []string{"Bob", "me"}}
		n.call(apptest.Stateless, "create_cards", fields{"boardId": "Launch", "cards": slices.Repeat([]fields{same}, 100)})
		var cards []string
		for i := range 10 {
			name := fmt.Sprintf("Board %d", i)
			list := n.ada.Must("create_list", fields{
				"boardId": n.ada.Must("create_board", fields{"workspaceId": n.workspace, "name": name}).ID(), "name": "A",
			}).ID()
			n.ada.Must("create_card", fields{"listId": list, "title": "A"})
			cards = append(cards, name+"#1")
		}
		in := fields{"boardId": n.board, "cardIds": cards, "done": true}
		if text := n.ada.Tool("update_cards", in).Text; !strings.Contains(text, "must be ids of cards on the board") {
			t.Errorf("got %s, want an error of the operation", text)
		}
		in["cardIds"] = append(cards, "Launch#1")
		if text := n.refuses(n.ada, "update_cards", in); !strings.Contains(text, "at most 10 boards") {
			t.Errorf("got %s, want the limit", text)
		}
	})
}

// Looking up names does not count as requests, and a token needs only its usual scopes.
func TestNamesDoNotCountAsRequests(t *testing.T) {
	n := newNamed(sqliteWorld(t, apptest.Options{RateLimits: true}))
	n.Clock.Stop()
	remaining := func(tool string, in fields) (left int) {
		header := n.call(apptest.Stateless, tool, in).Header.Get("X-RateLimit-Remaining")
		if _, err := fmt.Sscan(header, &left); err != nil {
			t.Fatal(err)
		}
		return left
	}
	for tool, in := range map[string][2]fields{
		"move_card":    {{"cardId": n.card, "listId": n.doing}, {"cardId": "Launch#1", "listId": "Launch / To do"}},
		"search_cards": {{"q": "Second", "workspaceId": n.workspace}, {"q": "Second", "workspaceId": "Engines"}},
	} {
		before := remaining(tool, in[0])
		remaining(tool, in[1])
		if after := remaining(tool, in[0]); after != before-2 {
			t.Errorf("%s: got %d remaining requests after %d, want two less", tool, after, before)
		}
	}
	if a := n.ada.With(board.ScopeRead).Tool("archive_board", fields{"boardId": "Nowhere"}); a.Code != board.CodeInsufficientScope {
		t.Errorf("got %s, want insufficient_scope", a.Raw)
	}
}
