package op

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/board"
)

// scopedField is an input field that requires a scope in addition to the
// operation's own. It is declared by a tag on the field, such as scope:"admin".
type scopedField struct {
	name  string // as in error messages, such as features.publicPage
	scope board.Scope
	index [][]int // field indexes, from the input to the innermost field
}

// scopedFields returns the fields of an input that have a scope tag, including
// nested fields.
func scopedFields(t reflect.Type) []scopedField {
	var out []scopedField
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		here := scopedField{name: jsonName(f), scope: board.Scope(f.Tag.Get("scope")), index: [][]int{f.Index}}
		if here.scope != "" {
			if _, err := board.ParseScopes([]string{string(here.scope)}); err != nil {
				panic("op: the field " + here.name + ": " + err.Error())
			}
			out = append(out, here)
		}
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() != reflect.Struct {
			continue
		}
		for _, below := range scopedFields(inner) {
			below.name = here.name + "." + below.name
			below.index = append([][]int{f.Index}, below.index...)
			out = append(out, below)
		}
	}
	return out
}

// given reports whether the input sets the field to a value other than its zero value. A
// pointer field counts as set even if it points to a zero value, such as false.
func (s scopedField) given(in reflect.Value) bool {
	for _, index := range s.index {
		if in.Kind() == reflect.Pointer {
			if in.IsNil() {
				return false
			}
			in = in.Elem()
		}
		in = in.FieldByIndex(index)
	}
	return !in.IsZero()
}

// permit returns an error if the caller sets a field without the required
// scope. Like the refusal of a whole operation, this refusal depends only on the
// token and the input, so it is not stored for the idempotency key.
func (in *Input) permit(c board.Caller, value any) error {
	for _, f := range in.scoped {
		if f.given(reflect.ValueOf(value)) {
			if err := c.Needs(f.scope, f.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// describeScopes adds the required scope to the schema of each scoped field.
func (in *Input) describeScopes() {
	for _, f := range in.scoped {
		path := strings.Split(f.name, ".")
		for _, top := range []*huma.Schema{in.Flat, in.Body} {
			s := top
			for _, name := range path {
				if s != nil && s.Ref != "" {
					s = in.schema.SchemaFromRef(s.Ref)
				}
				if s == nil {
					break
				}
				s = s.Properties[name]
			}
			if s == nil || s.Extensions["x-scope"] != nil {
				continue // not in the body, or already added through another input with the same struct
			}
			s.Description += " Requires the " + string(f.scope) + " scope."
			s.Extensions = map[string]any{"x-scope": f.scope}
		}
	}
}
