package board_test

import (
	"slices"
	"strings"
	"testing"

	"cardwall/internal/board"
)

func TestMentioned(t *testing.T) {
	people := []board.UserRef{{ID: "ada", Name: "Ada Lovelace"}, {ID: "adam", Name: "Adam"}, {ID: "al", Name: "Ada Lovelace King"},
		{ID: "jo", Name: "José Ñandú"}, {ID: "z", Name: "山田 太郎"}}
	for text, want := range map[string]string{
		"@Ada Lovelace look":           "ada",
		"@ada lovelace, look":          "ada",
		"see @Ada Lovelace King!":      "al",
		"(@Adam)":                      "adam",
		"@Ada":                         "", // two people have this first name
		"@José":                        "jo",
		"@JOSÉ ÑANDÚ":                  "jo",
		"@山田 太郎さん":                     "z", // only the first name matches, because the last name does not end there
		"mail ada@Adam.com":            "",
		"@Adamant":                     "",
		"@@Adam":                       "",
		"`@Adam` and ``a ` @Adam``":    "",
		"```\n@Adam\n```\n@José":       "jo",
		"    @Adam":                    "adam",
		"@Adam @Adam @José":            "adam jo",
		"https://example.com/@Adam":    "",
		"*@Adam*, _@José_":             "adam",
		"an unclosed ` and then @Adam": "adam",
		"nobody":                       "",
	} {
		if got := strings.Join(board.Mentioned(text, people), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := board.Mentioned("@Ada", []board.UserRef{{ID: "1", Name: "Ada"}, {ID: "2", Name: "Ada"}}); !slices.Equal(got,
		[]string{"1", "2"}) {
		t.Errorf("two people with the same name: got %v, want both", got)
	}
}

func FuzzMentioned(f *testing.F) {
	f.Add("@Ada `@Bob", "Ada")
	f.Fuzz(func(t *testing.T, text, name string) {
		got := board.Mentioned(text, []board.UserRef{{ID: "x", Name: name}})
		if len(got) > 0 && !strings.Contains(text, "@") {
			t.Errorf("%q: got %v, want no mention without an @", text, got)
		}
	})
}
