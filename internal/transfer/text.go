package transfer

import (
	"bufio"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"cardwall/internal/board"
)

// withoutMark returns a file without the byte order mark with which some editors begin
// UTF-8, and which is not JSON (RFC 8259, 8.1).
func withoutMark(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	if mark, _ := b.Peek(len("\ufeff")); string(mark) == "\ufeff" {
		_, _ = b.Discard(len(mark)) // these bytes are in the buffer
	}
	return b
}

// IsZip reports whether a file begins like a zip archive.
func IsZip(r io.Reader) bool {
	start := make([]byte, len("PK\x03\x04"))
	_, err := io.ReadFull(r, start)
	return err == nil && string(start) == "PK\x03\x04"
}

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
