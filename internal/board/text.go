package board

import (
	"strings"
	"unicode"
)

// Line validates a name or title and trims surrounding white space. The text
// must be one visible line. It must not contain a byte order mark or a
// character that changes the direction of the text around it. Joiners are
// allowed, because some scripts and emoji need them. The schema checks the
// length.
func Line(field, s string) (string, error) {
	s = strings.TrimFunc(s, unicode.IsSpace)
	for _, r := range s {
		switch name := unwanted(r); {
		case name != "":
			return "", Invalid("%s must not contain the character %U (%s). Remove it.", field, r, name).
				In(field, RuleValue)
		case unicode.IsControl(r), lineEnd(r):
			return "", Invalid("%s must be one line, without control characters.", field).In(field, RuleValue)
		}
	}
	if Blank(s) {
		return "", Invalid("%s must not be empty.", field).In(field, RuleEmpty)
	}
	return s, nil
}

// CleanLine converts text from another source to a name or title: one line without
// the characters that Line rejects. It returns "" if nothing visible remains.
func CleanLine(s string) string {
	s = strings.TrimFunc(strings.Map(func(r rune) rune {
		switch {
		case unwanted(r) != "":
			return -1
		case unicode.IsControl(r), lineEnd(r):
			return ' '
		}
		return r
	}, s), unicode.IsSpace)
	if Blank(s) {
		return ""
	}
	return s
}

// Blank reports whether the text consists only of white space and invisible characters.
func Blank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.IsControl(r) && r != '\u2800' &&
			!unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	}) < 0
}

func lineEnd(r rune) bool { return r == '\u2028' || r == '\u2029' }

// unwanted returns the name of a character that is not allowed in names and
// titles, or "" for any other character.
func unwanted(r rune) string {
	switch r {
	case '\ufeff':
		return "byte order mark"
	case '\u061c':
		return "Arabic letter mark"
	case '\u200e':
		return "left-to-right mark"
	case '\u200f':
		return "right-to-left mark"
	case '\u202a':
		return "left-to-right embedding"
	case '\u202b':
		return "right-to-left embedding"
	case '\u202c':
		return "pop directional formatting"
	case '\u202d':
		return "left-to-right override"
	case '\u202e':
		return "right-to-left override"
	case '\u2066':
		return "left-to-right isolate"
	case '\u2067':
		return "right-to-left isolate"
	case '\u2068':
		return "first strong isolate"
	case '\u2069':
		return "pop directional isolate"
	}
	return ""
}
