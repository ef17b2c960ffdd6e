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
			t.Fatalf("got token %q, valid %v; want a new valid token", token, ok)
		}
		seen[token] = true
		if bytes.Contains(hash, []byte(token[4:])) {
			t.Fatal("the hash contains the token")
		}
	}
}

// The checksum detects every change to one character and every swap of two
// neighbors.
func TestTokenChecksumDetectsTypingErrors(t *testing.T) {
	t.Parallel()
	token := board.NewToken()
	for i := range token {
		for _, c := range []byte(digits + "_- ") {
			if changed := token[:i] + string(c) + token[i+1:]; changed != token {
				if _, ok := board.TokenHash(changed); ok {
					t.Errorf("%q is accepted, want only %q to be accepted", changed, token)
				}
			}
		}
	}
	for i := 4; i < len(token)-1; i++ {
		swapped := token[:i] + token[i+1:i+2] + token[i:i+1] + token[i+2:]
		if _, ok := board.TokenHash(swapped); ok && swapped != token {
			t.Errorf("%q is accepted, want only %q to be accepted", swapped, token)
		}
	}
}

// FuzzTokenHash checks that no string causes a panic, that only strings in the form of
// a token are accepted, and that no other string has the hash of a known token.
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
			t.Errorf("%q is accepted, want only strings in the form of a token to be accepted", s)
		}
		if s != good && bytes.Equal(h, hash) {
			t.Errorf("%q has the same hash as %q, want another hash", s, good)
		}
	})
}
