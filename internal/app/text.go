package app

import (
	"strings"
	"unicode"

	"cardwall/internal/board"
)

// title checks a name or title and takes the white space around it away. Its
// length is the schema's to check.
func title(field, s string) (string, error) {
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' })
	if s == "" {
		return "", board.Invalid("%s must not be empty.", field)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) }) {
		return "", board.Invalid("%s must be one line, without control characters.", field)
	}
	return s, nil
}

// Title is title for names that other packages take.
func Title(field, s string) (string, error) { return title(field, s) }
