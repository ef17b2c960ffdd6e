// Package filename returns descriptive file names for downloads.
package filename

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxTitle is the maximum length of the title in a file name, in bytes. File systems
// allow 255 bytes for the complete name.
const maxTitle = 160

// Of returns a name such as "Launch 2026-11-23.json". The date is that of at in UTC. The
// title is changed so that it is allowed in file names (see clean).
func Of(title string, at time.Time, extension string) string {
	return fmt.Sprintf("%s %s.%s", clean(title), at.UTC().Format(time.DateOnly), extension)
}

// Safe returns the given name of a file without characters that are invisible or not
// allowed in file names, for Disposition.
func Safe(name string) string { return clean(name) }

// clean removes control and formatting characters from a title, and replaces each
// character that is not allowed in file names on Windows, macOS or Linux with a hyphen.
// It joins words with single spaces, truncates the title to maxTitle, and removes dots
// and spaces at both ends. It returns "Untitled" if nothing remains.
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

// Disposition returns the value of a Content-Disposition header (RFC 6266) that suggests
// a file name. If the name has a percent sign or non-ASCII characters, the value contains
// the name twice: encoded according to RFC 5987, and with these characters replaced, for
// clients that do not support that encoding. The name must be a result of Of or Safe.
func Disposition(kind, name string) string {
	plain := strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || r == '%' { // some clients decode percent-encoded characters
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

// encode percent-encodes all characters except those that RFC 5987 allows (attr-char).
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
