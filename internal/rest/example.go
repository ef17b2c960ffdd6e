package rest

import (
	_ "embed" // examples.json
	"fmt"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// examplesText holds one call of each operation as it was really answered.
// TestGoldenExamples of internal/app makes it from the sample inputs there.
//
//go:embed examples.json
var examplesText []byte

// example is one call: the body that was sent, if any, and the answer.
type example struct {
	Request  jsontext.Value `json:"request,omitempty"`
	Response jsontext.Value `json:"response"`
}

// examples reads the embedded calls by the name of their operation.
func examples() map[string]example {
	all := map[string]example{}
	if err := json.Unmarshal(examplesText, &all); err != nil {
		panic(fmt.Sprintf("rest: examples.json: %v; run make golden", err)) // a mistake in the program
	}
	return all
}

// show puts an example into an operation's entry. An operation without one is
// shown without; a body that the call had none of stays as it is.
func (e example) show(entry *huma.Operation) {
	const kind = "application/json"
	if e.Request != nil && entry.RequestBody != nil {
		entry.RequestBody.Content[kind].Example = e.Request
	}
	if e.Response == nil {
		return
	}
	for _, status := range slices.Sorted(maps.Keys(entry.Responses)) {
		if status < "300" {
			for _, media := range entry.Responses[status].Content {
				media.Example = e.Response
			}
		}
	}
}
