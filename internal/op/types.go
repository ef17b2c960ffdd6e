package op

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
)

// Optional is an input field that distinguishes between being absent, being null
// and having a value.
type Optional[T any] struct {
	Set   bool // the field was present
	Value *T   // nil for null
}

// IsZero reports whether the field was absent.
func (o Optional[T]) IsZero() bool { return !o.Set }

// UnmarshalJSON decodes the value and records that the field was present.
func (o *Optional[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	o.Value = nil
	return json.Unmarshal(b, &o.Value)
}

// Schema returns T's schema, with null added.
func (o Optional[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), true, "")
	s.Nullable = true
	return &s
}

// positionSchema provides the schema of board.Position, because package board does
// not depend on huma.
type positionSchema struct{}

// PositionBefore is a position directly before a sibling.
type PositionBefore struct {
	Before string `json:"before" maxLength:"64" doc:"Place the object before the sibling with this id." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// PositionAfter is a position directly after a sibling.
type PositionAfter struct {
	After string `json:"after" maxLength:"64" doc:"Place the object after the sibling with this id." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// Schema adds the component Position and returns a reference to it.
func (positionSchema) Schema(r huma.Registry) *huma.Schema {
	const name = "Position"
	if r.Map()[name] == nil {
		s := &huma.Schema{
			Description: `"top", "bottom", {"before": id} or {"after": id}.`,
			OneOf: []*huma.Schema{
				{Type: huma.TypeString, Enum: []any{"top", "bottom"}},
				r.Schema(reflect.TypeFor[PositionBefore](), true, ""),
				r.Schema(reflect.TypeFor[PositionAfter](), true, ""),
			},
		}
		s.PrecomputeMessages()
		r.Map()[name] = s
	}
	return &huma.Schema{Ref: SchemaPrefix + name}
}
