package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// namesake adds another member of the workspace with a name, and returns the id.
func (n *named) namesake(name string) (id string) {
	n.T.Helper()
	n.Write(board.System(), func(ctx context.Context, tx *store.Tx) error {
		u, err := app.AddUser(ctx, tx, app.NewUser{Email: "another-" + name + "@example.com", Name: name})
		if err != nil {
			return err
		}
		id = u.ID
		return tx.SetMember(ctx, n.workspace, id, board.WorkspaceMember)
	})
	return id
}

// A name that matches several records or none changes nothing. The error lists candidates.
func TestAmbiguousAndUnknownNamesAreRefused(t *testing.T) {
	bothNamed(t, func(t *testing.T, n *named) {
		doing2 := n.ada.Must("create_list", fields{"boardId": n.board, "name": "doing"}).ID()
		bug2 := n.ada.Must("create_label", fields{"boardId": n.board, "name": "BUG", "color": "blue"}).ID()
		bob2 := n.namesake("Bob")
		elsewhere := n.ada.Workspace("Elsewhere", board.PlanTeam)
		launch2 := n.ada.Must("create_board", fields{"workspaceId": elsewhere, "name": "LAUNCH"}).ID()
		one := n.ada.Must("create_card", fields{"listId": n.otherDoing, "title": "One"}).ID()
		version := n.ada.Must("get_board", fields{"boardId": n.board}).Get("version")

		n.refuses(n.ada, "move_card", fields{"cardId": n.card, "listId": "Doing"}, n.doing, doing2)
		n.refuses(n.ada, "set_card_labels", fields{"cardId": n.card, "add": []string{"bug"}}, n.bug, bug2)
		n.refuses(n.ada, "set_card_assignees", fields{"cardId": n.card, "add": []string{"bob"}}, n.bob.ID, bob2)
		n.refuses(n.ada, "archive_board", fields{"boardId": "Launch"}, n.board, launch2)
		n.refuses(n.ada, "archive_card", fields{"cardId": "#1"}, n.card, one)
		n.refuses(n.ada, "archive_list", fields{"listId": "Launch / Doing"}, n.doing, doing2)

		good := fields{"listId": n.list, "title": "A"}
		text := n.refuses(n.ada, "create_cards", fields{"boardId": n.board, "cards": []fields{good,
			{"listId": n.list, "title": "B", "labels": []string{"bug"}}}}, n.bug, bug2)
		if !strings.Contains(text, `cards[1].labels: "bug" matches more than one label.`) {
			t.Errorf("got %s, want the place of the name", text)
		}
		n.unknown(n.ada, "create_cards", fields{"boardId": n.board, "cards": []fields{good, {"listId": "Doin", "title": "B"}}}, n.doing, doing2)
		n.refuses(n.ada, "update_cards", fields{"boardId": n.board, "cardIds": []string{"#1"}, "done": true,
			"changes": []fields{{"cardIds": []string{"#1"}, "addAssignees": []string{"bob"}}}}, n.bob.ID, bob2)

		boards := candidates(n.ada.Tool("archive_board", fields{"boardId": "Launch"}))
		if fmt.Sprint(boards) != fmt.Sprintf("[map[id:%s name:Launch workspace:Engines] map[id:%s name:LAUNCH workspace:Elsewhere]]",
			n.board, launch2) {
			t.Errorf("got the candidates %v, want both boards with their workspaces", boards)
		}
		for _, c := range candidates(n.ada.Tool("set_card_labels", fields{"cardId": n.card, "add": []string{"bug"}})) {
			if c["board"] != "Launch" || c["color"] == nil {
				t.Errorf("got the candidate %v, want its board and its color", c)
			}
		}

		text = n.unknown(n.ada, "move_card", fields{"cardId": n.card, "listId": "Doin"}, n.doing, doing2)
		if !strings.Contains(text, `listId: No open list on the board is called "Doin".`) || !strings.Contains(text, "list_lists") {
			t.Errorf("got %s, want what was looked for, where, and the tool", text)
		}
		n.unknown(n.ada, "get_workspace", fields{"workspaceId": "Engine Room"}, n.workspace, elsewhere)
		n.refuses(n.ada, "set_card_assignees", fields{"cardId": n.card, "add": []string{"Zoe"}}, n.ada.ID, n.bob.ID, bob2, n.eve.ID)
		n.unknown(n.ada, "archive_card", fields{"cardId": "Launch#77"})
		n.unknown(n.ada, "archive_card", fields{"cardId": "Press release"})
		n.unknown(n.ada, "update_list", fields{"listId": "To do", "name": "X"})
		n.unknown(n.ada, "update_label", fields{"labelId": "Bug", "name": "X"})
		n.unknown(n.ada, "move_list_to_board", fields{"listId": "Doing", "boardId": n.other})
		n.unknown(n.ada, "move_card_to_board", fields{"cardId": n.card, "listId": "Doing"})

		if got := n.ada.Must("get_board", fields{"boardId": n.board}).Get("version"); got != version {
			t.Errorf("got version %v of the board, want %v", got, version)
		}
		if got := n.call(apptest.Stateless, "get_card", fields{"cardId": "Launch#1"}).ID(); got != n.card {
			t.Errorf("got the card %s, want the only card 1 on a board called Launch, %s", got, n.card)
		}
	})
}

