package mcp_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// listTools returns the tools that an address with a query lists.
func listTools(t *testing.T, p *apptest.Person, revision, query string) apptest.RPCResponse {
	t.Helper()
	r := p.RPCRequest(revision, "tools/list", nil)
	r.URL.RawQuery = query
	return p.Message(r)
}

// An address selects the tools that a connection lists. The scopes of the token still apply.
func TestAddressSelectsTools(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	all := toolNames(t, listTools(t, w.ada, apptest.Stateless, ""))
	reading := toolNames(t, listTools(t, w.ada.With(board.ScopeRead), apptest.Stateless, ""))
	if slices.Contains(all, "list_other_tools") {
		t.Error("the list of all tools contains list_other_tools, want only operations")
	}
	for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
		core := listTools(t, w.ada, revision, "tools=core")
		var list struct {
			Result struct {
				Tools jsontext.Value `json:"tools"`
			} `json:"result"`
		}
		if err := json.Unmarshal(core.Raw, &list); err != nil {
			t.Fatal(err)
		}
		if n, count := apptest.Tokens(t, string(list.Result.Tools)), len(toolNames(t, core)); n > 5000 || count < 20 || count > 30 {
			t.Errorf("core in %s: got %d tools with %d tokens, want 20 to 30 tools with at most 5,000", revision, count, n)
		}
		read := toolNames(t, listTools(t, w.ada.With(board.ScopeRead), revision, "tools=read"))
		if want := sorted(append(slices.Clone(reading), "list_other_tools")); !slices.Equal(read, want) {
			t.Errorf("read in %s: got the tools %v, want %v", revision, read, want)
		}
		got := toolNames(t, listTools(t, w.ada, revision, "tools=labels,comments"))
		want := []string{
			"add_comment", "create_label", "delete_comment", "delete_label", "edit_comment", "list_comments", "list_labels",
			"list_other_tools", "update_label",
		}
		if !slices.Equal(got, want) {
			t.Errorf("labels,comments in %s: got the tools %v, want %v", revision, got, want)
		}
		if got := toolNames(t, listTools(t, w.ada.With(board.ScopeRead), revision, "tools=labels")); !slices.Equal(got,
			[]string{"list_labels", "list_other_tools"}) {
			t.Errorf("labels with the scope read in %s: got the tools %v, want list_labels and list_other_tools", revision, got)
		}
		for _, query := range []string{"tools=", "tools=everything", "tools=core,%20labels"} {
			if a := listTools(t, w.ada, revision, query); a.Status != http.StatusBadRequest || a.Code == 0 ||
				!strings.Contains(a.Reason, "areas are account, workspaces, boards") {
				t.Errorf("%s in %s: got status %d, body %s; want 400 and the areas", query, revision, a.Status, a.Raw)
			}
		}
	}
}

// A connection with a toolset can find every other tool of its scopes, and call it.
func TestOtherToolsAreListed(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	editor := w.ada.With(board.ScopeRead, board.ScopeWrite)
	for _, revision := range []string{apptest.Stateless, apptest.Sessions} {
		found := toolNames(t, listTools(t, editor, revision, "tools=core"))
		r := editor.RPCRequest(revision, "tools/call", fields{"name": "list_other_tools", "arguments": fields{}})
		r.URL.RawQuery = "tools=core"
		a := editor.ToolOf(editor.Message(r))
		for _, item := range a.Data.([]any) {
			area := item.(map[string]any)
			query := strings.TrimPrefix(area["address"].(string), apptest.BaseURL+"/mcp?")
			shown := toolNames(t, listTools(t, editor, revision, query))
			for name, summary := range area["tools"].(map[string]any) {
				found = append(found, name)
				if !slices.Contains(shown, name) || summary == "" {
					t.Errorf("%s: got the tools %v and the summary %q of %s, want the tool and a summary", query, shown, summary, name)
				}
			}
		}
		want := append(toolNames(t, listTools(t, editor, revision, "")), "list_other_tools")
		if !slices.Equal(sorted(found), sorted(want)) {
			t.Errorf("core and the other tools in %s: got %v, want %v", revision, sorted(found), sorted(want))
		}
		r = editor.RPCRequest(revision, "tools/call", fields{"name": "list_labels", "arguments": fields{"boardId": w.board}})
		r.URL.RawQuery = "tools=core"
		if a := editor.ToolOf(editor.Message(r)); a.Failed {
			t.Errorf("list_labels with the core tools in %s: got %s, want success", revision, a.Text)
		}
	}
}
