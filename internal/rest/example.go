package rest

import (
	_ "embed" // examples.json
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// examplesText holds one recorded call of each operation. TestGoldenExamples in
// internal/app generates it from sample inputs.
//
//go:embed examples.json
var examplesText []byte

// example is one call: the request body, if any, and the response.
type example struct {
	Request  jsontext.Value `json:"request,omitempty"`
	Response jsontext.Value `json:"response"`
}

// examples returns the embedded calls by operation name.
func examples() map[string]example {
	all := map[string]example{}
	if err := json.Unmarshal(examplesText, &all); err != nil {
		panic(fmt.Sprintf("rest: examples.json: %v; run make golden", err)) // the embedded file is invalid
	}
	return all
}

// addTo adds the example's request and response, if it has them, to an operation's
// entry.
func (e example) addTo(entry *huma.Operation) {
	const kind = "application/json"
	if e.Request != nil && entry.RequestBody != nil {
		entry.RequestBody.Content[kind].Example = e.Request
	}
	if e.Response == nil {
		return
	}
	for _, status := range slices.Sorted(maps.Keys(entry.Responses)) {
		if status < "300" && status != strconv.Itoa(jobStarted) {
			for _, media := range entry.Responses[status].Content {
				media.Example = e.Response
			}
		}
	}
}