// Of several people with a name, only those who can see the board count, unless it is shared.
func TestNamesakes(t *testing.T) {
	bothNamed(t, func(t *testing.T, n *named) {
		bob2 := n.namesake("Bob")
		private := n.ada.Must("create_board", fields{"workspaceId": n.workspace, "name": "P", "visibility": "private"}).ID()
		n.refuses(n.ada, "share_board", fields{"boardId": "P", "userId": "Bob", "role": "editor"}, n.bob.ID, bob2)
		n.ada.Must("share_board", fields{"boardId": private, "userId": n.bob.ID, "role": "editor"})
		list := n.ada.Must("create_list", fields{"boardId": private, "name": "A"}).ID()
		card := n.call(apptest.Stateless, "create_card", fields{"listId": list, "title": "A", "assignees": []string{"bob"}})
		if got := card.Response.Text("assignees.0.id"); got != n.bob.ID {
			t.Errorf("got %s, want the Bob who can see the board, %s", got, n.bob.ID)
		}
		n.refuses(n.ada, "share_board", fields{"boardId": "P", "userId": "Bob", "role": "viewer"}, n.bob.ID, bob2)
	})
}

// Archived records do not count, but they are candidates if nothing else has the name.
func TestNamesOfArchivedRecords(t *testing.T) {
	bothNamed(t, func(t *testing.T, n *named) {
		n.ada.Must("archive_list", fields{"listId": n.doing})
		n.ada.Must("archive_board", fields{"boardId": n.other})
		n.unknown(n.ada, "move_card", fields{"cardId": n.card, "listId": "doing"}, n.doing)
		n.unknown(n.ada, "get_board", fields{"boardId": "other / board"}, n.other)
		n.unknown(n.ada, "restore_list", fields{"listId": "Launch / To do"}, n.doing)
		n.unknown(n.ada, "restore_board", fields{"boardId": "Launch"}, n.other)
		doing2 := n.ada.Must("create_list", fields{"boardId": n.board, "name": "Doing"}).ID()
		if got := n.call(apptest.Stateless, "move_card", fields{"cardId": n.card, "listId": "doing"}).Response.Text("listId"); got != doing2 {
			t.Errorf("got the list %s, want the open one, %s", got, doing2)
		}
	})
}

// What the caller cannot see is the same as what does not exist, by name and by id.
func TestNamesOfInvisibleRecords(t *testing.T) {
	bothNamed(t, func(t *testing.T, n *named) {
		for _, c := range []struct {
			tool            string
			unseen, nowhere fields
		}{
			{"get_board", fields{"boardId": "Secret"}, fields{"boardId": "Secred"}},
			{"update_list", fields{"listId": "Secret / Hidden"}, fields{"listId": "Secred / Hidden"}},
			{"get_card", fields{"cardId": "Secret#1"}, fields{"cardId": "Secred#1"}},
			{"get_card", fields{"cardId": "#3"}, fields{"cardId": "#4"}},
		} {
			unseen, nowhere := n.ada.Tool(c.tool, c.unseen), n.ada.Tool(c.tool, c.nowhere)
			same := strings.NewReplacer("Secred", "Secret", "secred", "secret", "#4", "#3").Replace(string(nowhere.Raw))
			if unseen.Code != board.CodeNotFound || string(unseen.Raw) != same {
				t.Errorf("%s %v: got %s, want %s", c.tool, c.unseen, unseen.Raw, same)
			}
		}
		for tool, in := range map[string]fields{
			"get_board": {"boardId": n.secret}, "create_label": {"boardId": n.secret, "name": "X", "color": "red"},
			"list_cards":      {"boardId": n.secret, "list": "Nowhere"}, // without candidates from the board
			"set_card_labels": {"cardId": "crd_01jb2m3n4p5q6r7s8t9v0w1x2y", "add": []string{"Bug"}},
		} {
			if a := n.ada.Tool(tool, in); a.Code != board.CodeNotFound {
				t.Errorf("%s %v: got %s, want not_found", tool, in, a.Raw)
			}
		}
		limited := n.ada.Within(n.ada.Workspace("Elsewhere", board.PlanTeam))
		n.unknown(limited, "get_board", fields{"boardId": "Launch"})
		n.unknown(limited, "get_card", fields{"cardId": "#2"})
		guest := n.Person("Guest").Joins(n.workspace, board.WorkspaceGuest)
		n.unknown(guest, "get_board", fields{"boardId": "Launch"})
		n.unknown(guest, "get_card", fields{"cardId": "#2"})
	})
}

