package mcp_test

import (
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tiktoken-go/tokenizer"

	"cardwall/internal/apptest"
)

// The maximum size of the list of all tools, in tokens.
const maxTokens = 15_000

// tokens returns the number of tokens of a text in the o200k_base vocabulary. Other models
// need about as many.
func tokens(t *testing.T, text []byte) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

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
	if n := tokens(t, got); n > maxTokens {
		t.Errorf("tool list: got %d tokens, want at most %d; shorten descriptions", n, maxTokens)
	}
	if err := got.Indent(jsontext.WithIndent("  ")); err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	apptest.Golden(t, filepath.Join("testdata", "tools.json"), "the list of tools", got)
}
