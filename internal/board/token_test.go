package board_test

import (
	"bytes"
	"strings"
	"testing"

	"cardwall/internal/board"
)

func TestNewTokens(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		token := board.NewToken()
		hash, ok := board.TokenHash(token)
		if !ok || len(hash) != 32 || len(token) != 40 || !strings.HasPrefix(token, "cwl_") || strings.Trim(token[4:], digits) != "" ||
			seen[token] {
			t.Fatalf("%q: %v", token, ok)
		}
		seen[token] = true
		if bytes.Contains(hash, []byte(token[4:])) {
			t.Fatal("the fingerprint contains the token")
		}
	}
}

// The checksum detects every change of one character, without a database.
func TestTokenChecksumFindsEveryTypingError(t *testing.T) {
	t.Parallel()
	token := board.NewToken()
	for i := range token {
		for _, c := range []byte(digits + "_- ") {
			if changed := token[:i] + string(c) + token[i+1:]; changed != token {
				if _, ok := board.TokenHash(changed); ok {
					t.Errorf("%q is accepted, but only %q is valid", changed, token)
				}
			}
		}
	}
	for i := 4; i < len(token)-1; i++ {
		swapped := token[:i] + token[i+1:i+2] + token[i:i+1] + token[i+2:]
		if _, ok := board.TokenHash(swapped); ok && swapped != token {
			t.Errorf("%q is accepted, but only %q is valid", swapped, token)
		}
	}
}

// FuzzTokenHash checks that no text causes a panic, that only texts in the form of
// a token are accepted, and that no two texts have the same fingerprint.
func FuzzTokenHash(f *testing.F) {
	good := board.NewToken()
	hash, _ := board.TokenHash(good)
	for _, s := range []string{good, "", "cwl_", good[:39], good + "0", "CWL_" + good[4:], strings.Repeat("ä", 20),
		"cwl_" + strings.Repeat("0", 36)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, ok := board.TokenHash(s)
		if ok && (len(s) != 40 || !strings.HasPrefix(s, "cwl_") || len(h) != 32) {
			t.Errorf("%q is accepted", s)
		}
		if s != good && bytes.Equal(h, hash) {
			t.Errorf("%q has the same fingerprint as another text", s)
		}
	})
}
