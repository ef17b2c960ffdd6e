package op

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// encodeOptions are the options for encoding responses. The output is
// deterministic. Duplicate names are not checked, because no record has two fields
// with the same name.
var encodeOptions = json.JoinOptions(json.Deterministic(true), jsontext.AllowDuplicateNames(true))

// Written is an encoded record of a long response. A report encodes each record while it
// reads the next ones. The response, whose type implements Appender, then only joins the
// encoded records.
type Written[T any] struct{ text jsontext.Value }

// Writer encodes records in advance.
type Writer[T any] struct {
	// Append appends a record's JSON exactly as the encoder would write it. Encoding
	// thousands of records by reflection would take four times as long.
	Append func(b []byte, record *T) ([]byte, error)

	text []byte
}

const (
	writerSize    = 64 << 10 // size of a Writer's buffers
	writerMinFree = 2 << 10  // a Writer starts a new buffer if the current one has less free space than this
)

// Write encodes a record.
func (w *Writer[T]) Write(record *T) (Written[T], error) {
	if cap(w.text)-len(w.text) < writerMinFree { // the written records still refer to the old buffer
		w.text = make([]byte, 0, writerSize)
	}
	text, err := w.Append(w.text, record)
	if err != nil {
		return Written[T]{}, fmt.Errorf("encode a record: %w", err)
	}
	written := text[len(w.text):len(text):len(text)]
	w.text = text
	return Written[T]{written}, nil
}

// Appender is a response that encodes itself exactly as the encoder would.
type Appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

// AppendArray appends an array of encoded records.
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

// WrittenAs returns a Written with the given JSON, which must be exactly as the encoder
// would write it.
func WrittenAs[T any](text []byte) Written[T] { return Written[T]{text} }

// Append appends the encoded record.
func (w Written[T]) Append(b []byte) []byte { return append(b, w.text...) }

// MarshalJSONTo writes the encoded record.
func (w Written[T]) MarshalJSONTo(enc *jsontext.Encoder) error { return enc.WriteValue(w.text) }

// Schema returns T's schema.
func (w Written[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}
