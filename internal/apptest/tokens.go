package apptest

import (
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// Tokens returns the number of tokens of a text in the o200k_base vocabulary. Other models need
// about as many.
func Tokens(t testing.TB, text string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
