package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/op"
)

// flexible are the fields of a tool that take more than the operation does: names instead of
// ids, and dates in words. A field within another one is named like changes[].dueDate.
type flexible struct {
	names map[string]noun
	dates map[string]dateKind
	outer map[string]bool // the fields that contain such fields
}

func newFlexible(r *op.Registry, o *op.Operation) flexible {
	f := flexible{names: map[string]noun{}, dates: map[string]dateKind{}, outer: map[string]bool{}}
	for _, field := range o.Input.Fields {
		f.add(r, o.Name, field.Name, field.Schema)
	}
	return f
}

// add adds a field and those within it. It reports whether there are any.
func (f flexible) add(r *op.Registry, tool, field string, s *huma.Schema) bool {
	if s.Ref != "" {
		s = r.Schemas.SchemaFromRef(s.Ref)
	}
	name := leaf(field)
	kind, n := dateKindOf(name, s), nounOf(tool, name)
	switch {
	case kind != "":
		f.dates[field] = kind
	case n != "" && (s.Type == huma.TypeString || s.Items != nil && s.Items.Type == huma.TypeString):
		f.names[field] = n
	case s.Items != nil:
		f.outer[field] = f.add(r, tool, field+"[]", s.Items)
	default:
		for name, property := range s.Properties {
			f.outer[field] = f.add(r, tool, field+"."+name, property) || f.outer[field]
		}
	}
	return kind != "" || f.names[field] != "" || f.outer[field]
}

// leaf returns the name of a field without the fields around it.
func leaf(field string) string { return field[strings.LastIndexByte(field, '.')+1:] }

// member is a member of an object in the body of a call.
type member struct {
	path     string // such as changes[2].dueDate
	field    string // the path without indexes
	value    jsontext.Value
	siblings map[string]jsontext.Value
}

// replaceMembers calls fn for each member of an object, and of the objects in it that contain
// flexible fields. It returns the object with the values that fn returns. nil keeps a value.
// Prefixes are those of paths and fields. Values of a wrong type are kept, and the engine
// explains them.
func (f flexible) replaceMembers(object jsontext.Value, path, field string, fn func(m member) any) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	if len(object) == 0 || json.Unmarshal(object, &members) != nil {
		return object, nil
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(members)) {
		m := member{path + name, field + name, members[name], members}
		value := fn(m)
		var items []jsontext.Value
		switch {
		case !f.outer[m.field]:
		case m.value.Kind() == '{':
			inner, err := f.replaceMembers(m.value, m.path+".", m.field+".", fn)
			if err != nil {
				return nil, err
			}
			value = inner
		case m.value.Kind() == '[' && json.Unmarshal(m.value, &items) == nil:
			for i := range items {
				var err error
				if items[i], err = f.replaceMembers(items[i], fmt.Sprintf("%s[%d].", m.path, i), m.field+"[].", fn); err != nil {
					return nil, err
				}
			}
			value = items
		}
		if value == nil {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", m.path, err)
		}
		members[name], changed = text, true
	}
	if !changed {
		return object, nil
	}
	return json.Marshal(members, json.Deterministic(true))
}

// eachMember calls fn for the members of a body.
func (f flexible) eachMember(body []byte, fn func(m member)) {
	// fn replaces nothing, so nothing is encoded that was not decoded.
	_, _ = f.replaceMembers(body, "", "", func(m member) any {
		fn(m)
		return nil
	})
}
