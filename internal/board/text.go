package board

import (
	"strings"
	"unicode"
)

// Line checks a name or title and takes the white space around it away: it must
// be one line that is not empty. Its length is the schema's to check.
func Line(field, s string) (string, error) {
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' })
	if s == "" {
		return "", Invalid("%s must not be empty.", field)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) }) {
		return "", Invalid("%s must be one line, without control characters.", field)
	}
	return s, nil
}
