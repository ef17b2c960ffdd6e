package mcp_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/apptest"
)

// What the whole list of tools may cost a model, with the four characters that
// a token has on the average, and what a client may have to carry.
const (
	maxTokens    = 18_000
	tokenLength  = 4
	maxListBytes = 100_000
)

// TestGoldenTools compares the tools of a token with all scopes with those that
// were reviewed last; `make golden` writes them anew.
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
	file := filepath.Join("testdata", "tools.json")
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run make golden", err)
	}
	g, w := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(g), len(w)) {
		if !bytes.Equal(g[i], w[i]) {
			t.Fatalf("the tools are not what %s says, from line %d on: %s, was %s; if that is meant, run make golden and review the difference", file, i+1, bytes.TrimSpace(g[i]), bytes.TrimSpace(w[i]))
		}
	}
	if len(g) != len(w) {
		t.Fatalf("the tools are not what %s says: %d lines, were %d; if that is meant, run make golden and review the difference", file, len(g), len(w))
	}
}
