package mcp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// What is not clear changes nothing. The error names the field and teaches what it accepts.
func TestUnclearDatesAreRefused(t *testing.T) {
	inTokyo(t, func(t *testing.T, n *named) {
		version := n.ada.Must("get_board", fields{"boardId": n.board}).Get("version")
		long := strings.Repeat("tomorrow ", 50_000)
		for _, c := range []struct {
			tool string
			in   fields
			want string
		}{
			{"set_card_due", fields{"dueDate": "03/04/2026"},
				`dueDate: "03/04/2026" is not a clear date. Write YYYY-MM-DD, or words such as "tomorrow"`},
			{"create_card", fields{"due": fields{"dueDate": "soon"}}, `due.dueDate: "soon" is not a clear date.`},
			{"create_card", fields{"due": fields{"dueDate": "tomorrow", "startDate": "last friday"}}, "due.startDate: "},
			{"update_cards", fields{"cardIds": []string{"#1"}, "dueDate": "29 feb"}, `dueDate: "29 feb"`},
			{"update_cards", fields{"changes": []fields{{"cardIds": []string{"#1"}}, {"cardIds": []string{"#1"}, "dueDate": "soon"}}},
				`changes[1].dueDate: "soon" is not a clear date.`},
			{"list_cards", fields{"completedFrom": "thursday"}, `"7 days ago"`}, // today or a week ago
			{"undo_changes", fields{"since": "recently"}, `"3 hours ago"`},
			{"get_board_digest", fields{"until": "tomorrow 9am"}, "until: "},
			{"set_card_due", fields{"dueDate": long}, `dueDate: "tomorrow`},
			{"set_card_due", fields{"dueDate": "today\x01\u202e"}, `"today\x01\u202e"`},
			{"set_card_due", fields{"dueDate": "today\x00"}, "U+0000"},
			{"set_card_due", fields{"dueDate": "tomorrow", "timeZone": "Nowhere"}, "timeZone must be an IANA"},
			// the engine explains wrong types and what no words can repair
			{"set_card_due", fields{"dueDate": 3}, "dueDate must be"},
			{"set_card_due", fields{"dueDate": []string{"today"}}, "dueDate must be"},
			{"set_card_due", fields{"dueDate": "today", "timeZone": 7}, "timeZone must be"},
			{"set_card_due", fields{"dueDate": "today", "startDate": "tomorrow"}, "startDate must not be after"},
			{"create_card", fields{"due": "tomorrow"}, "due must be"},
			{"create_card", fields{"due": fields{"dueDate": fields{"dueDate": "today"}}}, "dueDate must be"},
			{"list_cards", fields{"dueFrom": " "}, "dueFrom must not be empty"},
		} {
			switch c.tool {
			case "set_card_due":
				c.in["cardId"] = n.card
			case "create_card":
				c.in["listId"], c.in["title"] = n.list, "A"
			default:
				c.in["boardId"] = n.board
			}
			if c.in["cardIds"] != nil {
				c.in["done"] = true
			}
			for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
				a := n.ada.ToolOf(n.ada.RPC(revision, "tools/call", fields{"name": c.tool, "arguments": c.in}))
				if a.Code != board.CodeInvalidRequest || !strings.Contains(a.Text, c.want) || len(a.Raw) > 8000 {
					t.Errorf("%s %.200s: got %.2000s, want a short invalid_request with %s", c.tool, fmt.Sprint(c.in), a.Raw, c.want)
				}
			}
		}
		if a := n.ada.Call("set_card_due", fields{"cardId": n.card, "dueDate": "tomorrow"}); a.Code != board.CodeInvalidRequest {
			t.Errorf("REST: got %s, want that only dates are accepted", a.Raw)
		}
		a := n.ada.With(board.ScopeRead).Tool("set_card_due", fields{"cardId": n.card, "dueDate": "soon"})
		if a.Code != board.CodeInsufficientScope {
			t.Errorf("got %s, want insufficient_scope", a.Raw)
		}
		if got := n.ada.Must("get_board", fields{"boardId": n.board}).Get("version"); got != version {
			t.Errorf("got version %v of the board, want %v", got, version)
		}
	})
}

// The key of a change belongs to the date. If the words mean another date when the call is
// repeated, the repetition is refused.
func TestKeysBelongToTheDatesOfWords(t *testing.T) {
	inTokyo(t, func(t *testing.T, n *named) {
		in := fields{"cardId": n.card, "dueDate": "tomorrow", "idempotencyKey": "due-1"}
		first := n.call(apptest.Stateless, "set_card_due", in)
		exact := fields{"cardId": n.card, "dueDate": "2026-11-27", "idempotencyKey": "due-1"}
		for _, repeated := range []fields{in, exact} {
			if again := n.call(apptest.Sessions, "set_card_due", repeated); again.Version != first.Version {
				t.Errorf("%v: got version %d, want the first result with %d", repeated, again.Version, first.Version)
			}
		}
		n.Clock.Advance(20 * time.Hour)
		n.refuses(n.ada, "set_card_due", in)
		if got := n.ada.Must("get_card", fields{"cardId": n.card}).Text("dueDate"); got != "2026-11-27" {
			t.Errorf("got the due date %s, want still 2026-11-27", got)
		}
	})
}

// A time in words means the same when a call is repeated, and for the next page, although time
// has passed.
func TestTimesInWordsCanBeRepeated(t *testing.T) {
	inTokyo(t, func(t *testing.T, n *named) {
		program := n.ada.Issue(app.NewToken{Name: "Claude", Scopes: board.WorkScopes()})
		for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
			call := func(tool string, in fields) apptest.ToolResponse {
				t.Helper()
				n.Clock.Advance(time.Minute)
				a := program.ToolOf(program.RPC(revision, "tools/call", fields{"name": tool, "arguments": in}))
				if a.Failed {
					t.Fatalf("%s %v: got %s, want success", tool, in, a.Text)
				}
				return a
			}
			for _, text := range []string{"One", "Two"} {
				call("add_comment", fields{"cardId": n.card, "text": text})
			}
			in := fields{"since": "3 hours ago", "limit": 1}
			first := call("list_my_changes", in)
			in["cursor"] = first.Next
			if second := call("list_my_changes", in); second.Each("id")[0] == first.Each("id")[0] {
				t.Errorf("got %s after %s, want the second page", second.Text, first.Text)
			}
			undo := fields{"boardId": "Launch", "since": "10 minutes ago", "idempotencyKey": "undo-" + revision}
			undone := call("undo_changes", undo)
			if again := call("undo_changes", undo); undone.Get("undone") != 2.0 || again.Get("callId") != undone.Get("callId") {
				t.Errorf("got %s and then %s, want two undone comments and the same result", undone.Text, again.Text)
			}
			n.Clock.Advance(time.Hour)
		}
	})
}
