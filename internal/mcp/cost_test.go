package mcp_test

import (
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

// The costs of the tools in docs/mcp.md are correct within a tenth.
func TestDocumentedCosts(t *testing.T) {
	w := one(t, apptest.Options{})
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
				Tools []jsontext.Value `json:"tools"`
			} `json:"result"`
		}
		if err := json.Unmarshal(w.ada.With(scopes...).RPC(apptest.Stateless, "tools/list", nil).Raw, &list); err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, tool := range list.Result.Tools {
			size += len(tool)
		}
		row := regexp.MustCompile(`(?m)^\| ` + name + ` \| (\d+) \| [\d,]+ \| ([\d,]+) \|$`).FindStringSubmatch(string(text))
		if row == nil {
			t.Fatalf("docs/mcp.md has no row for %s", name)
		}
		tokens, err := strconv.Atoi(strings.ReplaceAll(row[2], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		if have := size / tokenLength; have < tokens*9/10 || have > tokens*11/10 {
			t.Errorf("docs/mcp.md says that the tools of %s cost %d tokens; they are %d and cost %d", name, tokens,
				len(list.Result.Tools), have)
		}
	}
}

// docs/mcp.md promises undo only where a tool provides it.
func TestDocumentedUndo(t *testing.T) {
	w := one(t, apptest.Options{})
	text, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	undo := slices.ContainsFunc(w.Registry.All(), func(o *op.Operation) bool {
		return o.IsTool() && regexp.MustCompile("undo|revert").MatchString(o.Name)
	})
	if says := !strings.Contains(string(text), "There is no undo for its changes."); says != undo {
		t.Errorf("a tool that undoes changes exists: %v; docs/mcp.md mentions one: %v", undo, says)
	}
	for _, thing := range []string{"card", "list", "board"} {
		if !strings.Contains(string(text), thing+"s") || w.Registry.Named("archive_"+thing) == nil ||
			w.Registry.Named("restore_"+thing) == nil {
			t.Errorf("docs/mcp.md says that an archived %s can be restored; the tools for it are missing", thing)
		}
	}
}
