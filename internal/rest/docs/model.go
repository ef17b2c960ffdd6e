package docs

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// document is the part of an OpenAPI 3.1 document that the page shows.
type document struct {
	Info struct {
		Title       string `json:"title"`
		Description string `json:"description"`
		Version     string `json:"version"`
	} `json:"info"`
	Servers []struct {
		URL string `json:"url"`
	} `json:"servers"`
	Paths      map[string]*pathItem  `json:"paths"`
	Tags       []tag                 `json:"tags"`
	Security   []map[string][]string `json:"security"`
	Errors     json.RawMessage       `json:"x-errors"`
	Components struct {
		Schemas         map[string]*schema         `json:"schemas"`
		Parameters      map[string]*parameter      `json:"parameters"`
		Headers         map[string]*parameter      `json:"headers"`
		Responses       map[string]*response       `json:"responses"`
		RequestBodies   map[string]*requestBody    `json:"requestBodies"`
		SecuritySchemes map[string]*securityScheme `json:"securitySchemes"`
	} `json:"components"`

	anchors  map[string]string    // fragments of operations and schemas, by name
	snippets map[string][]program // of the operations, in the languages of the clients
}

type tag struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Operations  []string `json:"x-operations"` // operationIds, in the order in which the page shows them
}

type securityScheme struct {
	Type         string `json:"type"`
	Description  string `json:"description"`
	Name         string `json:"name"`
	In           string `json:"in"`
	Scheme       string `json:"scheme"`
	BearerFormat string `json:"bearerFormat"`
}

type pathItem struct {
	Get        *operation   `json:"get"`
	Post       *operation   `json:"post"`
	Put        *operation   `json:"put"`
	Patch      *operation   `json:"patch"`
	Delete     *operation   `json:"delete"`
	Head       *operation   `json:"head"`
	Options    *operation   `json:"options"`
	Trace      *operation   `json:"trace"`
	Parameters []*parameter `json:"parameters"`
}

type operation struct {
	Tags        []string               `json:"tags"`
	Summary     string                 `json:"summary"`
	Description string                 `json:"description"`
	OperationID string                 `json:"operationId"`
	Parameters  []*parameter           `json:"parameters"`
	RequestBody *requestBody           `json:"requestBody"`
	Responses   map[string]*response   `json:"responses"`
	Deprecated  bool                   `json:"deprecated"`
	Security    *[]map[string][]string `json:"security"`
	Scope       string                 `json:"x-scope"`
	Errors      json.RawMessage        `json:"x-errors"`

	method, path string
}

type parameter struct {
	Ref         string              `json:"$ref"`
	Name        string              `json:"name"`
	In          string              `json:"in"`
	Description string              `json:"description"`
	Required    bool                `json:"required"`
	Deprecated  bool                `json:"deprecated"`
	Schema      *schema             `json:"schema"`
	Example     json.RawMessage     `json:"example"`
	Examples    map[string]*example `json:"examples"`
}

type example struct {
	Value json.RawMessage `json:"value"`
}

type requestBody struct {
	Ref         string                `json:"$ref"`
	Description string                `json:"description"`
	Content     map[string]*mediaType `json:"content"`
	Required    bool                  `json:"required"`
}

type response struct {
	Ref         string                `json:"$ref"`
	Description string                `json:"description"`
	Headers     map[string]*parameter `json:"headers"`
	Content     map[string]*mediaType `json:"content"`
	Codes       []string              `json:"x-codes"`
}

type mediaType struct {
	Schema   *schema             `json:"schema"`
	Example  json.RawMessage     `json:"example"`
	Examples map[string]*example `json:"examples"`
}

