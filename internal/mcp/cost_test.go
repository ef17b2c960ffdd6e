package mcp_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// The token costs in docs/mcp.md differ from the actual costs by at most 10%.
func TestDocumentedCosts(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	text, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, scopes := range map[string][]board.Scope{
		"read": {board.ScopeRead}, "read, write": {board.ScopeRead, board.ScopeWrite},
		"read, write, admin": {board.ScopeRead, board.ScopeWrite, board.ScopeAdmin},
	} {
		var list struct {
			Result struct {
				Tools jsontext.Value `json:"tools"`
			} `json:"result"`
		}
		if err := json.Unmarshal(w.ada.With(scopes...).RPC(apptest.Stateless, "tools/list", nil).Raw, &list); err != nil {
			t.Fatal(err)
		}
		count := bytes.Count(list.Result.Tools, []byte(`"inputSchema":`))
		row := regexp.MustCompile(`(?m)^\| ` + name + ` \| (\d+) \| ([\d,]+) \|$`).FindStringSubmatch(string(text))
		if row == nil {
			t.Fatalf("docs/mcp.md has no row for %s", name)
		}
		if got := strconv.Itoa(count); row[1] != got {
			t.Errorf("docs/mcp.md, scopes %s: got %s tools, want %s", name, row[1], got)
		}
		documented, err := strconv.Atoi(strings.ReplaceAll(row[2], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		if actual := apptest.Tokens(t, string(list.Result.Tools)); actual < documented*9/10 || actual > documented*11/10 {
			t.Errorf("docs/mcp.md, scopes %s: got %d tokens, want about %d", name, documented, actual)
		}
	}
}

// docs/mcp.md says that there is no undo exactly if no tool undoes changes.
func TestDocumentedUndo(t *testing.T) {
	w := sqliteWorld(t, apptest.Options{})
	text, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	undo := slices.ContainsFunc(w.Registry.All(), func(o *op.Operation) bool {
		return o.IsTool() && regexp.MustCompile("undo|revert").MatchString(o.Name)
	})
	if documented := !strings.Contains(string(text), "There is no undo for its changes."); documented != undo {
		t.Errorf("docs/mcp.md says that there is an undo: %v, want %v as in the tools", documented, undo)
	}
	for _, object := range []string{"card", "list", "board"} {
		if !strings.Contains(string(text), object+"s") || w.Registry.Named("archive_"+object) == nil ||
			w.Registry.Named("restore_"+object) == nil {
			t.Errorf("docs/mcp.md and the tools must both cover archiving and restoring a %s", object)
		}
	}
}
