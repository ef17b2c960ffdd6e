package op

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// FuzzStrictObject checks that any text is either an object that can be encoded
// again, or refused with a message.
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
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		text, err := json.Marshal(object)
		if err != nil || !utf8.ValidString(s) || strings.Contains(string(text), `\u0000`) && !strings.Contains(string(text), `\\u0000`) {
			t.Errorf("%q is accepted and encoded as %q, %v", s, text, err)
		}
	})
}

func TestDepth(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{`{}`: 1, `[[]]`: 2, `{"[[[":"{{{"}`: 1, `{"\"[":[]}`: 2, `{"\\":[[]]}`: 3, ``: 0,
		`[][]`: 1, `]][`: 0} {
		if got := depth([]byte(s)); got != want {
			t.Errorf("%s is %d deep, want %d", s, got, want)
		}
	}
}

// FuzzOpenCursor checks that only a cursor sealed for the same call can be opened,
// and only unchanged.
func FuzzOpenCursor(f *testing.F) {
	secret := []byte("the secret of all nodes")
	bound := [32]byte{1}
	good, err := sealCursor(secret, bound, map[string]string{"i": "crd_x"})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := openCursor(secret, [32]byte{2}, good); err == nil {
		f.Error("the cursor of another call opens")
	}
	if _, err := openCursor([]byte("another"), bound, good); err == nil {
		f.Error("the cursor of another server opens")
	}
	for _, s := range []string{good, "", good + "=", good[1:], good + "\n", "AAAA", strings.Repeat("A", 2048)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key, err := openCursor(secret, bound, s)
		if (err == nil) != (s == good) || err == nil && string(key) != `{"i":"crd_x"}` {
			t.Errorf("%q was opened as %q, %v", s, key, err)
		}
	})
}