// schema is a JSON Schema. The schemas `true` and `false` are decoded as empty
// schemas, which the page shows as "any".
type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 types              `json:"type"`
	Title                string             `json:"title"`
	Description          string             `json:"description"`
	Format               string             `json:"format"`
	Default              json.RawMessage    `json:"default"`
	Const                json.RawMessage    `json:"const"`
	Enum                 []json.RawMessage  `json:"enum"`
	Example              json.RawMessage    `json:"example"`
	Examples             []json.RawMessage  `json:"examples"`
	Items                *schema            `json:"items"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties *schema            `json:"additionalProperties"`
	Required             []string           `json:"required"`
	Minimum              *json.Number       `json:"minimum"`
	ExclusiveMinimum     *json.Number       `json:"exclusiveMinimum"`
	Maximum              *json.Number       `json:"maximum"`
	ExclusiveMaximum     *json.Number       `json:"exclusiveMaximum"`
	MultipleOf           *json.Number       `json:"multipleOf"`
	MinLength            *int               `json:"minLength"`
	MaxLength            *int               `json:"maxLength"`
	MinItems             *int               `json:"minItems"`
	MaxItems             *int               `json:"maxItems"`
	MinProperties        *int               `json:"minProperties"`
	MaxProperties        *int               `json:"maxProperties"`
	UniqueItems          bool               `json:"uniqueItems"`
	Pattern              string             `json:"pattern"`
	PatternDescription   string             `json:"patternDescription"`
	ReadOnly             bool               `json:"readOnly"`
	WriteOnly            bool               `json:"writeOnly"`
	Deprecated           bool               `json:"deprecated"`
	OneOf                []*schema          `json:"oneOf"`
	AnyOf                []*schema          `json:"anyOf"`
	AllOf                []*schema          `json:"allOf"`
	Order                []string           `json:"x-order"`

	closed   bool // the schema `false`
	nullable bool // found while merging: null is one of the alternatives
}

// UnmarshalJSON accepts an object or a boolean.
func (s *schema) UnmarshalJSON(raw []byte) error {
	switch string(bytes.TrimSpace(raw)) {
	case "true":
		return nil
	case "false":
		s.closed = true
		return nil
	}
	type plain schema
	return json.Unmarshal(raw, (*plain)(s))
}

// types is the value of the type keyword: one or more names.
type types []string

// UnmarshalJSON accepts a string or an array of strings.
func (t *types) UnmarshalJSON(raw []byte) error {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		*t = types{name}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

func (t types) has(name string) bool { return slices.Contains(t, name) }

// shape resolves references, merges allOf, and replaces a union of one schema and null
// with that schema. It returns the resulting schema and the name of the component that
// it comes from, if any. Keywords next to a reference (description, default …) override
// those of the component. For a reference without a target, shape returns a schema that
// has only the reference's description, and the name in the reference.
func (d *document) shape(s *schema) (*schema, string) {
	return d.shapeOf(s, map[*schema]bool{})
}

func (d *document) shapeOf(s *schema, seen map[*schema]bool) (*schema, string) {
	if s == nil || seen[s] {
		return &schema{}, ""
	}
	seen[s] = true
	defer delete(seen, s)
	if s.Ref != "" {
		name := lastSegment(s.Ref)
		target := d.Components.Schemas[name]
		if target == nil || !strings.HasPrefix(s.Ref, "#/components/schemas/") {
			return &schema{Description: s.Description}, name
		}
		out, _ := d.shapeOf(target, seen)
		merged := *out
		overlay(&merged, s)
		return &merged, name
	}
	if len(s.AllOf) > 0 {
		out, name := schema{}, ""
		for _, part := range s.AllOf {
			got, partName := d.shapeOf(part, seen)
			join(&out, got)
			if len(s.AllOf) == 1 {
				name = partName
			}
		}
		own := *s
		own.AllOf = nil
		if len(own.Properties) > 0 {
			name = ""
		}
		join(&out, &own)
		overlay(&out, s)
		return &out, name
	}
	for _, union := range [][]*schema{s.OneOf, s.AnyOf} {
		if rest, null := withoutNull(union); len(rest) == 1 && len(s.Properties) == 0 {
			out, name := d.shapeOf(rest[0], seen)
			merged := *out
			merged.nullable = merged.nullable || null
			overlay(&merged, s)
			return &merged, name
		}
	}
	return s, ""
}

// withoutNull returns the alternatives except those that allow only null, and reports
// whether there were any of those.
func withoutNull(union []*schema) (rest []*schema, null bool) {
	for _, alternative := range union {
		if alternative != nil && len(alternative.Type) == 1 && alternative.Type[0] == "null" {
			null = true
			continue
		}
		rest = append(rest, alternative)
	}
	return rest, null
}

// overlay sets the annotations of over on base, and makes base nullable if over is.
func overlay(base, over *schema) {
	if over.Description != "" {
		base.Description = over.Description
	}
	if over.Default != nil {
		base.Default = over.Default
	}
	if over.Example != nil {
		base.Example = over.Example
	}
	if len(over.Examples) > 0 {
		base.Examples = over.Examples
	}
	base.Deprecated = base.Deprecated || over.Deprecated
	base.ReadOnly = base.ReadOnly || over.ReadOnly
	base.WriteOnly = base.WriteOnly || over.WriteOnly
	base.nullable = base.nullable || over.nullable || over.Type.has("null")
}

// join adds the constraints of part to out. Part is an element of allOf, or the schema
// that contains the allOf.
func join(out, part *schema) {
	props := map[string]*schema{}
	for name, p := range out.Properties {
		props[name] = p
	}
	for name, p := range part.Properties {
		props[name] = p
	}
	required := slices.Concat(out.Required, part.Required)
	order := slices.Concat(out.Order, part.Order)
	union := slices.Concat(out.OneOf, out.AnyOf, part.OneOf, part.AnyOf)
	kept := *out
	if len(part.Type) > 0 || part.Format != "" || len(part.Enum) > 0 || part.Items != nil {
		*out = *part
	}
	overlay(out, &kept)
	overlay(out, part)
	if out.AdditionalProperties = part.AdditionalProperties; out.AdditionalProperties == nil {
		out.AdditionalProperties = kept.AdditionalProperties
	}
	out.Properties, out.Required, out.Order, out.OneOf, out.AnyOf, out.AllOf = props, required, order, union, nil, nil
}

func lastSegment(ref string) string {
	return ref[strings.LastIndexByte(ref, '/')+1:]
}
