package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// parser builds an api from a document.
type parser struct {
	document
	api api
}

// parse returns the model of an OpenAPI document.
func parse(data []byte) (*api, error) {
	var p parser
	if err := json.Unmarshal(data, &p.document); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Components.Schemas)) {
		if err := p.addType(name, p.Components.Schemas[name]); err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
	}
	for path, methods := range p.Paths {
		for method, o := range methods {
			if err := p.addOperation(strings.ToUpper(method), path, o); err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
		}
	}
	slices.SortFunc(p.api.objects, func(a, b *object) int { return cmp.Compare(a.name, b.name) })
	slices.SortFunc(p.api.operations, func(a, b *operation) int { return cmp.Compare(a.name, b.name) })
	for i, o := range p.api.objects[1:] {
		if o.name == p.api.objects[i].name {
			return nil, fmt.Errorf("two types have the name %s", o.name)
		}
	}
	return &p.api, nil
}

// addType adds the named type of a schema.
func (p *parser) addType(name string, s *schema) error {
	if len(s.OneOf) > 0 {
		u := &union{name: name, doc: s.Description, tag: "type"}
		for _, member := range s.OneOf {
			t, err := p.typeOf(name, member)
			if err != nil {
				return err
			}
			if t.kind != namedKind || p.Components.Schemas[t.name].AllOf == nil {
				u.tag = ""
			}
			u.members = append(u.members, t)
		}
		p.api.unions = append(p.api.unions, u)
		return nil
	}
	s, err := p.merged(s)
	if err != nil {
		return err
	}
	if !slices.Equal(s.Type, typeNames{"object"}) {
		return fmt.Errorf("type %q is not object", s.Type)
	}
	fields, err := p.fields(name, s)
	if err != nil {
		return err
	}
	p.api.objects = append(p.api.objects, &object{name: name, doc: s.Description, fields: fields})
	return nil
}

// fields returns the properties of a schema: required ones in their order, then
// optional ones sorted by name. The types of inline objects are named after owner.
func (p *parser) fields(owner string, s *schema) ([]*field, error) {
	names := slices.Clone(s.Required)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			names = append(names, name)
		}
	}
	var fields []*field
	for i, name := range names {
		property := s.Properties[name]
		if property == nil {
			return nil, fmt.Errorf("%s is required, but not a property", name)
		}
		t, err := p.typeOf(owner+pascal(name), property)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		fields = append(fields, &field{name: name, doc: property.Description, typ: t, required: i < len(s.Required)})
	}
	return fields, nil
}

// typeOf returns the type of a schema where it is used. It adds an inline object to
// the model with the given name.
func (p *parser) typeOf(name string, s *schema) (*typeRef, error) {
	if s.Ref != "" {
		if p.Components.Schemas[refName(s.Ref)] == nil {
			return nil, fmt.Errorf("%s does not exist", s.Ref)
		}
		return &typeRef{kind: namedKind, name: refName(s.Ref)}, nil
	}
	if len(s.AnyOf) == 2 && slices.Equal(s.AnyOf[1].Type, typeNames{"null"}) {
		t, err := p.typeOf(name, s.AnyOf[0])
		if err == nil {
			t.nullable = true
		}
		return t, err
	}
	types := slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
	t := &typeRef{nullable: len(types) < len(s.Type)}
	if len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) > 0 || len(types) > 1 {
		return nil, fmt.Errorf("an inline union is not supported")
	}
	if len(types) == 0 {
		return t, nil
	}
	var err error
	switch types[0] {
	case "string":
		t.kind = stringKind
		if s.ContentMediaType != "" {
			t.kind = binaryKind
		}
		for _, value := range s.Enum {
			if value != nil {
				t.kind = enumKind
				t.values = append(t.values, *value)
			}
		}
	case "integer":
		t.kind = integerKind
	case "number":
		t.kind = numberKind
	case "boolean":
		t.kind = booleanKind
	case "array":
		t.kind = arrayKind
		t.elem, err = p.typeOf(name, s.Items)
	case "object":
		switch {
		case len(s.Properties) > 0:
			t.kind, t.name = namedKind, name
			err = p.addType(name, s)
		case s.AdditionalProperties != nil && s.AdditionalProperties.allowed:
			t.kind = mapKind
			t.elem, err = p.typeOf(name, &s.AdditionalProperties.schema)
		default:
			err = fmt.Errorf("an object without properties is not supported")
		}
	default:
		err = fmt.Errorf("type %q is not supported", types[0])
	}
	return t, err
}

// pascal returns a name in Pascal case.
func pascal(name string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}
