package mcp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

// maxResult is the maximum size of a result in bytes of JSON, and maxCopy that of a result
// without a second copy of its data. They are limited because the data occupies the context
// window of a model: half of maxResult, and maxCopy, are at most about 20,000 tokens. Common
// clients cut off results of 25,000 tokens.
const (
	maxResult = 60_000
	maxCopy   = 40_000
)

// overhead is an upper bound, in bytes, for the size of a result without its text and
// its structured content.
const overhead = 600

// excess returns the size of a successful outcome as JSON, divided by the maximum size. For an
// outcome that is certainly small enough, it returns 0.
func (o outcome) excess(stateless bool) float64 {
	switch {
	case len(o.body)*13 < maxCopy: // the body is sent up to twice, and escaping makes it at most six times as long
		return 0
	case o.hasText(stateless):
		return float64(len(appendText(nil, o.text))+len(appendEscaped(nil, o.body))+overhead) / maxResult
	}
	return float64(len(appendEscaped(nil, o.body))+overhead) / maxCopy
}

// limitSize reduces an outcome to the maximum size. A page is read again with a smaller
// limit, so that its cursor continues after the last remaining record. Other results
// are shortened. The shortened field lists the omitted parts and says how to get them.
func (e *Endpoint) limitSize(ctx context.Context, t *tool, call op.Call, v view, out outcome) (outcome, error) {
	stateless := requestOf(ctx).stateless
	excess := out.excess(stateless)
	if excess <= 1 {
		return out, nil
	}
	var result map[string]any
	if err := json.Unmarshal(out.body, &result); err != nil {
		return out, fmt.Errorf("decode the response of %s: %w", t.Name, err)
	}
	records := recordsIn(result)
	for t.Paged && len(records) > 1 && excess > 1 {
		limit := max(1, min(len(records)-1, int(float64(len(records))/excess*0.9)))
		call.Arguments.Query.Set("limit", strconv.Itoa(limit))
		fewer, err := e.Engine.Do(ctx, call)
		if err != nil {
			return out, err
		}
		body, err := e.render(ctx, v, fewer.Body)
		if err != nil {
			return out, err
		}
		result = nil
		if err := json.Unmarshal(body, &result); err != nil {
			return out, fmt.Errorf("decode the response of %s: %w", t.Name, err)
		}
		records = recordsIn(result)
		result["shortened"] = fmt.Sprintf("Shortened to %d records to stay below the maximum size. "+
			"Next: continue with nextCursor as cursor, or ask for less: %s.", len(records), t.narrowerInput())
		if out, err = encodeOutcome(result); err != nil {
			return out, err
		}
		excess = out.excess(stateless)
	}
	if excess <= 1 {
		return out, nil
	}
	fits := func(o outcome) bool { return o.excess(stateless) <= 1 }
	return shorten(result, fits, func(omitted []string, textLimit int) string {
		return t.shortenedText(omitted, v.textFrom+textLimit, e.linkTo(call))
	})
}

// recordsIn returns the records or the rows of a page.
func recordsIn(result map[string]any) []any {
	data := result["data"]
	if table, ok := data.(map[string]any); ok {
		data = table["rows"]
	}
	records, _ := data.([]any)
	return records
}

// shorten truncates the strings and arrays of a result with ever smaller limits, until
// fits returns true or the smallest limits have been applied. It sets the shortened
// field to the text that explain returns for the omitted parts.
func shorten(
	result map[string]any, fits func(outcome) bool, explain func(omitted []string, textLimit int) string,
) (out outcome, err error) {
	for _, limit := range lengthSteps {
		var omitted []string
		short := limit.truncateFields("", result, &omitted)
		short["shortened"] = explain(omitted, limit.text)
		if out, err = encodeOutcome(short); err != nil || fits(out) {
			return out, err
		}
	}
	return out, nil
}

func encodeOutcome(v any) (outcome, error) {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return outcome{}, fmt.Errorf("encode the shortened result: %w", err)
	}
	return success(body), nil
}

// narrowerInput describes the inputs of a tool that make its result smaller.
func (t *tool) narrowerInput() string {
	var options []string
	for _, f := range t.Input.Fields {
		switch f.Name {
		case "limit":
			options = append(options, "a smaller limit")
		case "view":
			options = append(options, "no view, or fewer fields")
		case "from":
			options = append(options, "fewer days between from and to")
		case "q":
			options = append(options, "a narrower q")
		case "list", "since":
			options = append(options, "the "+f.Name+" filter")
		}
	}
	if options == nil {
		return "use the tools that return its parts"
	}
	return strings.Join(options, ", ")
}

// omittedText describes the omitted parts of a result.
func omittedText(omitted []string) string {
	const named = 8
	if len(omitted) > named {
		omitted = append(omitted[:named:named], fmt.Sprintf("and %d more", len(omitted)-named))
	}
	return "Shortened to stay below the maximum size: " + strings.Join(omitted, "; ") + "."
}

// shortenedText describes the omitted parts of a tool's result and how to get them. Texts end
// before the character textEnd.
func (t *tool) shortenedText(omitted []string, textEnd int, link string) string {
	text := omittedText(omitted) + " Next: ask for less (" + t.narrowerInput() + ")"
	if slices.Contains(textTools, t.Name) {
		text += fmt.Sprintf(", read on with %s %d", textFromField, textEnd)
	}
	if t.ReadOnly {
		text += ", or fetch the complete result with the same token from " + link
	}
	return text + "."
}

// linkTo returns the URL of the same call in the REST API.
func (e *Endpoint) linkTo(call op.Call) string {
	path := call.Operation.Path
	for _, f := range call.Operation.Input.Fields {
		if f.In == op.InPath {
			path = strings.ReplaceAll(path, "{"+f.Name+"}", call.Arguments.Path(f.Name))
		}
	}
	if len(call.Arguments.Query) > 0 {
		path += "?" + call.Arguments.Query.Encode()
	}
	return e.BaseURL + board.APIPath + path
}

// lengthLimits limits the length of strings (in characters) and arrays (in elements).
type lengthLimits struct{ text, array int }

// textStep divides the lengths at which texts are cut.
const textStep = 100

// lengthSteps are the limits that shorten tries. Those of texts are multiples of textStep.
var lengthSteps = []lengthLimits{{8000, 400}, {4000, 200}, {2000, 100}, {1000, 50}, {500, 25}, {200, 10}, {textStep, 5}}

func (c lengthLimits) truncate(path string, v any, omitted *[]string) any {
	switch v := v.(type) {
	case string:
		n := utf8.RuneCountInString(v)
		if n <= c.text {
			return v
		}
		*omitted = append(*omitted, fmt.Sprintf("%s has %d of %d characters", path, c.text, n))
		return string([]rune(v)[:c.text]) + "…"
	case []any:
		if len(v) > c.array {
			*omitted = append(*omitted, fmt.Sprintf("%s has %d of %d", path, c.array, len(v)))
			v = v[:c.array]
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = c.truncate(path+"."+strconv.Itoa(i), v[i], omitted)
		}
		return out
	case map[string]any:
		return c.truncateFields(path+".", v, omitted)
	}
	return v
}

// truncateFields truncates the fields of an object. The part of a string has another name.
func (c lengthLimits) truncateFields(prefix string, object map[string]any, omitted *[]string) map[string]any {
	out := make(map[string]any, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		short := c.truncate(prefix+name, object[name], omitted)
		if text, ok := short.(string); ok && text != object[name] {
			name, short = partName(name), strings.TrimSuffix(text, "…")
		}
		out[name] = short
	}
	return out
}
