// Package filename returns file names for downloads that describe their
// content.
package filename

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxTitle limits the title in a file name, in bytes. File systems allow 255 for
// the whole name.
const maxTitle = 160

// Of returns a name such as "Launch 2026-11-23.json", without characters that are
// invisible or not allowed in file names.
func Of(title string, at time.Time, extension string) string {
	return fmt.Sprintf("%s %s.%s", clean(title), at.UTC().Format(time.DateOnly), extension)
}

// clean returns the title without control and formatting characters, with a
// hyphen for each character that Windows, macOS or a shell reserves.
func clean(title string) string {
	title = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		case strings.ContainsRune(`/\:*?"<>|`, r):
			return '-'
		}
		return r
	}, title)
	title = strings.Join(strings.Fields(title), " ")
	for len(title) > maxTitle {
		_, size := utf8.DecodeLastRuneInString(title)
		title = title[:len(title)-size]
	}
	if title = strings.Trim(title, ". "); title == "" {
		return "Untitled"
	}
	return title
}

// Disposition returns the Content-Disposition header (RFC 6266) that proposes a
// file name. A name with non-ASCII characters is also encoded as in RFC 5987; for
// programs that do not support it, these characters are replaced.
func Disposition(kind, name string) string {
	plain := strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || r == '%' { // some programs decode %41
			return '_'
		}
		return r
	}, name)
	header := kind + `; filename="` + plain + `"`
	if plain != name {
		header += "; filename*=utf-8''" + encode(name)
	}
	return header
}

// encode percent-encodes all characters except attr-char of RFC 5987.
func encode(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c < utf8.RuneSelf && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)) || strings.IndexByte("!#$&+-.^_`|~", c) >= 0) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
