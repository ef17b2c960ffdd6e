package op

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// answered is how answers are written: the same record the same each time. No
// record of ours can have two fields of one name, so none is looked for.
var answered = json.JoinOptions(json.Deterministic(true), jsontext.AllowDuplicateNames(true))

// Written is a record of a long answer whose JSON was written ahead: a report
// writes its first records while it reads the next. The answer, a type that
// implements Appender, has but to join them.
type Written[T any] struct{ text jsontext.Value }

// Writer writes records ahead.
type Writer[T any] struct {
	// Append appends a record's JSON, the same as its fields would be written:
	// of thousands, what reads fields from a type takes four times as long.
	Append func(b []byte, record *T) ([]byte, error)

	text []byte
}

// writerRoom is how much text a Writer makes room for at a time, and writerLeft
// with how little left it makes new room.
const writerRoom, writerLeft = 64 << 10, 2 << 10

// Write writes a record.
func (w *Writer[T]) Write(record *T) (Written[T], error) {
	if cap(w.text)-len(w.text) < writerLeft { // what was written stays where it is
		w.text = make([]byte, 0, writerRoom)
	}
	text, err := w.Append(w.text, record)
	if err != nil {
		return Written[T]{}, fmt.Errorf("write a record: %w", err)
	}
	written := text[len(w.text):len(text):len(text)]
	w.text = text
	return Written[T]{written}, nil
}

// Appender is an answer that writes its JSON itself: the same as its fields
// would be written.
type Appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

// AppendArray appends the array of what was written.
func AppendArray[T any](b []byte, records []Written[T]) []byte {
	size := len("[]") + len(records)
	for _, w := range records {
		size += len(w.text)
	}
	b = append(slices.Grow(b, size), '[')
	for i, w := range records {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, w.text...)
	}
	return append(b, ']')
}

// MarshalJSONTo puts down what was written.
func (w Written[T]) MarshalJSONTo(enc *jsontext.Encoder) error { return enc.WriteValue(w.text) }

// Schema is T's.
func (w Written[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}
