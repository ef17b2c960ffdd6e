package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/op"
)

// Names and titles must not contain line separators, a byte order mark, or characters that change
// how the surrounding text is displayed. They must contain a visible character.
func TestMisleadingCharactersInNamesAreRefused(t *testing.T) {
	t.Parallel()
	bad := map[string]string{
		"La\u202eunch": "U+202E (right-to-left override)", "\u2067Launch\u2069": "U+2067 (right-to-left isolate)",
		"Launch\u200f": "U+200F (right-to-left mark)",
		"\ufeffLaunch": "U+FEFF (byte order mark)", "Lau\u2028nch": "one line", "Lau\u2029nch": "one line",
		"\u3164": "must not be empty", "\u200b\u2060": "must not be empty",
	}
	apptest.Both(t, func(t *testing.T, s *apptest.Service) {
		w := newWorld(s)
		tested := 0
		for _, o := range s.Registry.All() {
			for _, f := range o.Input.Fields {
				if f.In != op.InBody || f.Schema.Type != huma.TypeString || f.Name != "name" && f.Name != "title" {
					continue
				}
				tested++
				good := w.sample(t, o)
				before := w.state()
				for text, want := range bad {
					a := w.as(o).Call(o.Name, with(good, f.Name, text))
					if a.Status != http.StatusBadRequest || a.Code != board.CodeInvalidRequest ||
						!strings.HasPrefix(a.Message, f.Name+" ") || !strings.Contains(a.Message, want) {
						t.Errorf("%s with the %s %+q: got status %d, body %s; want 400 and %q", o.Name, f.Name, text, a.Status, a.Raw, want)
					}
				}
				if w.state() != before {
					t.Errorf("a rejected %s changed data", o.Name)
				}
			}
		}
		if tested < 25 {
			t.Errorf("only %d names and titles were tested, want at least 25", tested)
		}
		for text, want := range bad {
			if a := w.owner.Call("add_checklist", fields{"cardId": w.card, "title": "Before",
				"items": []string{"One", text}}); a.Status != http.StatusBadRequest || !strings.Contains(a.Message, want) {
				t.Errorf("an item %+q: got status %d, body %s; want 400 and %q", text, a.Status, a.Raw, want)
			}
		}
		for _, text := range []string{"\u3164", "\ufeff", " \u200b\n"} {
			if a := w.owner.Call("add_comment", fields{"cardId": w.card, "text": text}); a.Status != http.StatusBadRequest ||
				a.Message != "text must not be empty." {
				t.Errorf("a comment %+q: got status %d, body %s; want 400", text, a.Status, a.Raw)
			}
		}
		// Characters that scripts and emoji need are allowed. Text of several lines may also contain the
		// characters that are rejected in titles.
		if a := w.owner.Must("update_card", fields{"cardId": w.card, "title": "می\u200cخواهم 👩\u200d🚀",
			"description": "\ufeffone\u2028two \u202eeerht"}); a.Text("title") != "می\u200cخواهم 👩\u200d🚀" ||
			a.Text("description") != "\ufeffone\u2028two \u202eeerht" {
			t.Errorf("the card is %s, want the title and the description unchanged", a.Raw)
		}
	})
}
