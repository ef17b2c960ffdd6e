package mcp

import (
	"bytes"
	stdjson "encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func TestHiddenCharacters(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]rune{
		"zero width space": 0x200B, "non-joiner": 0x200C, "joiner": 0x200D, "left-to-right mark": 0x200E, "override": 0x202E,
		"isolate":     0x2066,
		"pop isolate": 0x2069, "word joiner": 0x2060, "invisible plus": 0x2064, "byte order mark": 0xFEFF,
		"soft hyphen": 0xAD, "Arabic letter mark": 0x61C,
		"tag a": 0xE0061, "cancel tag": 0xE007F, "variation selector 16": 0xFE0F, "variation selector 17": 0xE0100,
		"variation selector 256": 0xE01EF,
		"Hangul filler":          0x3164, "half-width filler": 0xFFA0, "escape": 0x1B, "bell": 7, "delete": 0x7F,
		"C1 control":                0x9B,
		"annotation":                0xFFF9,
		"Mongolian vowel separator": 0x180E, "grapheme joiner": 0x34F, "musical begin beam": 0x1D173,
		"shorthand overlap": 0x1BCA0,
	} {
		if !isHidden(c) {
			t.Errorf("%s (%U) is left", what, c)
		}
	}
	// Unicode's tables list the characters to remove: default ignorable ones,
	// variation selectors and bidi controls. Visible characters must stay.
	for c := rune(0); c <= unicode.MaxRune; c++ {
		ignorable := unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c) || unicode.Is(unicode.Variation_Selector, c) ||
			unicode.Is(unicode.Bidi_Control, c)
		if ignorable && !isHidden(c) {
			t.Errorf("%U is left", c)
		}
		if isHidden(c) && (unicode.IsGraphic(c) && !ignorable || c == '\n' || c == '\t' || c == '\r') {
			t.Errorf("%U is removed", c)
		}
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for give, want := range map[string]string{
		`{"a":"plain"}`:                       `{"a":"plain"}`,
		"{\"a\":\"x\u200by\u202ez\"}":         `{"a":"xyz"}`,
		"{\"a\":\"\U000E0041\U000E0042ü€😀\"}": `{"a":"ü€😀"}`,
		`{"a":"x\u200by\u001b[31m"}`:          `{"a":"xy[31m"}`,
		`{"a":"\\u200b"}`:                     `{"a":"\\u200b"}`, // a backslash and a word
		`{"a":"\"\\\u200b\n"}`:                `{"a":"\"\\\n"}`,
		`{"a":"\u00e9\ud83d\ude00"}`:          `{"a":"\u00e9\ud83d\ude00"}`,
		`{"a":"x\by\fz\\b"}`:                  `{"a":"xyz\\b"}`,
		"{\"a\u200b\":1}":                     `{"a":1}`,
	} {
		if got := string(visible([]byte(give))); got != want {
			t.Errorf("%q becomes %q, want %q", give, got, want)
		}
	}
}

// Only hidden characters are removed from a text, and JSON stays valid JSON.
func TestVisibleKeepsTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		body, err := json.Marshal(map[string]string{"x": text})
		if err != nil {
			t.Skip()
		}
		var got map[string]string
		if err := json.Unmarshal(visible(body), &got); err != nil {
			t.Fatalf("%q: %v", visible(body), err)
		}
		want := strings.Map(func(c rune) rune {
			if isHidden(c) {
				return -1
			}
			return c
		}, text)
		if got["x"] != want || string(plain([]byte(text))) != want {
			t.Fatalf("%q became %q, want %q", text, got["x"], want)
		}
	})
}

// Responses that bypass the SDK are escaped as encoding/json escapes them for the SDK.
func TestEscapes(t *testing.T) {
	t.Parallel()
	same := func(t rapid.TB, text string) {
		want, err := stdjson.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendText(nil, []byte(text)); !bytes.Equal(got, want) {
			t.Fatalf("%q is encoded as %s, want %s", text, got, want)
		}
		if !utf8.ValidString(text) {
			return
		}
		body, err := json.Marshal(map[string]string{"<k>": text})
		if err != nil {
			t.Fatal(err)
		}
		want, err = stdjson.Marshal(jsontext.Value(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := appendEscaped(nil, body); !bytes.Equal(got, want) {
			t.Fatalf("%s is encoded as %s, want %s", body, got, want)
		}
	}
	for _, text := range []string{"", "a<b>c&d", "\u2028\u2029\u2027", "\x00\x01\b\f\n\r\t\x1f\x7f", `"\/`, "\xff\xe2\x80",
		"😀\xe2", "ü\u200b"} {
		same(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		same(t, rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a\"\\<>&\u2028\u2029\n\x01é"))),
			rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) })).Draw(t,
			"text"))
	})
}
