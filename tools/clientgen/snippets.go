package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The files that snippets send: a picture, and a part of any file.
const (
	pictureFile, pictureMedia = "picture.png", "image/png"
	partFile                  = "part.bin"
)

// snippet is the example of a call in each language of the clients.
type snippet struct {
	TypeScript string `json:"typescript"`
	Python     string `json:"python"`
	Go         string `json:"go"`
}

// snippets returns a JSON object with a snippet for each operation. A snippet sends
// the examples of the document, in all required parameters and in the body. It uses
// variables that a program has: client and, in Go, ctx.
func snippets(a *api) ([]byte, error) {
	all := map[string]snippet{}
	for _, o := range a.operations {
		for _, f := range slices.Concat(o.pathParams, o.queryParams, o.headerParams) {
			if f.required && f.example == nil {
				return nil, fmt.Errorf("%s: the parameter %s has no example", o.name, f.name)
			}
		}
		goText, err := goSnippet(a, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		all[o.name] = snippet{TypeScript: tsSnippet(o), Python: pySnippet(o), Go: goText}
	}
	return []byte(encode(all, " ") + "\n"), nil
}

// argument is a field with its example.
type argument struct {
	*field
	value any // as encoding/json decodes it
}

// examples returns the fields that have an example.
func examples(fields []*field) []argument {
	var out []argument
	for _, f := range fields {
		if f.example != nil {
			out = append(out, argument{f, f.example})
		}
	}
	return out
}

// required returns the required fields.
func required(fields []*field) []*field {
	var out []*field
	for _, f := range fields {
		if f.required {
			out = append(out, f)
		}
	}
	return out
}

// members returns the values of an object in the order of its fields.
func members(fields []*field, object map[string]any) []argument {
	var out []argument
	for _, f := range fields {
		if value, ok := object[f.name]; ok {
			out = append(out, argument{f, value})
		}
	}
	return out
}

// code is an expression that is written on one line if it fits, and otherwise with
// each item on a line of its own.
type code struct {
	open  string // or all of the expression, if there are no items
	items []code
	close string
}

// snippetWidth is the number of columns that the reference page has for an example.
const snippetWidth = 52

// flat returns the expression on one line. Braces after a space have spaces inside.
func (c code) flat() string {
	var parts []string
	for _, item := range c.items {
		parts = append(parts, item.flat())
	}
	text, space := strings.Join(parts, ", "), ""
	if text != "" && strings.HasSuffix(c.open, "{ ") {
		space = " "
	}
	return c.open + text + space + c.close
}

// lines returns the expression with breaks, in a line with the given indentation.
func (c code) lines(indent, tab string) string {
	flat := c.flat()
	if len(c.items) == 0 || len(indent)+len(flat) <= snippetWidth {
		return flat
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(c.open, " "))
	for _, item := range c.items {
		b.WriteString("\n" + indent + tab + item.lines(indent+tab, tab) + ",")
	}
	return b.String() + "\n" + indent + c.close
}

// after returns the expression with a text before it.
func (c code) after(text string) code {
	c.open = text + c.open
	return c
}

// notation is how a language writes JSON values.
type notation struct {
	object, list [2]string // the brackets
	key          func(name string) string
	scalar       func(v any) string // a string, a number, a boolean or nil
}

// value returns the expression of a value. The members of an object are sorted by name.
func (n notation) value(v any) code {
	switch v := v.(type) {
	case map[string]any:
		out := code{open: n.object[0], close: n.object[1]}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out.items = append(out.items, n.value(v[name]).after(n.key(name)+": "))
		}
		return out
	case []any:
		out := code{open: n.list[0], close: n.list[1]}
		for _, item := range v {
			out.items = append(out.items, n.value(item))
		}
		return out
	}
	return code{open: n.scalar(v)}
}

// jsonText returns a value as JSON, which is also an expression in TypeScript.
func jsonText(v any) string { return encode(v, "") }

// encode encodes v like json.MarshalIndent, but does not escape <, > and &.
func encode(v any, indent string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		panic(err) // v consists of decoded JSON and text
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// variable returns the name of a variable for a record of a list.
func variable(record *typeRef) string {
	if record.kind != namedKind {
		return "record"
	}
	return strings.ToLower(record.name[:1]) + record.name[1:]
}
