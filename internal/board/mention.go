package board

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mentioned returns the ids of the people mentioned in Markdown text, in the
// order of people. A mention is @ followed by a name, in upper or lower case. The
// longest matching name wins, and mentions everyone who has it. A first name alone
// matches if only one person has it. An @ inside a word, as in an email address, or
// inside code is not a mention.
func Mentioned(text string, people []UserRef) []string {
	if !strings.Contains(text, "@") {
		return nil
	}
	var found []string
	for _, rest := range mentions(withoutCode(text)) {
		ids := namesakes(rest, people, func(u UserRef) string { return u.Name })
		if len(ids) == 0 {
			if ids = namesakes(rest, people, firstName); len(ids) > 1 {
				ids = nil
			}
		}
		found = append(found, ids...)
	}
	out := []string{}
	for _, u := range people {
		if slices.Contains(found, u.ID) {
			out = append(out, u.ID)
		}
	}
	return out
}

// mentions returns the text after each @ that starts a word and does not follow @, / or \.
func mentions(text string) (out []string) {
	before := ' '
	for i, r := range text {
		if r == '@' && !isWordPart(before) && before != '@' && before != '/' && before != '\\' {
			out = append(out, text[i+1:])
		}
		before = r
	}
	return out
}

// namesakes returns the ids of all people who have the longest name that the text
// starts with.
func namesakes(text string, people []UserRef, name func(UserRef) string) (ids []string) {
	longest := 0
	for _, u := range people {
		n := name(u)
		length := prefixed(text, n)
		if length == 0 || length < longest {
			continue
		}
		if length > longest {
			longest, ids = length, nil
		}
		ids = append(ids, u.ID)
	}
	return ids
}

// prefixed returns the length in bytes of the name at the start of the text, ignoring
// case. It returns 0 if the text does not start with the name as whole words.
func prefixed(text, name string) int {
	if name == "" {
		return 0
	}
	at := 0
	for _, want := range name {
		got, size := utf8.DecodeRuneInString(text[at:])
		if size == 0 || unicode.ToLower(unicode.ToUpper(got)) != unicode.ToLower(unicode.ToUpper(want)) {
			return 0
		}
		at += size
	}
	if next, _ := utf8.DecodeRuneInString(text[at:]); at < len(text) && isWordPart(next) {
		return 0
	}
	return at
}

func firstName(u UserRef) string {
	first, _, _ := strings.Cut(u.Name, " ")
	return first
}

func isWordPart(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '_'
}

// withoutCode removes Markdown code from the text: fenced blocks and code spans.
func withoutCode(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		start := strings.TrimLeft(line, " ")
		mark := ""
		for _, m := range []string{"```", "~~~"} {
			if strings.HasPrefix(start, m) {
				mark = m
			}
		}
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence != "":
			if mark == fence {
				fence = ""
			}
		default:
			b.WriteString(line)
		}
	}
	return withoutSpans(b.String())
}

// withoutSpans removes code spans: everything from a run of backticks to the
// next run of the same length (CommonMark, 6.1).
func withoutSpans(text string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '`')
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at])
		text = text[at:]
		length := len(text) - len(strings.TrimLeft(text, "`"))
		run := text[:length]
		text = text[length:]
		end := closing(text, run)
		if end < 0 {
			b.WriteString(run)
			continue
		}
		b.WriteByte(' ')
		text = text[end:]
	}
}

// closing returns the offset after the first run of backticks that is as long
// as run, or -1 if there is none.
func closing(text, run string) int {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		length := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		at += length
		if length == len(run) {
			return at
		}
	}
}
