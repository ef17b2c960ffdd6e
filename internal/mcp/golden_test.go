package mcp_test

import (
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/apptest"
)

// The maximum size of the whole tool list: in tokens for a model, with four characters per
// token on average, and in bytes for a client.
const (
	maxTokens    = 18_000
	tokenLength  = 4
	maxListBytes = 100_000
)

// TestGoldenTools compares the tools of a token with all scopes with the golden
// file. `make golden` updates it.
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
	t.Logf("the tools take %d bytes, %d tokens", len(got), len(got)/tokenLength)
	if tokens := len(got) / tokenLength; tokens > maxTokens {
		t.Errorf("the tools cost a model %d tokens, more than %d: shorten descriptions", tokens, maxTokens)
	}
	if len(a.Raw) > maxListBytes {
		t.Errorf("the list of tools has %d bytes, more than %d", len(a.Raw), maxListBytes)
	}
	if err := got.Indent(jsontext.WithIndent("  ")); err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	apptest.Golden(t, filepath.Join("testdata", "tools.json"), "the list of tools", got)
}
