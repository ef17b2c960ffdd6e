package rest

import (
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"cardwall/internal/op"
)

// usedSchemas is a registry of only those schemas that one document uses.
type usedSchemas struct {
	huma.Registry
	used map[string]*huma.Schema
}

// Map returns the used schemas by name.
func (u usedSchemas) Map() map[string]*huma.Schema { return u.used }

// MarshalJSON encodes only the used schemas.
func (u usedSchemas) MarshalJSON() ([]byte, error) {
	return json.Marshal(u.used, json.Deterministic(true))
}

// schemasOf returns the schemas that a document refers to, directly or through other
// schemas.
func schemasOf(doc *huma.OpenAPI, all huma.Registry) huma.Registry {
	u := usedSchemas{all, map[string]*huma.Schema{}}
	content := func(types map[string]*huma.MediaType) {
		for _, t := range types {
			u.follow(t.Schema)
		}
	}
	inResponses := func(responses map[string]*huma.Response) {
		for _, r := range responses {
			content(r.Content)
		}
	}
	inResponses(doc.Components.Responses)
	for _, p := range doc.Components.Parameters {
		u.follow(p.Schema)
	}
	items := slices.AppendSeq(slices.Collect(maps.Values(doc.Paths)), maps.Values(doc.Webhooks))
	for _, item := range items {
		for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if o == nil {
				continue
			}
			for _, p := range o.Parameters {
				u.follow(p.Schema)
			}
			if o.RequestBody != nil {
				content(o.RequestBody.Content)
			}
			inResponses(o.Responses)
		}
	}
	return u
}

// follow adds the schemas that s refers to.
func (u usedSchemas) follow(s *huma.Schema) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, op.SchemaPrefix); ok && u.used[name] == nil {
		if target := u.Registry.Map()[name]; target != nil {
			u.used[name] = target
			u.follow(target)
		}
	}
	u.follow(s.Items)
	u.follow(s.Not)
	if additional, ok := s.AdditionalProperties.(*huma.Schema); ok {
		u.follow(additional)
	}
	for _, p := range s.Properties {
		u.follow(p)
	}
	for _, s := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		u.follow(s)
	}
}
