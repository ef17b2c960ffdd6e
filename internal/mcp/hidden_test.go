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
			t.Errorf("isHidden(%U) = false for %s, want true", c, what)
		}
	}
	// Characters in these Unicode tables must be hidden: default ignorable characters,
	// variation selectors and bidi controls. Other graphic characters must not be hidden.
	for c := rune(0); c <= unicode.MaxRune; c++ {
		ignorable := unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c) || unicode.Is(unicode.Variation_Selector, c) ||
			unicode.Is(unicode.Bidi_Control, c)
		if ignorable && !isHidden(c) {
			t.Errorf("isHidden(%U) = false, want true", c)
		}
		if isHidden(c) && (unicode.IsGraphic(c) && !ignorable || c == '\n' || c == '\t' || c == '\r') {
			t.Errorf("isHidden(%U) = true, want false", c)
		}
	}
}

func TestStripHiddenJSON(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"a":"plain"}`:                       `{"a":"plain"}`,
		"{\"a\":\"x\u200by\u202ez\"}":         `{"a":"xyz"}`,
		"{\"a\":\"\U000E0041\U000E0042ü€😀\"}": `{"a":"ü€😀"}`,
		`{"a":"x\u200by\u001b[31m"}`:          `{"a":"xy[31m"}`,
		`{"a":"\\u200b"}`:                     `{"a":"\\u200b"}`, // an escaped backslash, followed by text
		`{"a":"\"\\\u200b\n"}`:                `{"a":"\"\\\n"}`,
		`{"a":"\u00e9\ud83d\ude00"}`:          `{"a":"\u00e9\ud83d\ude00"}`,
		`{"a":"x\by\fz\\b"}`:                  `{"a":"xyz\\b"}`,
		"{\"a\u200b\":1}":                     `{"a":1}`,
	} {
		if got := string(stripHiddenJSON([]byte(body))); got != want {
			t.Errorf("stripHiddenJSON(%q) = %q, want %q", body, got, want)
		}
	}
}

// Only hidden characters are removed from text, and JSON remains valid.
func TestStripHiddenKeepsOtherText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		body, err := json.Marshal(map[string]string{"x": text})
		if err != nil {
			t.Skip()
		}
		var got map[string]string
		if err := json.Unmarshal(stripHiddenJSON(body), &got); err != nil {
			t.Fatalf("stripHiddenJSON(%q) = %q: got error %v, want valid JSON", body, stripHiddenJSON(body), err)
		}
		want := strings.Map(func(c rune) rune {
			if isHidden(c) {
				return -1
			}
			return c
		}, text)
		if got["x"] != want || string(stripHidden([]byte(text))) != want {
			t.Fatalf("%q: got %q, want %q", text, got["x"], want)
		}
	})
}

// Responses that bypass the SDK have the same escapes as the SDK's responses, which
// encoding/json encodes.
func TestEscapes(t *testing.T) {
	t.Parallel()
	same := func(t rapid.TB, text string) {
		want, err := stdjson.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendText(nil, []byte(text)); !bytes.Equal(got, want) {
			t.Fatalf("appendText(%q) = %s, want %s", text, got, want)
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
			t.Fatalf("appendEscaped(%s) = %s, want %s", body, got, want)
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
