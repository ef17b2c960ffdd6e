package op

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Event is an event that the service sends to webhooks. The OpenAPI document describes
// events along with the operations.
type Event struct {
	Kind   string // such as card.created
	Area   string // name of the area under which it is listed
	Text   string // one sentence that says when it is sent
	Sample any    // a complete body
	data   reflect.Type
}

// Event registers an event in the current area. Sample is a complete body. Data is any
// value of the type of the body's data field.
func (r *Registry) Event(kind, text string, sample, data any) {
	e := Event{Kind: kind, Area: r.Areas[len(r.Areas)-1].Name, Text: text, Sample: sample, data: reflect.TypeOf(data)}
	r.schemaOf(reflect.TypeOf(sample))
	r.Events = append(r.Events, e)
}

// Body returns the schema of an event's body.
func (r *Registry) Body(e Event) *huma.Schema {
	return r.Schemas.SchemaFromRef(r.schemaOf(reflect.TypeOf(e.Sample)).Ref)
}

// Data returns the schema of an event's data.
func (r *Registry) Data(e Event) *huma.Schema {
	s := huma.SchemaFromType(r.Schemas, e.data)
	r.allowNull(s, e.data)
	return s
}
