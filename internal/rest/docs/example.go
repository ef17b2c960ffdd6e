package docs

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// member is a name and a value of an example object. Example objects are slices of
// members, because a Go map would lose the order of the tables.
type member struct {
	key   string
	value any
}

type members []member

// MarshalJSON writes the members in order.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, entry := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(entry.key))
		b.WriteByte(':')
		b.Write(encode(entry.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode encodes v like json.Marshal, but does not escape <, > and &, because the
// template escapes them.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null") // cannot happen, because v consists of JSON values
	}
	return bytes.TrimSpace(b.Bytes())
}

// pretty formats an example as indented JSON.
func pretty(v any) string {
	var b bytes.Buffer
	if err := json.Indent(&b, encode(v), "", "  "); err != nil {
		return string(encode(v))
	}
	return b.String()
}

// given returns the document's own example for a media type or parameter, from its
// example or examples keyword.
func given(single json.RawMessage, named map[string]*example) (json.RawMessage, bool) {
	if single != nil {
		return single, true
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if named[name] != nil && named[name].Value != nil {
			return named[name].Value, true
		}
	}
	return nil, false
}

// sample returns an example value for a schema: the schema's own example if it has
// one, and otherwise a value composed of the examples of its parts. If required is
// true, objects have only their required properties. It returns false if the schema
// is nested in itself or too deeply.
func (d *document) sample(s *schema, path []string, required bool) (v any, ok bool) {
	shape, name := d.shape(s)
	switch {
	case shape.Example != nil:
		return shape.Example, true
	case len(shape.Examples) > 0:
		return shape.Examples[0], true
	case shape.Const != nil:
		return shape.Const, true
	case slices.Contains(path, name) && name != "" || len(path) > endOfDepth:
		return nil, false
	}
	path = append(slices.Clone(path), name)
	switch {
	case len(shape.Properties) > 0:
		return d.sampleObject(shape, path, required), true
	case len(shape.OneOf)+len(shape.AnyOf) > 0:
		for _, alternative := range slices.Concat(shape.OneOf, shape.AnyOf) {
			if v, ok := d.sample(alternative, path, required); ok {
				return v, true
			}
		}
		return nil, false
	case shape.Items != nil:
		if v, ok := d.sample(shape.Items, path, required); ok {
			return []any{v}, true
		}
		return []any{}, true
	case shape.Default != nil:
		return shape.Default, true
	case len(shape.Enum) > 0:
		return shape.Enum[0], true
	}
	return d.sampleScalar(shape, path, required), true
}

func (d *document) sampleObject(shape *schema, path []string, required bool) members {
	out := members{}
	for _, prop := range order(shape) {
		if required && !slices.Contains(shape.Required, prop) {
			continue
		}
		if v, ok := d.sample(shape.Properties[prop], path, required); ok {
			out = append(out, member{prop, v})
		}
	}
	return out
}

func (d *document) sampleScalar(shape *schema, path []string, required bool) any {
	for _, t := range shape.Type {
		switch t {
		case "boolean":
			return true
		case "integer", "number":
			if shape.Minimum != nil {
				return *shape.Minimum
			}
			return 1
		case "array":
			return []any{}
		case "object":
			if additional := shape.AdditionalProperties; additional != nil && !additional.closed {
				if v, ok := d.sample(additional, path, required); ok {
					return members{{"key", v}}
				}
			}
			return members{}
		case "string":
			if text, ok := formats[shape.Format]; ok {
				return text
			}
			return "text"
		}
	}
	return nil
}

var formats = map[string]string{
	"date-time": "2026-03-14T09:30:00.000Z",
	"date":      "2026-03-14",
	"time":      "09:30",
	"email":     "ada@example.com",
	"uri":       "https://example.com/",
	"url":       "https://example.com/",
	"uuid":      "0195a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b",
}

// sampleParameter returns an example value of a parameter as text. For a string without an
// example, it returns a placeholder that the reader must replace.
func (d *document) sampleParameter(p *parameter) string {
	if raw, ok := given(p.Example, p.Examples); ok {
		return compact(raw)
	}
	shape, _ := d.shape(p.Schema)
	if shape.Example == nil && len(shape.Examples) == 0 && shape.Default == nil && len(shape.Enum) == 0 &&
		shape.Const == nil &&
		formats[shape.Format] == "" && (len(shape.Type) == 0 || shape.Type.has("string")) {
		return placeholder(p.Name)
	}
	v, _ := d.sample(p.Schema, nil, true)
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	return compact(encode(v))
}

// placeholder converts a name such as boardId to BOARD_ID.
func placeholder(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r >= 'A' && r <= 'Z' && i > 0:
			b.WriteByte('_')
			b.WriteRune(r)
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	return strings.ToUpper(b.String())
}

// tokenHeader is the argument of curl that sends the token.
const tokenHeader = `-H "Authorization: Bearer $CARDWALL_TOKEN"`

// curl returns a curl command for an operation, with the required parameters, the
// body, and the token unless the operation is public.
func (d *document) curl(op *operation, address string, params []*parameter, public bool) string {
	var query []string
	lines := []string{"curl"}
	var headers []string
	for _, p := range params {
		value := d.sampleParameter(p)
		switch {
		case p.In == "path":
			address = strings.ReplaceAll(address, "{"+p.Name+"}", url.PathEscape(value))
		case p.In == "query" && p.Required:
			query = append(query, url.QueryEscape(p.Name)+"="+url.QueryEscape(value))
		case p.In == "header" && p.Required:
			headers = append(headers, "-H "+quote(p.Name+": "+value))
		}
	}
	if len(query) > 0 {
		address += "?" + strings.Join(query, "&")
	}
	if op.method != "GET" {
		lines[0] += " -X " + op.method
	}
	lines[0] += " " + quote(address)
	if !public {
		lines = append(lines, tokenHeader)
	}
	lines = append(lines, headers...)
	switch kind, media := d.body(op); {
	case kind == "application/json":
		lines = append(lines, "-H "+quote("Content-Type: "+kind), "-d "+quote(d.sampleBody(media)))
	case kind == "image/*":
		lines = append(lines, "-H 'Content-Type: image/png'", "--data-binary @picture.png")
	case media != nil:
		lines = append(lines, "-H "+quote("Content-Type: "+kind), "--data-binary @part.bin")
	}
	if r := d.response(op.Responses["200"]); r != nil && r.Content["*/*"] != nil {
		lines = append(lines, "-o file")
	}
	return strings.Join(lines, " \\\n  ")
}

// sampleBody returns the document's example of a body. If there is none, it composes a
// body of the required fields. If no field is required, the body contains the first
// field, so that the request has an effect.
func (d *document) sampleBody(media *mediaType) string {
	if raw, ok := given(media.Example, media.Examples); ok {
		return brief(raw)
	}
	shape, name := d.shape(media.Schema)
	if len(shape.Properties) == 0 || shape.Example != nil || len(shape.Examples) > 0 {
		v, _ := d.sample(media.Schema, nil, true)
		return brief(v)
	}
	out := d.sampleObject(shape, []string{name}, true)
	if len(out) == 0 {
		for _, prop := range order(shape) {
			if v, ok := d.sample(shape.Properties[prop], []string{name}, true); ok {
				return brief(members{{prop, v}})
			}
		}
	}
	return brief(out)
}

// brief formats short JSON on one line and longer JSON indented.
func brief(v any) string {
	if line := encode(v); len(line) <= 56 {
		return string(line)
	}
	return pretty(v)
}

// quote quotes the text as one word for a POSIX shell.
func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
