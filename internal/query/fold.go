package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold normalizes a text for comparing words. It converts to lower case and
// unifies compatibility forms (ﬁ is fi, ２ is 2). It removes accents and other
// marks above and below letters (é is e, й is и; Arabic and Hebrew vowel points
// are removed) and invisible characters. It writes ß as ss, æ as ae, ø as o,
// and similar letters likewise. Vowel signs that carry meaning (Devanagari,
// Thai, the voicing marks of kana) are kept. A run of invalid UTF-8 becomes
// U+FFFD. Fold(Fold(s)) equals Fold(s).
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	// norm does not normalize what follows an invalid byte.
	for _, r := range norm.NFKD.String(strings.ToValidUTF8(s, "\ufffd")) {
		if isAccent(r) {
			continue
		}
		if r == '\u200b' { // zero width space: invisible, but a separator
			r = ' '
		}
		if unicode.Is(unicode.Cf, r) {
			continue
		}
		r = lower(r)
		if letters := spelled(r); letters != "" {
			b.WriteString(letters)
		} else {
			b.WriteRune(r)
		}
	}
	// norm inserts U+034F into long runs of marks.
	return strings.ReplaceAll(norm.NFC.String(b.String()), "\u034f", "")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// lower converts via upper case, so that variants (ς and σ, ı and i) become
// equal.
func lower(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// isAccent distinguishes marks that decorate a letter from marks that are
// letters.
func isAccent(r rune) bool {
	if r < 0x300 || r == 0x3099 || r == 0x309A || !unicode.Is(unicode.Mn, r) {
		return false
	}
	return unicode.In(r, unicode.Inherited, unicode.Hebrew)
}

// spelled returns the common spelling of a letter without a decomposition.
func spelled(r rune) string {
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'þ':
		return "th"
	case 'ø':
		return "o"
	case 'ł':
		return "l"
	case 'đ', 'ð':
		return "d"
	case 'ħ':
		return "h"
	}
	return ""
}

// Words is the only tokenizer, for the search index of both databases and for
// queries. It folds s and splits it into words. Letters, numbers and the marks
// on them are word characters; everything else separates. In scripts written
// without spaces (Han, kana, Thai, Lao, Khmer, Burmese), each letter with its
// marks is a word, so that a search for a part of a text finds it. Longer words
// are truncated to MaxWordRunes. Joining the words with spaces and splitting
// again returns the same words.
func Words(s string) []string {
	var words []string
	s = Fold(s)
	start, runes, alone := -1, 0, false
	cut := func(end int) {
		if start >= 0 {
			words = append(words, s[start:end])
			start = -1
		}
	}
	end := 0 // where a long word will be truncated
	for i, r := range s {
		mark := unicode.IsMark(r)
		switch {
		case mark && start < 0:
			continue
		case mark:
		case !unicode.IsLetter(r) && !unicode.IsNumber(r):
			cut(end)
			continue
		default:
			if single := isSingle(r); start < 0 || single || alone {
				cut(end)
				start, runes, alone = i, 0, single
			}
		}
		if runes < MaxWordRunes {
			end = i + utf8.RuneLen(r)
		}
		runes++
	}
	cut(end)
	return words
}

// isSingle reports whether a letter belongs to a script without spaces.
func isSingle(r rune) bool {
	return r >= 0xE00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー')
}

// FoldName normalizes a name of a list, label, board or person, or an email
// address, for comparing names. It converts to lower case, unifies
// compatibility forms, trims and collapses white space, and removes control and
// invisible characters. Accents are kept. It returns "" if nothing visible is
// left. FoldName(FoldName(s)) equals FoldName(s).
func FoldName(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range norm.NFKC.String(strings.ToValidUTF8(s, "\ufffd")) {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u034f':
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(lower(r))
	}
	return strings.ReplaceAll(norm.NFKC.String(b.String()), "\u034f", "")
}
