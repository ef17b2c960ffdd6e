package op

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// explain describes a validation error as a sentence and as a detail. Both name
// the field and what the schema allows there, but never the value. s is the schema
// that was validated against. name is the field that s describes, or "" for the
// whole body.
func (in *Input) explain(s *huma.Schema, name string, err error) (string, board.Detail) {
	d, ok := err.(huma.ErrorDetailer)
	if !ok {
		return "The input is not valid.", board.Detail{Field: name, Rule: board.RuleValue}
	}
	detail := d.ErrorDetail()
	at, prefix := in.find(s, name, detail.Location)
	out := board.Detail{Field: Quoted(detail.Location), Rule: board.RuleValue}
	switch {
	case detail.Message == validation.MsgUnexpectedProperty:
		object := in.name
		if prefix != "" {
			object = prefix
		}
		out.Rule, out.Allowed = board.RuleUnknown, strings.Join(in.fieldNames(s, at), ", ")
		return fmt.Sprintf("%s is not a field of %s. Allowed fields are %s.", out.Field, object, out.Allowed), out
	case strings.HasPrefix(detail.Message, "expected required property"):
		required := strings.Fields(detail.Message)[3]
		if out.Field != "" {
			required = out.Field + "." + required
		}
		return required + " is required.", board.Detail{Field: required, Rule: board.RuleRequired}
	case detail.Message == emptyText:
		out.Rule = board.RuleEmpty
		return out.Field + " must not be empty.", out
	}
	out.Allowed = in.allowed(at)
	if out.Field == "" {
		return fmt.Sprintf("The body must be %s.", out.Allowed), out
	}
	if slices.Contains(kindErrors, detail.Message) {
		return fmt.Sprintf("%s must be %s, but is %s.", out.Field, out.Allowed, kindOf(detail.Value)), out
	}
	return fmt.Sprintf("%s must be %s.", out.Field, out.Allowed), out
}

// kindErrors are the validator's messages for a value of the wrong kind.
var kindErrors = []string{
	validation.MsgExpectedBoolean, validation.MsgExpectedNumber, validation.MsgExpectedInteger, validation.MsgExpectedString,
	validation.MsgExpectedArray, validation.MsgExpectedObject,
}

// bodyFault explains why a body that matches its schema cannot be decoded into
// the input.
func (in *Input) bodyFault(err error) error {
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) || semantic.JSONPointer == "" {
		return board.Invalid("The body is not a valid input of %s.", in.name)
	}
	location := strings.Join(slices.Collect(semantic.JSONPointer.Tokens()), ".")
	at, _ := in.find(in.Body, "", location)
	return board.InvalidValue(Quoted(location), in.allowed(at))
}

// find returns the schema at a location such as due.dueDate or items[2], and the
// part of the location that the schema describes. For an unknown field, it returns
// the schema of the enclosing object.
func (in *Input) find(s *huma.Schema, name, location string) (at *huma.Schema, prefix string) {
	at, prefix = in.resolve(s), name
	rest := strings.TrimPrefix(strings.TrimPrefix(location, name), ".")
	for _, token := range strings.FieldsFunc(rest, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
		switch {
		case at.Items != nil:
			at = in.resolve(at.Items)
			prefix += "[" + token + "]"
		case at.Properties[token] != nil:
			at = in.resolve(at.Properties[token])
			if prefix != "" {
				prefix += "."
			}
			prefix += token
		default:
			return at, prefix
		}
	}
	return at, prefix
}

func (in *Input) resolve(s *huma.Schema) *huma.Schema {
	for s.Ref != "" {
		s = in.schema.SchemaFromRef(s.Ref)
	}
	return s
}

// fieldNames returns the names of an object's fields. Those of the whole body are
// in the order of the input; all others are sorted.
func (in *Input) fieldNames(body, object *huma.Schema) []string {
	if object != body || in.Body != body {
		return slices.Sorted(maps.Keys(object.Properties))
	}
	var names []string
	for _, f := range in.Fields {
		if f.In == InBody {
			names = append(names, f.Name)
		}
	}
	return names
}

// allowed describes the values that a schema allows. The description completes the
// phrase "must be".
func (in *Input) allowed(s *huma.Schema) string {
	text := in.allowedType(in.resolve(s))
	if s.Nullable {
		text += ", or null"
	}
	return text
}

func (in *Input) allowedType(s *huma.Schema) string {
	if len(s.OneOf) > 0 {
		return in.alternatives(s.OneOf)
	}
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprint(v)
		}
		return "one of " + strings.Join(values, ", ")
	}
	switch s.Type {
	case huma.TypeString:
		return allowedString(s)
	case huma.TypeInteger:
		return "a whole number" + between(s.Minimum, s.Maximum)
	case huma.TypeNumber:
		return "a number" + between(s.Minimum, s.Maximum)
	case huma.TypeBoolean:
		return "true or false"
	case huma.TypeArray:
		text := "an array" + count(s.MinItems, s.MaxItems, "item")
		if s.UniqueItems {
			text += " without duplicates"
		}
		if s.Items != nil {
			text += "; each must be " + in.allowed(s.Items)
		}
		return text
	}
	if len(s.Properties) == 0 {
		return "a JSON object"
	}
	return "an object with the fields " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
}

// alternatives lists the alternatives of a union in JSON notation.
func (in *Input) alternatives(schemas []*huma.Schema) string {
	var all []string
	for _, s := range schemas {
		s = in.resolve(s)
		switch {
		case s.Type == huma.TypeString && len(s.Enum) > 0:
			for _, v := range s.Enum {
				all = append(all, fmt.Sprintf("%q", v))
			}
		case s.Type == huma.TypeObject && len(s.Required) == 1:
			all = append(all, fmt.Sprintf(`{%q: %s}`, s.Required[0], in.resolve(s.Properties[s.Required[0]]).Type))
		default:
			all = append(all, in.allowedType(s))
		}
	}
	last := len(all) - 1
	if last == 0 {
		return all[0]
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

func allowedString(s *huma.Schema) string {
	switch s.Format {
	case "date":
		return "a date as YYYY-MM-DD"
	case "date-time":
		return "an RFC 3339 time such as 2026-11-23T09:30:00Z"
	case "email":
		return "an email address"
	case "uri":
		return "an absolute URL"
	}
	text := "a string" + count(s.MinLength, s.MaxLength, "character")
	switch {
	case s.PatternDescription != "":
		text += " that is " + s.PatternDescription
	case s.Pattern != "":
		text += " that matches " + s.Pattern
	}
	return text
}

// between describes the bounds of a number.
func between(least, most *float64) string {
	decimal := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	switch {
	case least != nil && most != nil:
		return " from " + decimal(*least) + " to " + decimal(*most)
	case least != nil:
		return " of at least " + decimal(*least)
	case most != nil:
		return " of at most " + decimal(*most)
	}
	return ""
}

// count describes the bounds of a length.
func count(least, most *int, unit string) string {
	plural := func(n int) string {
		if n == 1 {
			return fmt.Sprintf("%d %s", n, unit)
		}
		return fmt.Sprintf("%d %ss", n, unit)
	}
	switch {
	case least != nil && most != nil && *least > 0 && *least == *most:
		return " of " + plural(*most)
	case least != nil && most != nil && *least > 0:
		return fmt.Sprintf(" of %d to %s", *least, plural(*most))
	case most != nil:
		return " of at most " + plural(*most)
	case least != nil && *least == 1 && unit == "character":
		return " that is not empty"
	case least != nil && *least > 0:
		return " of at least " + plural(*least)
	}
	return ""
}
