package query_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"cardwall/internal/query"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"Hello, World!", "hello world"},
		{"re-open card_2 v1.2", "re open card 2 v1 2"},
		{"Crème BRÛLÉE Ångström naïve", "creme brulee angstrom naive"},
		{"cre\u0301me", "creme"},
		{"Straße STRASSE ẞ Æther Œuvre Øre Łódź Đ ð Þór Ħal", "strasse strasse ss aether oeuvre ore lodz d d thor hal"},
		{"ﬁx ２０２６ ① ½", "fix 2026 1 1 2"},
		{"İstanbul ISPARTA ısı", "istanbul isparta isi"},
		{"Σίσυφος ΣΊΣΥΦΟΣ", "σισυφοσ σισυφοσ"},
		{"Ёлка йод", "елка иод"},
		{"東京都 tokyo", "東 京 都 tokyo"},
		{"A東B", "a 東 b"},
		{"がぎ カード ｶﾞ", "が ぎ カ ー ト\u3099 ガ"},
		{"한국어 검색", "한 국 어 검 색"},
		{"PR을 3월에 ㅋㅋ", "pr 을 3 월 에 \u110f \u110f"},
		{"ᄒ\u1161\u11ab글 ﾡ", "한 글 \u1100"},
		{"ㄅㄆ ꀀꀁ ᦂᦱ ꦲꦏ꧀", "ㄅ ㄆ ꀀ ꀁ ᦂ ᦱ ꦲ ꦏ꧀"},
		{"བཀྲ་ཤིས", "བཀྲ ཤིས"},
		{"हिन्दी", "हिन्दी"},
		{"ที่นี่", "ที่ นี่"},
		{"مُحَمَّد أحمد", "محمد احمد"},
		{"שָׁלוֹם", "שלום"},
		{"soft\u00adhyphen zero\u200bwidth jo\u200diner b\u202eidi", "softhyphen zero width joiner bidi"},
		{"a\x00b\x1fc\x7fd", "a b c d"},
		{"a\xff\xfeb \xf4ù", "a b u"},
		{"\u0301x", "x"},
		{"🎉 👩‍💻 — …", ""},
		{`"a" OR b* NEAR(c) d:e & f | !g <-> 'h' \i`, "a or b near c d e f g h i"},
		{strings.Repeat("x", 70), strings.Repeat("x", 64)},
		{strings.Repeat("é", 64) + " y", strings.Repeat("e", 64) + " y"},
	} {
		want := strings.Join(strings.Fields(c.want), " ")
		// Words returns NFC, but the table may use any normalization form.
		if want = strings.ReplaceAll(want, "ト\u3099", "ド"); strings.Join(query.Words(c.in), " ") != want {
			t.Errorf("%q:\n got %q\nwant %q", c.in, query.Words(c.in), want)
		}
	}
}

func TestFoldName(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"  In \t Progress\n", "in progress"},
		{"Été", "été"},
		{"E\u0301te\u0301", "été"},
		{"ÖFFENTLICH", "öffentlich"},
		{"a\x00b\u200bc", "abc"},
		{" \x00\u200b ", ""},
		{"🎉 Party", "🎉 party"},
		{"２nd", "2nd"},
		{"ΣΟΦΟΣ", "σοφοσ"},
		{"σοφος", "σοφοσ"},
		{"a\u00a8b", "a \u0308b"},
	} {
		if got := query.FoldName(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

// text returns a generator of strings with many characters that folding changes.
func text() *rapid.Generator[string] {
	return rapid.Custom(func(r *rapid.T) string {
		odd := rapid.SampledFrom([]string{"\u0301", "\u0327", "\u034f", "\u3099", "か", "ｶ", "ﾞ", "İ", "ı", "ß", "ς", "ſ", "ﬁ", "\u00a8",
			"\u200b", "\u200d", "\u0345", "\u093c", "क", "각", "\u1161", "\u11a8", "ที่", "\xff", "\x00", "_", "é", "Ǆ", "ͅ", "ﷺ", "K", "Å"})
		parts := rapid.SliceOfN(rapid.OneOf(odd, rapid.StringN(0, 4, -1)), 0, 60).Draw(r, "parts")
		return strings.Join(parts, "")
	})
}

func TestFoldingIsIdempotent(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) { checkFolding(r, text().Draw(r, "text")) })
}

type fataler interface{ Fatalf(string, ...any) }

func checkFolding(t fataler, s string) {
	f := query.Fold(s)
	if again := query.Fold(f); again != f {
		t.Fatalf("Fold(%q) = %q, but folding that again returns %q", s, f, again)
	}
	if n := query.FoldName(s); query.FoldName(n) != n {
		t.Fatalf("FoldName(%q) = %q, but folding that again returns %q", s, n, query.FoldName(n))
	}
	words := query.Words(s)
	if again := query.Words(strings.Join(words, " ")); !slices.Equal(again, words) {
		t.Fatalf("Words(%q) = %q, but splitting those words again returns %q", s, words, again)
	}
	if again := query.Words(f); !slices.Equal(again, words) {
		t.Fatalf("Words(%q) = %q, but the words of the folded text are %q", s, words, again)
	}
	for _, w := range words {
		if n := utf8.RuneCountInString(w); n == 0 || n > query.MaxWordRunes || !utf8.ValidString(w) {
			t.Fatalf("Words(%q) returns the invalid word %q", s, w)
		}
		for _, r := range w {
			if !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
				t.Fatalf("Words(%q) returns %U in the word %q", s, r, w)
			}
		}
	}
}
