package transfer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// blank tells what stands around a title without being part of it.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' }

// oneLine makes a title of any text: control characters become spaces, those
// around it go.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.TrimFunc(s, blank)
}

// plainText takes out what no text may hold: control characters other than
// line ends and tabs.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// cut shortens a text to a number of characters.
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

// excerpt is a text as a report shows it.
func excerpt(s string, limit int) string {
	short, was := cut(oneLine(s), limit-1)
	if was {
		return short + "…"
	}
	return short
}
