package query

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"cardwall/internal/board"
)

// Fold normalizes text so that words can be compared. It converts to lower case and
// unifies compatibility forms (ﬁ is fi, ２ is 2). It removes accents and other marks
// above and below letters (é is e, й is и; Arabic and Hebrew vowel points are removed)
// and invisible characters. It replaces ß with ss, æ with ae, ø with o, and similar
// letters likewise. It keeps marks that carry meaning (the vowel signs of Devanagari
// and Thai, the voicing marks of kana). A run of invalid UTF-8 becomes U+FFFD.
// Fold(Fold(s)) equals Fold(s).
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	// Package norm does not normalize text after an invalid byte.
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
	// Package norm inserts U+034F into long runs of marks.
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

// lower converts a letter to upper case and then to lower case, so that variants (ς
// and σ, ı and i) become equal.
func lower(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

// isAccent reports whether a character is a mark that only decorates a letter, such
// as an accent.
func isAccent(r rune) bool {
	if r < 0x300 || r == 0x3099 || r == 0x309A || !unicode.Is(unicode.Mn, r) {
		return false
	}
	return unicode.In(r, unicode.Inherited, unicode.Hebrew)
}

// spelled returns the common spelling of a letter that Unicode does not decompose, or
// "" for other characters.
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

// Words folds s and splits it into words. It is the only tokenizer, both for the
// search indexes of the databases and for queries. Letters, numbers and the marks
// on them are word characters; all other characters separate words. In scripts
// whose words join their neighbors (see board.JoinsWords), each letter with its marks is
// a word, so that a search finds any part of the text. Words longer than MaxWordRunes are
// truncated. Joining the words with spaces and splitting
// them again returns the same words.
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
	end := 0 // end of the current word, or where it is truncated
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
			if single := board.JoinsWords(r); start < 0 || single || alone {
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

// FoldName normalizes a name of a list, label, board or person, or an email
// address, for comparing names. It converts to lower case, unifies
// compatibility forms, trims and collapses white space, and removes control and
// invisible characters. It keeps accents. It returns "" if s has no visible
// characters. FoldName(FoldName(s)) equals FoldName(s).
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
