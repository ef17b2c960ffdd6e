// Package mention finds the people whom text mentions.
package mention

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"cardwall/internal/board"
)

// Added returns the ids of the people whom a text mentions, except those whom the text
// before the change already mentioned.
func Added(before, text string, people []board.UserRef) []string {
	earlier := In(before, people)
	return slices.DeleteFunc(In(text, people), func(id string) bool { return slices.Contains(earlier, id) })
}

// In returns the ids of the people mentioned in Markdown text, in the order of people. A
// mention is @ followed by a name. Upper and lower case, composed and decomposed letters,
// and kinds of spaces are alike. The longest matching name wins, and mentions everyone who
// has it. A first name alone matches if only one person has it. An @ inside a word, as in
// an email address, or inside code is not a mention. Where words join their neighbors (see
// board.JoinsWords), neither the @ nor the end of the name needs a space beside it. The
// pages follow the same rule; testdata/mentions.json has examples.
func In(text string, people []board.UserRef) []string {
	if !strings.ContainsAny(text, "@＠") {
		return nil
	}
	full, first := make([]string, len(people)), make([]string, len(people))
	for i, u := range people {
		full[i] = unified(u.Name)
		first[i], _, _ = strings.Cut(full[i], " ")
	}
	mentioned := make([]bool, len(people))
	for _, rest := range mentions(unified(withoutCode(text))) {
		found := namesakes(rest, full)
		if len(found) == 0 {
			if found = namesakes(rest, first); len(found) > 1 {
				found = nil
			}
		}
		for _, i := range found {
			mentioned[i] = true
		}
	}
	out := []string{}
	for i, u := range people {
		if mentioned[i] {
			out = append(out, u.ID)
		}
	}
	return out
}

// unified returns text with composed letters, one kind of space and one kind of @.
func unified(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || unicode.Is(unicode.Zs, r):
			return ' '
		case r == '＠':
			return '@'
		}
		return r
	}, norm.NFC.String(text))
}

// mentions returns the text after each @ that starts a word and does not follow @, / or \.
func mentions(text string) (out []string) {
	before := ' '
	for i, r := range text {
		if r == '@' && (!isWordPart(before) || board.JoinsWords(before)) && before != '@' && before != '/' && before != '\\' {
			out = append(out, text[i+1:])
		}
		if r != '_' { // around a word, _ marks emphasis
			before = r
		}
	}
	return out
}

// namesakes returns the indexes of the longest names that the text starts with.
func namesakes(text string, names []string) (found []int) {
	longest := 0
	for i, name := range names {
		length := prefixed(text, name)
		if length == 0 || length < longest {
			continue
		}
		if length > longest {
			longest, found = length, nil
		}
		found = append(found, i)
	}
	return found
}

// prefixed returns the length in bytes of the name at the start of the text, ignoring
// case. It returns 0 if the text does not start with the name as whole words.
func prefixed(text, name string) int {
	at, last := 0, ' '
	for _, want := range name {
		got, size := utf8.DecodeRuneInString(text[at:])
		if size == 0 || !strings.EqualFold(string(got), string(want)) {
			return 0
		}
		at, last = at+size, got
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[at:], "_"))
	if isWordPart(next) && (unicode.IsMark(next) || !board.JoinsWords(last) && !board.JoinsWords(next)) {
		return 0
	}
	return at
}

func isWordPart(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
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
