package docs

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// word is a piece of text, such as a part of a type. It is a link if Href is set.
type word struct{ Text, Href string }

// field is one row of a field table.
type field struct {
	Prefix, Leaf string // the path of the field, such as "labels[]." and "name"
	Type         []word
	Required     bool
	Notes        []string // the limits as text
	Values       []string // the enum
	Default      string
	Text         []node
	Flag         string // deprecated, read only …
}

// The depths to which tables and types are expanded. At a greater depth, the page
// only links to named schemas.
const (
	responseDepth = 2  // the envelope and the record in it
	bodyDepth     = 3  // request bodies are shown in more detail
	endOfDepth    = 10 // limit for all schemas, named or not
)

// primitive reports whether a schema has no properties, items or alternatives, and is not
// of the type object or array.
func primitive(s *schema) bool {
	return len(s.Properties) == 0 && s.Items == nil && len(s.OneOf) == 0 && len(s.AnyOf) == 0 && !s.Type.has("object") &&
		!s.Type.has("array")
}

// typeOf describes the type of a schema as text with links to named schemas.
func (d *document) typeOf(s *schema, depth int) []word {
	shape, name := d.shape(s)
	var out []word
	switch href := d.anchors[name]; {
	case name != "" && d.Components.Schemas[name] == nil:
		out = []word{{Text: name}}
	case name != "" && !primitive(shape):
		out = []word{{name, href}}
	case depth > endOfDepth:
		out = []word{{Text: "…"}}
	case len(shape.OneOf)+len(shape.AnyOf) > 0 && len(shape.Properties) == 0:
		union := slices.Concat(shape.OneOf, shape.AnyOf)
		rest, null := withoutNull(union)
		shown := map[string]bool{}
		for _, alternative := range rest {
			words := d.typeOf(alternative, depth+1)
			if text := plainWords(words); !shown[text] {
				shown[text] = true
				if len(out) > 0 {
					out = append(out, word{Text: " or "})
				}
				out = append(out, words...)
			}
		}
		if null && !shape.nullable {
			out = append(out, word{Text: " or null"})
		}
	default:
		out = d.plainType(shape, depth)
	}
	if shape.nullable || (shape.Type.has("null") && len(shape.Type) > 1) {
		out = append(out, word{Text: " or null"})
	}
	return out
}

func (d *document) plainType(s *schema, depth int) []word {
	var out []word
	for _, t := range s.Type {
		if t == "null" && len(s.Type) > 1 || t == "" {
			continue
		}
		if len(out) > 0 {
			out = append(out, word{Text: " or "})
		}
		switch {
		case t == "array" && s.Items != nil:
			out = append(append(out, word{Text: "array of "}), d.typeOf(s.Items, depth+1)...)
		case t == "object" && s.AdditionalProperties != nil && !s.AdditionalProperties.closed && len(s.Properties) == 0:
			out = append(append(out, word{Text: "map of "}), d.typeOf(s.AdditionalProperties, depth+1)...)
		case s.Format != "" && t != "boolean":
			out = append(out, word{Text: t + " (" + s.Format + ")"})
		default:
			out = append(out, word{Text: t})
		}
	}
	switch {
	case len(out) > 0:
	case len(s.Properties) > 0:
		out = []word{{Text: "object"}}
	case len(s.Enum) > 0 || s.Const != nil:
		out = []word{{Text: "one of the values"}}
	default:
		out = []word{{Text: "any"}}
	}
	return out
}

func plainWords(words []word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.Text)
	}
	return b.String()
}

// row returns the table row for a parameter, a header or a property.
func (d *document) row(prefix, leaf string, s *schema, required bool) field {
	shape, _ := d.shape(s)
	f := field{Prefix: prefix, Leaf: leaf, Type: d.typeOf(s, 0), Required: required, Notes: notes(shape)}
	if shape.Items != nil {
		items, _ := d.shape(shape.Items)
		f.Values = values(items)
		for _, note := range notes(items) {
			f.Notes = append(f.Notes, "each "+note)
		}
	}
	f.Values = append(f.Values, values(shape)...)
	for _, option := range slices.Concat(shape.OneOf, shape.AnyOf) {
		alternative, _ := d.shape(option)
		f.Values = append(f.Values, values(alternative)...)
		f.Notes = append(f.Notes, notes(alternative)...)
	}
	f.Default = defaultOf(shape)
	f.Text = d.markdown(shape.Description, noHeadings)
	switch {
	case shape.Deprecated:
		f.Flag = "deprecated"
	case shape.ReadOnly:
		f.Flag = "read only"
	case shape.WriteOnly:
		f.Flag = "write only"
	}
	return f
}

