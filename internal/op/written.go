package op

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Written is a record of an answer whose JSON was written ahead: a report
// writes its first records while it reads the next, and has but to join them.
type Written[T any] struct {
	Value T
	text  jsontext.Value
}

// Write writes the record as an answer holds it.
func Write[T any](record T) (Written[T], error) {
	text, err := json.Marshal(&record, answered)
	return Written[T]{record, text}, err
}

// MarshalJSONTo puts down what was written.
func (w Written[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteValue(w.text)
}

// UnmarshalJSON reads what MarshalJSONTo put down.
func (w *Written[T]) UnmarshalJSON(b []byte) error {
	w.text = append(w.text[:0], b...)
	return json.Unmarshal(b, &w.Value)
}

// Schema is T's.
func (w Written[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}
