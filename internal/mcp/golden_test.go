package mcp_test

import (
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/apptest"
)

// The maximum size of the tool list.
const (
	maxTokens    = 18_000
	tokenLength  = 4 // average characters per token
	maxListBytes = 100_000
)

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
	t.Logf("the tool list has %d bytes, %d tokens", len(got), len(got)/tokenLength)
	if tokens := len(got) / tokenLength; tokens > maxTokens {
		t.Errorf("tool list: got %d tokens, want at most %d; shorten descriptions", tokens, maxTokens)
	}
	if len(a.Raw) > maxListBytes {
		t.Errorf("tool list: got %d bytes, want at most %d", len(a.Raw), maxListBytes)
	}
	if err := got.Indent(jsontext.WithIndent("  ")); err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	apptest.Golden(t, filepath.Join("testdata", "tools.json"), "the list of tools", got)
}
