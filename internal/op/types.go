package op

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
)

// Optional is a field of a change that may be left out, be null, or have a
// value; leaving out and null mean different things.
type Optional[T any] struct {
	Set   bool // it was there
	Value *T   // nil for null
}

// IsZero is true when the field was left out.
func (o Optional[T]) IsZero() bool { return !o.Set }

// UnmarshalJSON notes that the field was there.
func (o *Optional[T]) UnmarshalJSON(b []byte) error {
	o.Set = true
	o.Value = nil
	return json.Unmarshal(b, &o.Value)
}

// Schema is T's, with null.
func (o Optional[T]) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[T](), true, "")
	s.Nullable = true
	return &s
}

// positionSchema describes board.Position, whose package knows no schemas.
type positionSchema struct{}

// PositionBefore and PositionAfter are the two forms of a position that name
// a neighbour.
type PositionBefore struct {
	Before string `json:"before" maxLength:"64" doc:"The id of the sibling to place it before." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// PositionAfter puts a thing behind a neighbour.
type PositionAfter struct {
	After string `json:"after" maxLength:"64" doc:"The id of the sibling to place it after." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

func (positionSchema) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: `"top", "bottom", {"before": id} or {"after": id}.`,
		OneOf: []*huma.Schema{
			{Type: huma.TypeString, Enum: []any{"top", "bottom"}},
			r.Schema(reflect.TypeFor[PositionBefore](), true, ""),
			r.Schema(reflect.TypeFor[PositionAfter](), true, ""),
		},
	}
}
