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

// maxResult is how long the result of a tool may be as JSON, in bytes: a model
// reads all of it, and pays for it with its memory.
const maxResult = 60_000

// frame is what stands around text and structured content.
const frame = 600

// size is what an outcome takes as JSON.
func (o outcome) size() int {
	if n := len(o.body); n*13 < maxResult { // it is there twice, and no byte becomes more than six
		return n
	}
	return len(appendText(nil, o.text)) + len(appendEscaped(nil, o.body)) + frame
}

// fit keeps an outcome below maxResult, and says what it left out and how to ask
// for less. A page has fewer records then, and goes on behind them.
func (e *Endpoint) fit(ctx context.Context, t *tool, call op.Call, out outcome) (outcome, error) {
	size := out.size()
	if size <= maxResult {
		return out, nil
	}
	var answer map[string]any
	if err := json.Unmarshal(out.body, &answer); err != nil {
		return out, fmt.Errorf("read the answer of %s: %w", t.Name, err)
	}
	records, _ := answer["data"].([]any)
	for t.Pages && len(records) > 1 && size > maxResult {
		limit := max(1, min(len(records)-1, len(records)*maxResult/size*9/10))
		call.Arguments.Query.Set("limit", strconv.Itoa(limit))
		fewer, err := e.Engine.Do(ctx, call)
		if err != nil {
			return out, err
		}
		answer = nil
		if err := json.Unmarshal(visible(fewer.Body), &answer); err != nil {
			return out, fmt.Errorf("read the answer of %s: %w", t.Name, err)
		}
		records, _ = answer["data"].([]any)
		answer["shortened"] = fmt.Sprintf("%d records, so that the answer stays below 60 kB. Next: go on with nextCursor as cursor, or ask for less: %s.", len(records), t.narrower())
		if out, err = encoded(answer); err != nil {
			return out, err
		}
		size = out.size()
	}
	if size <= maxResult {
		return out, nil
	}
	return shorten(answer, func(o outcome) bool { return o.size() <= maxResult }, func(gone []string) string { return t.shortened(gone, e.linkTo(call)) })
}

// shorten cuts texts and arrays of an answer until it fits, and says of what in
// its field shortened.
func shorten(answer map[string]any, fits func(outcome) bool, say func(gone []string) string) (out outcome, err error) {
	for _, most := range []cut{{4000, 200}, {2000, 100}, {1000, 50}, {500, 25}, {200, 10}, {100, 5}} {
		var gone []string
		short := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(answer)) {
			short[name] = most.value(name, answer[name], &gone)
		}
		short["shortened"] = say(gone)
		if out, err = encoded(short); err != nil || fits(out) {
			return out, err
		}
	}
	return out, nil
}

func encoded(v any) (outcome, error) {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return outcome{}, fmt.Errorf("encode a shortened answer: %w", err)
	}
	return record(body), nil
}

// narrower names the fields of a tool that make its answer smaller.
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
		return "the tools that list its parts"
	}
	return strings.Join(ways, ", ")
}

// leftOut says what is not there.
func leftOut(gone []string) string {
	const named = 8
	if len(gone) > named {
		gone = append(gone[:named:named], fmt.Sprintf("and %d more", len(gone)-named))
	}
	return "To stay below 60 kB: " + strings.Join(gone, "; ") + "."
}

// shortened says what was left out and where it is.
func (t *tool) shortened(gone []string, link string) string {
	text := leftOut(gone) + " Next: ask for less (" + t.narrower() + ")"
	if t.ReadOnly {
		text += ", or read the whole with the same token at " + link
	}
	return text + "."
}

// linkTo is where REST answers the same call.
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

// cut is how much of texts (in characters) and arrays is left.
type cut struct{ text, array int }

func (c cut) value(path string, v any, gone *[]string) any {
	switch v := v.(type) {
	case string:
		n := utf8.RuneCountInString(v)
		if n <= c.text {
			return v
		}
		*gone = append(*gone, fmt.Sprintf("%s has %d of %d characters", path, c.text, n))
		return string([]rune(v)[:c.text]) + "…"
	case []any:
		if len(v) > c.array {
			*gone = append(*gone, fmt.Sprintf("%s has %d of %d", path, c.array, len(v)))
			v = v[:c.array]
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = c.value(path+"."+strconv.Itoa(i), v[i], gone)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = c.value(path+"."+name, v[name], gone)
		}
		return out
	}
	return v
}
