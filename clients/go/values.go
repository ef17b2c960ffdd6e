package cardwall

import "encoding/json"

// Ptr returns a pointer to a value, for optional fields.
func Ptr[T any](value T) *T { return &value }

// Nullable is a field that can be absent, null or have a value. The zero value is absent.
type Nullable[T any] struct {
	Value *T // nil for null
	Set   bool
}

// Null returns a field that is null, which clears it.
func Null[T any]() Nullable[T] { return Nullable[T]{Set: true} }

// Value returns a field with a value.
func Value[T any](value T) Nullable[T] { return Nullable[T]{&value, true} }

// IsZero reports whether the field is absent.
func (n Nullable[T]) IsZero() bool { return !n.Set }

// MarshalJSON encodes the value or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.Value) }

// UnmarshalJSON decodes a value or null.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	n.Set = true
	return json.Unmarshal(data, &n.Value)
}

// Position is a place among siblings.
type Position struct{ json any }

// Top returns the first position.
func Top() *Position { return &Position{"top"} }

// Bottom returns the last position.
func Bottom() *Position { return &Position{"bottom"} }

// Before returns the position before the sibling with an id.
func Before(id string) *Position { return &Position{PositionBefore{Before: id}} }

// After returns the position after the sibling with an id.
func After(id string) *Position { return &Position{PositionAfter{After: id}} }

// MarshalJSON encodes the position.
func (p Position) MarshalJSON() ([]byte, error) { return json.Marshal(p.json) }

// UnmarshalJSON decodes a position.
func (p *Position) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &p.json) }
