package op

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Event is an event that the service sends to webhooks. REST and MCP describe
// events next to the operations.
type Event struct {
	Kind   string // such as card.created
	Area   string // the area it is listed in
	Text   string // when it is sent, as one sentence
	Sample any    // a complete body
	data   reflect.Type
}

// Event registers an event. Sample is a complete body, and data a value of the
// type of its field data.
func (r *Registry) Event(kind, text string, sample, data any) {
	e := Event{Kind: kind, Area: r.Areas[len(r.Areas)-1].Name, Text: text, Sample: sample, data: reflect.TypeOf(data)}
	r.schemaOf(reflect.TypeOf(sample))
	r.Events = append(r.Events, e)
}

// Body returns the schema of the body that all events have in common.
func (r *Registry) Body(e Event) *huma.Schema {
	return r.Schemas.SchemaFromRef(r.schemaOf(reflect.TypeOf(e.Sample)).Ref)
}

// Data returns the schema of an event's data.
func (r *Registry) Data(e Event) *huma.Schema {
	s := huma.SchemaFromType(r.Schemas, e.data)
	r.allowNull(s, e.data)
	return s
}
