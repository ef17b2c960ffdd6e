package op

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Event is one thing that the service tells others by itself. Doors describe
// it beside the operations.
type Event struct {
	Kind   string // such as card.created
	Area   string // the heading it stands under
	Text   string // when it is sent, one sentence
	Sample any    // a whole body
	data   reflect.Type
}

// Event registers an event: a body as it is sent, and in data a value of the
// type that its field of that name has.
func (r *Registry) Event(kind, text string, sample, data any) {
	e := Event{Kind: kind, Area: r.Areas[len(r.Areas)-1].Name, Text: text, Sample: sample, data: reflect.TypeOf(data)}
	r.schemaOf(reflect.TypeOf(sample))
	r.Events = append(r.Events, e)
}

// Body is the schema of what every event's body has.
func (r *Registry) Body(e Event) *huma.Schema {
	return r.Schemas.SchemaFromRef(r.schemaOf(reflect.TypeOf(e.Sample)).Ref)
}

// Data is the schema of an event's data.
func (r *Registry) Data(e Event) *huma.Schema {
	s := huma.SchemaFromType(r.Schemas, e.data)
	r.allowNull(s, e.data)
	return s
}
