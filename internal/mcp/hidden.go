package mcp

import (
	"bytes"
	"unicode/utf8"
)

// hidden lists, in ascending order, the ranges of invisible characters, such as
// zero-width characters, direction marks, variation selectors and tags. They can contain
// instructions that a person does not see. The ranges are Unicode's
// Default_Ignorable_Code_Point (DerivedCoreProperties), interlinear annotation
// characters, and control characters except tab, line feed and carriage return.
var hidden = [][2]rune{
	{0x00, 0x08}, {0x0B, 0x0C}, {0x0E, 0x1F}, {0x7F, 0x9F}, {0xAD, 0xAD}, {0x34F, 0x34F},
	{0x61C, 0x61C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F},
	{0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF},
	{0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
}

func isHidden(c rune) bool {
	for _, r := range hidden {
		if c <= r[1] {
			return c >= r[0]
		}
	}
	return false
}

// stripHidden removes hidden characters from text.
func stripHidden(text []byte) []byte {
	return bytes.Map(func(c rune) rune {
		if isHidden(c) {
			return -1
		}
		return c
	}, text)
}

// stripHiddenJSON removes hidden characters, literal or escaped, from JSON. If body is
// ASCII without escapes, it returns body itself.
func stripHiddenJSON(body []byte) []byte {
	i := 0
	for i < len(body) && body[i] < utf8.RuneSelf && body[i] != 0x7F && body[i] != '\\' {
		i++
	}
	if i == len(body) {
		return body
	}
	out := append(make([]byte, 0, len(body)), body[:i]...)
	for i < len(body) {
		switch c := body[i]; {
		case c == '\\' && i+5 < len(body) && body[i+1] == 'u':
			r := hex4(body[i+2 : i+6])
			if r < 0xD800 || r > 0xDFFF { // the server's encoders never escape surrogate pairs
				if isHidden(r) {
					i += 6
					continue
				}
			}
			out = append(out, body[i:i+6]...)
			i += 6
		case c == '\\' && i+1 < len(body):
			if next := body[i+1]; next != 'b' && next != 'f' { // backspace and form feed
				out = append(out, c, next)
			}
			i += 2
		case c < utf8.RuneSelf && c != 0x7F:
			out = append(out, c)
			i++
		default:
			r, size := utf8.DecodeRune(body[i:])
			if !isHidden(r) {
				out = append(out, body[i:i+size]...)
			}
			i += size
		}
	}
	return out
}

func hex4(digits []byte) (r rune) {
	for _, d := range digits {
		switch {
		case d >= '0' && d <= '9':
			r = r<<4 | rune(d-'0')
		case d >= 'a' && d <= 'f':
			r = r<<4 | rune(d-'a'+10)
		case d >= 'A' && d <= 'F':
			r = r<<4 | rune(d-'A'+10)
		}
	}
	return r
}
