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

// truncate returns the first limit characters of s, and reports whether s was
// longer.
func truncate(s string, limit int) (string, bool) {
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

// excerpt returns s as one line of at most limit characters, for a message or a
// report.
func excerpt(s string, limit int) string {
	short, truncated := truncate(board.CleanLine(s), limit-1)
	if truncated {
		return short + "…"
	}
	return short
}
