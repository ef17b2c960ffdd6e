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
// tools and their results. The audit log records each change with the assistant's token, and
// each change can be undone.
func TestAgentSetsUpABoardThatCanBeUndone(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		bob := w.Person("Bob").Joins(w.workspace, board.WorkspaceMember)
		doing := w.ada.Must("create_list", fields{"boardId": w.board, "name": "Doing"}).ID()
		label := w.ada.Must("create_label", fields{"boardId": w.board, "name": "Bug", "color": "red"}).ID()
		w.ada.Must("set_card_due", fields{"cardId": w.card, "dueDate": "2026-12-01"})
		before := w.boardState(w.board)

		agent := &agent{t: t, p: w.ada.Issue(app.NewToken{Name: "assistant",
			Scopes: []board.Scope{board.ScopeRead, board.ScopeWrite}})}
		created := agent.setUp(w.workspace, "Win the fair", bob.ID)
		agent.work(w.board, w.card, doing, label, bob.ID)
		if agent.writes < 20 {
			t.Fatalf("got %d changes by the assistant, want at least 20", agent.writes)
		}
		if w.boardState(w.board) == before {
			t.Fatal("the assistant's changes are not visible")
		}

		token := agent.p.Must("get_me", nil).Text("token.id")
		trail := w.Column("SELECT operation || ' ' || COALESCE(board_id, '') || ' ' || COALESCE(subject, '') || ' ' || details "+
			"FROM audit WHERE token_id = $1 ORDER BY id DESC", token)
		if len(trail) != agent.writes {
			t.Fatalf("got %d audit entries, want %d: %q", len(trail), agent.writes, trail)
		}
		for _, entry := range trail {
			w.undo(t, entry)
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
	boardID = step("create_board", fields{"workspaceId": workspace, "name": "Fair", "description": goal}).ID()
	var lists []string
	for _, name := range []string{"Later", "Next", "Doing", "Done"} {
		lists = append(lists, step("create_list", fields{"boardId": boardID, "name": name}).ID())
	}
	a.tool("update_list", fields{"listId": lists[2], "wipLimit": 3})
	label := step("create_label", fields{"boardId": boardID, "name": "Press", "color": "blue"}).ID()
	var cards []string
	for i, title := range []string{"Write the release", "Call the printer", "Book the hall"} {
		in := fields{"listId": lists[min(i, 1)], "title": title, "labels": []string{label}}
		if i == 0 {
			in["due"] = fields{"dueDate": "2026-12-24"}
			in["assignees"] = []string{person}
		}
		cards = append(cards, step("create_card", in).ID())
	}
	step("add_checklist", fields{"cardId": cards[2], "title": "Before", "items": []string{"Ask", "Pay"}})
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

// undo reverts the change that an audit entry describes. It reads the previous values from the
// board's changes.
func (w *world) undo(t *testing.T, entry string) {
	t.Helper()
	parts := strings.SplitN(entry, " ", 4)
	operation, boardID, subject := parts[0], parts[1], parts[2]
	var details struct {
		BoardVersion int `json:"boardVersion"`
	}
	if err := json.Unmarshal([]byte(parts[3]), &details); err != nil {
		t.Fatal(err)
	}
	previous := map[string]any{}
	for _, c := range w.ada.Must("list_board_changes", fields{"boardId": boardID, "since": 0, "limit": 200}).Data.([]any) {
		change := c.(map[string]any)
		if int(change["boardVersion"].(float64)) != details.BoardVersion {
			continue
		}
		for field, v := range change["changes"].(map[string]any) {
			previous[field] = v.(map[string]any)["from"]
			previous["now "+field] = v.(map[string]any)["to"]
		}
	}
	fieldsOf := func(id string, names ...string) fields {
		in := fields{id: subject}
		for _, name := range names {
			if _, changed := previous["now "+name]; changed {
				in[name] = previous[name]
			}
		}
		return in
	}
	switch operation {
	case "create_board":
		w.ada.Must("archive_board", fields{"boardId": subject})
	case "create_list":
		w.ada.Must("archive_list", fields{"listId": subject})
	case "create_label":
		w.ada.Must("delete_label", fields{"labelId": subject})
	case "create_card":
		w.ada.Must("archive_card", fields{"cardId": subject})
	case "add_checklist":
		w.ada.Must("delete_checklist", fields{"checklistId": subject})
	case "add_comment":
		w.ada.Must("delete_comment", fields{"commentId": subject})
	case "update_list":
		w.ada.Must(operation, fieldsOf("listId", "name", "wipLimit"))
	case "update_label":
		w.ada.Must(operation, fieldsOf("labelId", "name", "color"))
	case "update_card":
		w.ada.Must(operation, fieldsOf("cardId", "title", "description", "done"))
	case "move_card":
		w.ada.Must(operation, fieldsOf("cardId", "listId"))
	case "set_card_labels", "set_card_assignees":
		name := strings.TrimPrefix(operation, "set_card_")
		w.ada.Must(operation, fields{"cardId": subject, "add": previous[name], "remove": previous["now "+name]})
	case "set_card_due", "clear_card_due":
		if previous["dueDate"] == nil {
			w.ada.Must("clear_card_due", fields{"cardId": subject})
			return
		}
		w.ada.Must("set_card_due", fields{"cardId": subject, "dueDate": previous["dueDate"]})
	default:
		t.Errorf("this test cannot undo %s; add it to undo", fmt.Sprint(parts))
	}
}
