package rest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/op"
)

// envelope describes the JSON object that contains the data of an operation's response. Operations with
// equal envelopes share a component, so that generators create one type for them.
func envelope(r *op.Registry, o *op.Operation) *huma.Schema {
	s := withData(dataSchema(r, o))
	if o.Paged || o.Continues {
		s.Properties["nextCursor"] = &huma.Schema{
			Type: huma.TypeString, Description: "Pass it as cursor to get the next page. Absent on the last page.",
		}
	}
	if echo := r.EchoSchema(o); echo != nil {
		s.Properties["query"] = echo
	}
	if expanded := r.ExpandedSchema(o); expanded != nil {
		s.Properties["expanded"] = expanded
	}
	if o.Versioned {
		s.Properties["boardVersion"] = &huma.Schema{
			Type: huma.TypeInteger, Examples: []any{42}, Description: "Version of the board up to which the response is complete.",
		}
	}
	if !o.ReadOnly {
		s.Properties["boardVersion"] = &huma.Schema{
			Type: huma.TypeInteger, Examples: []any{42},
			Description: "Version of the board after this change. Absent if no board was changed.",
		}
	}
	if data := s.Properties["data"]; data.Ref == "" && (data.Items == nil || data.Items.Ref == "") {
		return s // without a name
	}
	return component(r, envelopeName(s), s)
}

// withData returns the schema of an object that contains only data.
func withData(data *huma.Schema) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Properties: map[string]*huma.Schema{"data": data}, Required: []string{"data"},
		AdditionalProperties: false,
	}
}

// envelopeName returns the name of an envelope. A query of a card responds with a CardResponse, and a change
// with a CardResult, which may have a boardVersion. A list is a CardListResponse, and with a cursor a CardPage.
func envelopeName(s *huma.Schema) string {
	data, kind := s.Properties["data"], ""
	if data.Type == huma.TypeArray {
		data, kind = data.Items, "List"
	}
	has := func(field string) bool { return s.Properties[field] != nil }
	switch {
	case has("query"):
		kind = "SearchPage"
	case has("nextCursor") && has("boardVersion"):
		kind = "VersionedPage"
	case has("nextCursor"):
		kind = "Page"
	case has("boardVersion"):
		kind += "Result"
	default:
		kind += "Response"
	}
	name := strings.TrimPrefix(data.Ref, op.SchemaPrefix) + kind
	if has("expanded") {
		return "Expandable" + name
	}
	return name
}

// component adds a schema to the shared schemas and returns a reference to it. It panics if the name
// belongs to another schema.
func component(r *op.Registry, name string, s *huma.Schema) *huma.Schema {
	if other := r.Schemas.Map()[name]; other != nil && !reflect.DeepEqual(other, s) {
		panic(fmt.Sprintf("rest: two schemas have the name %s", name))
	}
	r.Schemas.Map()[name] = s
	return &huma.Schema{Ref: op.SchemaPrefix + name}
}
