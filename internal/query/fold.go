package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold brings a text into the form in which words are compared: lower case,
// compatibility forms unified (ﬁ is fi, ２ is 2), accents and other marks above
// and below letters removed (é is e, й is и, Arabic and Hebrew vowel points
// go), ß as ss, æ as ae, ø as o and their like, invisible characters gone. Vowel
// signs that carry meaning (Devanagari, Thai, the voicing marks of kana) stay.
// A run of bytes that are not UTF-8 becomes U+FFFD. Fold(Fold(s)) is Fold(s).
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	// norm passes over what follows a byte that is not UTF-8.
	for _, r := range norm.NFKD.String(strings.ToValidUTF8(s, "\ufffd")) {
		if isAccent(r) {
			continue
		}
		if r == '\u200b' { // zero width space: invisible, but it does separate
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
	// norm puts U+034F into long runs of marks.
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

// lower goes by way of upper case, so that variants (ς and σ, ı and i) meet.
func lower(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// isAccent tells marks that decorate a letter from marks that are one.
func isAccent(r rune) bool {
	if r < 0x300 || r == 0x3099 || r == 0x309A || !unicode.Is(unicode.Mn, r) {
		return false
	}
	return unicode.In(r, unicode.Inherited, unicode.Hebrew)
}

// spelled is how a letter without a decomposition is commonly written.
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

// Words is the one tokenizer: what both databases index and what a Text asks
// for. It folds s and splits it. Letters, numbers and the marks on them are word
// characters, everything else separates. In scripts that are written without
// spaces (Han, kana, Thai, Lao, Khmer, Burmese) each letter with its marks is a
// word of its own, so that a search for a part finds the whole. A word longer
// than MaxWordRunes is cut there. Words of the joined words are the same words.
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
	end := 0 // where the word would be cut, once it is long
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

// isSingle tells letters of scripts without spaces.
func isSingle(r rune) bool {
	return r >= 0xE00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー')
}

// FoldName brings a name of a list, label, board or person, or an email
// address, into the form in which names are compared: lower case, compatibility
// forms unified, white space trimmed and each run of it one space, control and
// invisible characters gone. Accents count. It is empty when nothing visible is
// left. FoldName(FoldName(s)) is FoldName(s).
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