// fields returns one row for each field of a schema, named by its path, such as
// data.labels[].id. It expands named schemas down to depth, but never within
// themselves. A value without fields is one row, "(whole)".
func (d *document) fields(s *schema, depth int) []field {
	if s == nil {
		return nil
	}
	rows := d.children(s, "", 0, depth, nil)
	if len(rows) == 0 {
		return []field{d.row("", "(whole)", s, false)}
	}
	return rows
}

func (d *document) children(s *schema, prefix string, level, depth int, path []string) []field {
	shape, name := d.shape(s)
	if name != "" && (slices.Contains(path, name) || level >= depth) || level > endOfDepth {
		return nil
	}
	if name != "" {
		path = append(slices.Clone(path), name)
	}
	dot := prefix
	if dot != "" {
		dot += "."
	}
	var rows []field
	for _, prop := range order(shape) {
		rows = append(rows, d.row(dot, prop, shape.Properties[prop], slices.Contains(shape.Required, prop)))
		rows = append(rows, d.children(shape.Properties[prop], dot+prop, level+1, depth, path)...)
	}
	if shape.Items != nil {
		rows = append(rows, d.children(shape.Items, prefix+"[]", level, depth, path)...)
	}
	if additional := shape.AdditionalProperties; additional != nil && !additional.closed {
		rows = append(rows, d.children(additional, dot+"{key}", level+1, depth, path)...)
	}
	known := map[string]bool{}
	for _, r := range rows {
		known[r.Prefix+r.Leaf] = true
	}
	for _, alternative := range slices.Concat(shape.OneOf, shape.AnyOf) {
		for _, r := range d.children(alternative, prefix, level, depth, path) {
			if !known[r.Prefix+r.Leaf] {
				known[r.Prefix+r.Leaf] = true
				r.Required = false // another alternative does not have the field
				if r.Flag == "" && r.Prefix == dot {
					r.Flag = "one form"
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// order returns the names of the properties in the order of x-order. Properties that
// are not in x-order follow: first id, then the required ones, then the others, each
// group sorted by name.
func order(s *schema) []string {
	rank := func(name string) int {
		switch {
		case slices.Contains(s.Order, name):
			return slices.Index(s.Order, name) - len(s.Order)
		case name == "id":
			return 0
		case slices.Contains(s.Required, name):
			return 1
		}
		return 2
	}
	return slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(s.Properties))), func(a, b string) int {
		return rank(a) - rank(b)
	})
}

// notes describes a schema's limits as text.
func notes(s *schema) []string {
	var out []string
	span := func(low, high *int, unit string) {
		switch {
		case low != nil && *low > 0 && high != nil:
			if *low == *high {
				out = append(out, "exactly "+count(*low, unit))
				return
			}
			out = append(out, strconv.Itoa(*low)+" to "+count(*high, unit))
		case low != nil && *low > 0:
			out = append(out, "at least "+count(*low, unit))
		case high != nil:
			out = append(out, "at most "+count(*high, unit))
		}
	}
	span(s.MinLength, s.MaxLength, "character")
	span(s.MinItems, s.MaxItems, "item")
	span(s.MinProperties, s.MaxProperties, "key")
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		out = append(out, s.Minimum.String()+" to "+s.Maximum.String())
	case s.Minimum != nil:
		out = append(out, "at least "+s.Minimum.String())
	case s.Maximum != nil:
		out = append(out, "at most "+s.Maximum.String())
	}
	if s.ExclusiveMinimum != nil {
		out = append(out, "more than "+s.ExclusiveMinimum.String())
	}
	if s.ExclusiveMaximum != nil {
		out = append(out, "less than "+s.ExclusiveMaximum.String())
	}
	if s.MultipleOf != nil {
		out = append(out, "a multiple of "+s.MultipleOf.String())
	}
	if s.UniqueItems {
		out = append(out, "no duplicates")
	}
	switch {
	case s.PatternDescription != "":
		out = append(out, s.PatternDescription)
	case s.Pattern != "":
		out = append(out, "matches "+s.Pattern)
	}
	return out
}

// count formats a number with thousands separators and a unit, such as
// "1,000 characters".
func count(n int, unit string) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if n == 1 {
		return text + " " + unit
	}
	return text + " " + unit + "s"
}

func defaultOf(s *schema) string {
	if s.Default == nil {
		return ""
	}
	return compact(s.Default)
}

func values(s *schema) []string {
	var out []string
	if s.Const != nil {
		out = append(out, compact(s.Const))
	}
	for _, v := range s.Enum {
		out = append(out, compact(v))
	}
	return out
}

// compact formats a JSON value on one line. It removes the quotes of a string.
func compact(raw json.RawMessage) string {
	var text string
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil { // null would become an empty text
		if text == "" {
			return `""`
		}
		return text
	}
	return string(raw)
}
