package op

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// FuzzStrictObject checks that every string is either parsed as an object that can
// be encoded again, or refused with a message.
func FuzzStrictObject(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, `{"a":1,"a":2}`, `[]`, `null`, "", `{"a":"\u0000"}`, `{"a":"\\u0000"}`, "{\"a\":\"\xff\"}", `{"a":"\ud800"}`,
		`{"a":1} x`, `{"a":"]]]]"}`,
		strings.Repeat(`{"a":`, 32) + "1" + strings.Repeat("}", 32), strings.Repeat("[", 33), `{"a":"\"{{{"}`, "\ufeff{}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		object, err := strictObject([]byte(s))
		if err != nil {
			refusal, ok := board.AsFault(err)
			if !ok || refusal.Code != board.CodeInvalidRequest || !utf8.ValidString(refusal.Message) || len(refusal.Message) > 600 {
				t.Errorf("%q: got error %v, want invalid_request with at most 600 bytes of valid UTF-8", s, err)
			}
			return
		}
		text, err := json.Marshal(object)
		if err != nil || !utf8.ValidString(s) || strings.Contains(string(text), `\u0000`) && !strings.Contains(string(text), `\\u0000`) {
			t.Errorf("%q: got the object %q, error %v; want no error, and a refusal of invalid UTF-8 and U+0000", s, text, err)
		}
	})
}

func TestDepth(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{`{}`: 1, `[[]]`: 2, `{"[[[":"{{{"}`: 1, `{"\"[":[]}`: 2, `{"\\":[[]]}`: 3, ``: 0,
		`[][]`: 1, `]][`: 0} {
		if got := depth([]byte(s)); got != want {
			t.Errorf("depth(%s) = %d, want %d", s, got, want)
		}
	}
}

// FuzzOpenCursor checks that a cursor can be opened only if it is unchanged, and only
// for the call for which it was sealed.
func FuzzOpenCursor(f *testing.F) {
	secret := []byte("the secret that all nodes share")
	bound := [32]byte{1}
	good, err := sealCursor(secret, bound, map[string]string{"i": "crd_x"})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := openCursor(secret, [32]byte{2}, good); err == nil {
		f.Error("cursor for another call: got no error, want one")
	}
	if _, err := openCursor([]byte("another"), bound, good); err == nil {
		f.Error("cursor from another server: got no error, want one")
	}
	for _, s := range []string{good, "", good + "=", good[1:], good + "\n", "AAAA", strings.Repeat("A", 2048)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key, err := openCursor(secret, bound, s)
		if (err == nil) != (s == good) || err == nil && string(key) != `{"i":"crd_x"}` {
			t.Errorf("openCursor(%q) = %q, %v; want success only for %q", s, key, err, good)
		}
	})
}
