package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// document is the part of an OpenAPI 3.1 document that clientgen reads.
type document struct {
	Paths      map[string]map[string]*operationObject
	Components struct {
		Schemas    map[string]*schema
		Parameters map[string]*parameter
		Responses  map[string]*response
	}
}

type operationObject struct {
	OperationID string
	Summary     string
	Description string
	Parameters  []*parameter
	RequestBody *struct {
		Required bool
		Content  map[string]mediaType
	}
	Responses map[string]*response
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name        string
	In          string
	Description string
	Required    bool
	Schema      *schema
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]mediaType
}

type mediaType struct {
	Schema  *schema
	Example any
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 typeNames
	Format               string
	Description          string
	Enum                 []*string
	Items                *schema
	Properties           map[string]*schema
	Required             []string
	AdditionalProperties *additional
	OneOf, AnyOf, AllOf  []*schema
	ContentMediaType     string
	Examples             []any
}

// typeNames is the value of the keyword type: one name, or an array of names.
type typeNames []string

func (t *typeNames) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = typeNames{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// additional is the value of the keyword additionalProperties: a boolean or a schema.
type additional struct {
	allowed bool
	schema  schema
}

func (a *additional) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &a.allowed) == nil {
		return nil
	}
	a.allowed = true
	return json.Unmarshal(data, &a.schema)
}

// resolve returns the component that ref names, or value if ref is empty.
func resolve[T any](components map[string]T, ref string, value T) (T, error) {
	if ref == "" {
		return value, nil
	}
	found, ok := components[refName(ref)]
	if !ok {
		return value, fmt.Errorf("%s does not exist", ref)
	}
	return found, nil
}

// refName returns the last part of a reference.
func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// merged returns an object schema with the properties of all members of allOf.
func (d *document) merged(s *schema) (*schema, error) {
	if len(s.AllOf) == 0 {
		return s, nil
	}
	all := &schema{Type: typeNames{"object"}, Description: s.Description, Properties: map[string]*schema{}}
	for _, member := range s.AllOf {
		member, err := resolve(d.Components.Schemas, member.Ref, member)
		if err != nil {
			return nil, err
		}
		if member, err = d.merged(member); err != nil {
			return nil, err
		}
		for name, property := range member.Properties {
			all.Properties[name] = property
		}
		for _, name := range member.Required {
			if !slices.Contains(all.Required, name) {
				all.Required = append(all.Required, name)
			}
		}
	}
	return all, nil
}
