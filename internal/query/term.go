package query

import (
	"fmt"
	"strings"

	"cardwall/internal/board"
)

// term is a term of a query. Its values are as they were written until check normalizes
// them.
type term struct {
	param          string
	offset, length int
	key            string // "" for plain text
	kind           kind
	negated        bool
	ignored        bool
	values         []value
}

// value is one alternative of a term. For a comparison, op is the operator. For
// a range, op is ".." and text and to are the bounds.
type value struct {
	offset int
	op     string
	text   string
	quoted bool
	to     string
	prefix bool
}

// names reports whether one of the values is exactly the word.
func (t *term) names(word string) bool {
	for _, v := range t.values {
		if v.text == word {
			return true
		}
	}
	return false
}

// only reports whether all values are exactly the word.
func (t *term) only(word string) bool {
	for _, v := range t.values {
		if v.text != word {
			return false
		}
	}
	return len(t.values) > 0
}

// fail returns an error about value i. The message starts with the parameter and ends
// with the offset of the value, or of the term if the term has no value i.
func (t *term) fail(i int, format string, args ...any) error {
	at := t.offset
	if i < len(t.values) {
		at = t.values[i].offset
	}
	return errorAt(t.param, at, format, args...)
}

func errorAt(param string, at int, format string, args ...any) error {
	return board.Invalid("%s: %s (at offset %d).", param, fmt.Sprintf(format, args...), at).
		In(param, board.RuleValue)
}

// append appends the term to b, in the search grammar.
func (t *term) append(b []byte) []byte {
	if t.negated {
		b = append(b, '-')
	}
	if t.key != "" {
		b = append(b, t.key...)
		b = append(b, ':')
	}
	for i, v := range t.values {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.append(b)
	}
	return b
}

func (v value) append(b []byte) []byte {
	switch {
	case v.op == "..":
		b = append(b, v.text...)
		b = append(b, ".."...)
		b = append(b, v.to...)
	case v.quoted:
		b = append(b, '"')
		b = append(b, strings.ReplaceAll(v.text, `"`, `\"`)...)
		b = append(b, '"')
	default:
		b = append(b, v.op...)
		b = append(b, v.text...)
		if v.prefix {
			b = append(b, '*')
		}
	}
	return b
}

func (t *term) echo() Term {
	e := Term{
		Key: t.key, Negated: t.negated, Ignored: t.ignored,
		Text: string(t.append(nil)), Param: t.param, Offset: t.offset, Length: t.length,
		Values: make([]string, len(t.values)),
	}
	if e.Key == "" {
		e.Key = "text"
	}
	for i, v := range t.values {
		if v.quoted {
			e.Values[i] = v.text
		} else {
			e.Values[i] = string(v.append(nil))
		}
	}
	return e
}