// The key of a change belongs to the ids. If the name means something else when the call is
// repeated, the repetition is refused.
func TestKeysBelongToTheIDsOfNames(t *testing.T) {
	bothNamed(t, func(t *testing.T, n *named) {
		in := fields{"cardId": "Launch#1", "listId": "Doing", "idempotencyKey": "move-1"}
		first := n.call(apptest.Stateless, "move_card", in)
		byID := fields{"cardId": n.card, "listId": n.doing, "idempotencyKey": "move-1"}
		for _, repeated := range []fields{in, byID} {
			if again := n.call(apptest.Sessions, "move_card", repeated); again.Version != first.Version {
				t.Errorf("got version %d, want the first result with %d", again.Version, first.Version)
			}
		}
		n.ada.Must("update_list", fields{"listId": n.doing, "name": "Done"})
		n.ada.Must("create_list", fields{"boardId": n.board, "name": "Doing"})
		version := n.ada.Must("get_board", fields{"boardId": n.board}).Get("version")
		n.refuses(n.ada, "move_card", in)
		if got := n.ada.Must("get_card", fields{"cardId": n.card}).Text("listId"); got != n.doing {
			t.Errorf("got the list %s, want still %s", got, n.doing)
		}
		if got := n.ada.Must("get_board", fields{"boardId": n.board}).Get("version"); got != version {
			t.Errorf("got version %v, want %v", got, version)
		}
	})
}

// An error that leaves out candidates says how many there are.
func TestErrorsCountTheirCandidates(t *testing.T) {
	n := newNamed(sqliteWorld(t, apptest.Options{}))
	for i := range 12 {
		n.ada.Must("create_label", fields{"boardId": n.board, "name": fmt.Sprintf("Team %d", i), "color": "blue"})
	}
	a := n.ada.Tool("set_card_labels", fields{"cardId": n.card, "add": []string{"Team"}})
	if got := len(candidates(a)); got != 10 || !strings.Contains(a.Text, "Only 10 of 12 candidates are listed.") {
		t.Errorf("got %d candidates and %s, want 10 of 12", got, a.Text)
	}
}

// In a search, a name that no label, list or board has is an error that suggests names, and not a
// search that finds nothing or, after a minus sign, everything. REST finds nothing, as before.
func TestUnknownNamesInSearchesAreRefused(t *testing.T) {
	bothNamed(t, func(t *testing.T, n *named) {
		for q, want := range map[string]string{
			"label:bugs":                "no label you can see has that name; labels you can see include Bug",
			"-label:Bugs":               "(at offset 7)",
			"list:progress is:open":     "no list you can see has that name; lists you can see include",
			"board:Lunch":               "no board you can see has that name; boards you can see include",
			`board:launch list:"to do"`: "", "is:archived label:bug": "",
		} {
			for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
				a := n.ada.ToolOf(n.ada.RPC(revision, "tools/call", fields{"name": "search_cards", "arguments": fields{"q": q}}))
				if a.Failed != (want != "") || !strings.Contains(a.Text, want) || a.Failed && a.Code != board.CodeInvalidRequest {
					t.Errorf("%s in %s: got %s, want %q", q, revision, a.Text, want)
				}
			}
			n.ada.Must("search_cards", fields{"q": q})
		}
		a := n.ada.Tool("list_cards", fields{"boardId": "Launch", "q": "label:bugs"})
		if !a.Failed || !strings.Contains(a.Text, "labels you can see include Bug") {
			t.Errorf("list_cards: got %s, want the labels", a.Text)
		}
		if a := n.Person("Mallory").Tool("search_cards", fields{"q": "label:bugs"}); strings.Contains(a.Text, "Bug") {
			t.Errorf("stranger: got %s, want no label of the board", a.Text)
		}
	})
}
