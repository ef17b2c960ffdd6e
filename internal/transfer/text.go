package transfer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cardwall/internal/board"
)

// plainText removes control characters other than line ends and tabs.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// cut truncates a text to a number of characters.
func cut(s string, limit int) (string, bool) {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s, false
	}
	n := 0
	for i := range s {
		if n == limit {
			return s[:i], true
		}
		n++
	}
	return s, false
}

// excerpt returns a text shortened for a report.
func excerpt(s string, limit int) string {
	short, was := cut(board.CleanLine(s), limit-1)
	if was {
		return short + "…"
	}
	return short
}
