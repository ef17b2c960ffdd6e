package mcp

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// appendText appends text to b as a JSON string. Like encoding/json, it escapes
// characters that are special in HTML and JavaScript.
func appendText(b, text []byte) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(text[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				b = append(append(b, text[from:i]...), `\ufffd`...)
			case r == '\u2028' || r == '\u2029':
				b = append(append(b, text[from:i]...), `\u202`...)
				b = append(b, hexDigits[r&0xF])
			default:
				i += size
				continue
			}
			i += size
			from = i
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
			i++
			continue
		}
		b = append(b, text[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
		i++
		from = i
	}
	return append(append(b, text[from:]...), '"')
}

// appendEscaped appends JSON to b and escapes the same characters as appendText. In
// valid JSON, these characters occur only in strings.
func appendEscaped(b, body []byte) []byte {
	from := 0
	for i, c := range body {
		switch {
		case c == '<' || c == '>' || c == '&':
			b = append(append(b, body[from:i]...), '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
			from = i + 1
		case c == 0xE2 && i+2 < len(body) && body[i+1] == 0x80 && body[i+2]&^1 == 0xA8:
			b = append(append(b, body[from:i]...), '\\', 'u', '2', '0', '2', hexDigits[body[i+2]&0xF])
			from = i + 3
		}
	}
	return append(b, body[from:]...)
}
