package op

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/board"
)

// scopedField is a field of an input that needs a scope beside the operation's
// own. The tag scope:"admin" on a field of an input's type declares one.
type scopedField struct {
	name  string // as a refusal names it, such as features.publicPage
	scope board.Scope
	index [][]int // of the field in its struct, from the input down
}

// scopedFields finds the fields of an input with a tag scope, also in the
// records that its fields hold.
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

// given reports whether the input sets the field, to whatever value.
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

// permit refuses a caller that sets a field without the scope for it. Like the
// refusal of a whole operation, it depends on nothing but the token and the
// input, so it is not stored for the idempotency key.
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

// describeScopes says in the schema of each scoped field which scope it needs.
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
				continue // not in the body, or said where another input has the same record
			}
			s.Description = strings.TrimSuffix(s.Description, ".") + "; requires the scope " + string(f.scope) + "."
			s.Extensions = map[string]any{"x-scope": f.scope}
		}
	}
}
