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

// maxResult is the maximum size of a tool's result in bytes of JSON. A model reads
// the whole result, which fills its context window.
const maxResult = 60_000

// overhead is the size of a result without text and structured content.
const overhead = 600

// size returns the size of an outcome as JSON.
func (o outcome) size() int {
	if n := len(o.body); n*13 < maxResult { // the body is sent twice, and a byte grows to at most six
		return n
	}
	return len(appendText(nil, o.text)) + len(appendEscaped(nil, o.body)) + overhead
}

// fit reduces an outcome to maxResult. It says what it left out and how to ask for
// less. It requests a page again with a smaller limit; the cursor continues after
// the last record.
func (e *Endpoint) fit(ctx context.Context, t *tool, call op.Call, out outcome) (outcome, error) {
	size := out.size()
	if size <= maxResult {
		return out, nil
	}
	var result map[string]any
	if err := json.Unmarshal(out.body, &result); err != nil {
		return out, fmt.Errorf("decode the response of %s: %w", t.Name, err)
	}
	records, _ := result["data"].([]any)
	for t.Pages && len(records) > 1 && size > maxResult {
		limit := max(1, min(len(records)-1, len(records)*maxResult/size*9/10))
		call.Arguments.Query.Set("limit", strconv.Itoa(limit))
		fewer, err := e.Engine.Do(ctx, call)
		if err != nil {
			return out, err
		}
		result = nil
		if err := json.Unmarshal(visible(fewer.Body), &result); err != nil {
			return out, fmt.Errorf("decode the response of %s: %w", t.Name, err)
		}
		records, _ = result["data"].([]any)
		result["shortened"] = fmt.Sprintf("%d records, to keep the result below 60 kB. "+
			"Next: continue with nextCursor as cursor, or ask for less: %s.", len(records), t.narrower())
		if out, err = encoded(result); err != nil {
			return out, err
		}
		size = out.size()
	}
	if size <= maxResult {
		return out, nil
	}
	fits := func(o outcome) bool { return o.size() <= maxResult }
	return shorten(result, fits, func(omitted []string) string { return t.shortened(omitted, e.linkTo(call)) })
}

// shorten truncates the texts and arrays of a result until it fits. The field
// shortened says which ones, in the words of explain.
func shorten(
	result map[string]any, fits func(outcome) bool, explain func(omitted []string) string,
) (out outcome, err error) {
	for _, limit := range []cut{{4000, 200}, {2000, 100}, {1000, 50}, {500, 25}, {200, 10}, {100, 5}} {
		var omitted []string
		short := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(result)) {
			short[name] = limit.value(name, result[name], &omitted)
		}
		short["shortened"] = explain(omitted)
		if out, err = encoded(short); err != nil || fits(out) {
			return out, err
		}
	}
	return out, nil
}

func encoded(v any) (outcome, error) {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return outcome{}, fmt.Errorf("encode the shortened result: %w", err)
	}
	return record(body), nil
}

// narrower names the fields of a tool that make its result smaller.
func (t *tool) narrower() string {
	var ways []string
	for _, f := range t.Input.Fields {
		switch f.Name {
		case "limit":
			ways = append(ways, "a smaller limit")
		case "view":
			ways = append(ways, "view compact")
		case "from":
			ways = append(ways, "fewer days from–to")
		case "q":
			ways = append(ways, "a narrower q")
		case "list", "since":
			ways = append(ways, "the filter "+f.Name)
		}
	}
	if ways == nil {
		return "use the tools that list its parts"
	}
	return strings.Join(ways, ", ")
}

// omittedText says what was left out.
func omittedText(omitted []string) string {
	const named = 8
	if len(omitted) > named {
		omitted = append(omitted[:named:named], fmt.Sprintf("and %d more", len(omitted)-named))
	}
	return "Shortened to stay below 60 kB: " + strings.Join(omitted, "; ") + "."
}

// shortened says what was left out and how to get it.
func (t *tool) shortened(omitted []string, link string) string {
	text := omittedText(omitted) + " Next: ask for less (" + t.narrower() + ")"
	if t.ReadOnly {
		text += ", or fetch the complete result with the same token from " + link
	}
	return text + "."
}

// linkTo returns the address of the same call in the REST API.
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

// cut limits texts (in characters) and arrays (in elements).
type cut struct{ text, array int }

func (c cut) value(path string, v any, omitted *[]string) any {
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
			out[i] = c.value(path+"."+strconv.Itoa(i), v[i], omitted)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = c.value(path+"."+name, v[name], omitted)
		}
		return out
	}
	return v
}
