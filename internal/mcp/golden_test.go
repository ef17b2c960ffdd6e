package mcp_test

import (
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/apptest"
)

// The maximum size of the list of all tools, in tokens.
const maxTokens = 15_000

// TestGoldenTools compares the tool list of a token that has all scopes with the golden
// file. `make golden` rewrites the file.
func TestGoldenTools(t *testing.T) {
	t.Parallel()
	s := apptest.New(t, filepath.Join(t.TempDir(), "cardwall.db"), apptest.Options{})
	a := s.Person("Ada").RPC(apptest.Stateless, "tools/list", nil)
	var list struct {
		Result struct {
			Tools jsontext.Value `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal(a.Raw, &list); err != nil {
		t.Fatal(err)
	}
	got := list.Result.Tools
	if n := apptest.Tokens(t, string(got)); n > maxTokens {
		t.Errorf("tool list: got %d tokens, want at most %d; shorten descriptions", n, maxTokens)
	}
	if err := got.Indent(jsontext.WithIndent("  ")); err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	apptest.Golden(t, filepath.Join("testdata", "tools.json"), "the list of tools", got)
}
