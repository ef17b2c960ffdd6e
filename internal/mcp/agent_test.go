package mcp_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// An assistant that follows the prompt creates a board and changes another one. It uses only
// tools and their results. The audit log records each call with the assistant's token, and all
// changes can be undone.
func TestAgentSetsUpABoardThatCanBeUndone(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		bob := w.Person("Bob").Joins(w.workspace, board.WorkspaceMember)
		doing := w.ada.Must("create_list", fields{"boardId": w.board, "name": "Doing"}).ID()
		label := w.ada.Must("create_label", fields{"boardId": w.board, "name": "Bug", "color": "red"}).ID()
		w.ada.Must("set_card_due", fields{"cardId": w.card, "dueDate": "2026-12-01"})
		before, since := w.boardState(w.board), w.ada.Must("get_card", fields{"cardId": w.card}).Text("updatedAt")

		agent := &agent{t: t, p: w.ada.Issue(app.NewToken{Name: "assistant",
			Scopes: []board.Scope{board.ScopeRead, board.ScopeWrite}})}
		created := agent.setUp(w.workspace, "Win the fair", bob.ID)
		agent.work(w.board, w.card, doing, label, bob.ID)
		if w.boardState(w.board) == before {
			t.Fatal("the assistant's changes are not visible")
		}

		token := agent.p.Must("get_me", nil).Text("token.id")
		if n := len(w.Column("SELECT id FROM audit WHERE token_id = $1", token)); n != agent.writes {
			t.Fatalf("got %d audit entries, want %d", n, agent.writes)
		}
		changes := 0.0
		for _, boardID := range []string{created, w.board} {
			undone := agent.tool("undo_changes", fields{"boardId": boardID, "since": since})
			if undone.Get("refused") != 0.0 {
				t.Errorf("got the undo %s, want nothing refused", undone.Text)
			}
			changes += undone.Get("undone").(float64)
		}
		if changes < 20 {
			t.Errorf("got %v undone changes, want at least 20", changes)
		}
		if after := w.boardState(w.board); after != before {
			t.Errorf("after the undo: got the board\n%s\nwant\n%s", after, before)
		}
		if w.ada.Must("get_board", fields{"boardId": created}).Get("archivedAt") == nil {
			t.Error("the board of the assistant is not archived")
		}
		w.CheckConsistency()
	})
}

// boardState returns the content of a board and the details of w.card, without the times of
// changes and without versions.
func (w *world) boardState(boardID string) string {
	var b strings.Builder
	for name, in := range map[string]fields{"list_lists": {"boardId": boardID}, "list_cards": {"boardId": boardID},
		"list_labels": {"boardId": boardID}, "get_card": {"cardId": w.card}, "list_comments": {"cardId": w.card}} {
		text, err := json.Marshal(map[string]any{name: w.ada.Must(name, in).Data}, json.Deterministic(true))
		if err != nil {
			w.T.Fatal(err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	lines := strings.Split(regexp.MustCompile(`"(updatedAt|version)":[^,}]+`).ReplaceAllString(b.String(), ""), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// agent calls tools. Each change has an idempotency key. Every third change is sent twice, as
// if the first response was lost.
type agent struct {
	t      *testing.T
	p      *apptest.Person
	writes int
}

func (a *agent) tool(name string, in fields) apptest.ToolResponse {
	a.t.Helper()
	if !a.p.Registry.Named(name).ReadOnly {
		a.writes++
		in["idempotencyKey"] = "step-" + strconv.Itoa(a.writes)
	}
	response := a.p.Tool(name, in)
	if response.Failed {
		a.t.Fatalf("%s: %s", name, response.Text)
	}
	if a.writes%3 == 0 {
		if repeated := a.p.Tool(name, in); repeated.Text != response.Text && in["idempotencyKey"] != nil {
			a.t.Fatalf("%s again: got %s, want %s", name, repeated.Text, response.Text)
		}
	}
	return response
}

// setUp follows the steps of the set_up_project_board prompt in order.
func (a *agent) setUp(workspace, goal, person string) (boardID string) {
	a.t.Helper()
	prompt := a.p.RPC(apptest.Stateless, "prompts/get",
		fields{"name": "set_up_project_board", "arguments": fields{"goal": goal, "workspaceId": workspace}})
	text := prompt.Result["messages"].([]any)[0].(map[string]any)["content"].(map[string]any)["text"].(string)
	at := 0
	step := func(name string, in fields) apptest.ToolResponse {
		a.t.Helper()
		if i := strings.Index(text[at:], name); i < 0 {
			a.t.Fatalf("the prompt does not mention %s in this step: %s", name, text[at:])
		} else if strings.Count(text[:at], name) == 0 {
			at += i
		}
		return a.tool(name, in)
	}
	if n := len(step("list_boards", fields{"workspaceId": workspace}).Each("id")); n != 1 {
		a.t.Fatalf("got %d boards, want 1", n)
	}
	step("list_board_templates", fields{"workspaceId": workspace})
	people := step("list_workspace_members", fields{"workspaceId": workspace})
	if !strings.Contains(people.Text, person) {
		a.t.Fatalf("got the members %s, want %s among them", people.Text, person)
	}
	boardID = step("create_board", fields{"workspaceId": workspace, "name": "Fair", "description": goal,
		"lists":  []fields{{"name": "Later"}, {"name": "Next"}, {"name": "Doing", "wipLimit": 3}, {"name": "Done"}},
		"labels": []fields{{"name": "Press", "color": "blue"}}}).ID()
	cards := []fields{
		{"listId": "Later", "title": "Write the release", "labels": []string{"Press"}, "due": fields{"dueDate": "2026-12-24"},
			"assignees": []string{person}},
		{"listId": "Next", "title": "Call the printer", "labels": []string{"Press"}}, {"listId": "Next", "title": "Book the hall"},
	}
	numbers := step("create_cards", fields{"boardId": boardID, "cards": cards}).Column("number")
	step("add_checklist", fields{"cardId": fmt.Sprintf("Fair #%v", numbers[2]), "title": "Before", "items": []string{"Ask", "Pay"}})
	if b := step("get_board", fields{"boardId": boardID}); len(b.Get("lists").([]any)) != 4 || b.Get("url") == nil {
		a.t.Fatalf("got the board %s, want 4 lists and a url", b.Text)
	}
	if n := len(step("list_cards", fields{"boardId": boardID}).Column("number")); n != len(cards) {
		a.t.Fatalf("got %d cards, want %d", n, len(cards))
	}
	return boardID
}

// work changes a card and a label of another board, and creates a card there.
func (a *agent) work(boardID, card, list, label, person string) {
	a.t.Helper()
	a.tool("move_card", fields{"cardId": card, "listId": list})
	a.tool("update_card", fields{"cardId": card, "title": "Print it", "description": "Twice."})
	a.tool("set_card_labels", fields{"cardId": card, "add": []string{label}})
	a.tool("set_card_assignees", fields{"cardId": card, "add": []string{person}})
	a.tool("set_card_due", fields{"cardId": card, "dueDate": "2026-12-31"})
	a.tool("update_label", fields{"labelId": label, "name": "Defect"})
	a.tool("add_comment", fields{"cardId": card, "text": "Moved."})
	a.tool("add_checklist", fields{"cardId": card, "title": "Steps", "items": []string{"one"}})
	a.tool("update_card", fields{"cardId": card, "done": true})
	a.tool("clear_card_due", fields{"cardId": card})
	a.tool("create_card", fields{"listId": list, "title": "Another"})
}
