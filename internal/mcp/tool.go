package mcp

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/op"
)

// idLength is the maximum length of an id. The schemas omit it, because assistants
// copy ids from results.
const idLength = 64

// pageSize is the default maximum number of records that a tool returns.
const pageSize = 25

// tool is an operation together with its entry in the list of tools.
type tool struct {
	*op.Operation
	listed *sdk.Tool
}

func newTool(r *op.Registry, o *op.Operation) (*tool, error) {
	t, filters := &tool{Operation: o}, filtersOf(r, o)
	schema, err := t.schema(r, filters)
	if err != nil {
		return nil, fmt.Errorf("describe tool %s: %w", o.Name, err)
	}
	t.listed = &sdk.Tool{
		Name: o.Name, Description: o.Description, InputSchema: schema,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: o.ReadOnly, DestructiveHint: new(o.Destructive), OpenWorldHint: new(false),
			IdempotentHint: o.ReadOnly || o.Method != http.MethodPost,
		},
	}
	if o.Streams() {
		t.listed.Description += " Returns a link to the document, which requires the same token, with the size and counts of the document."
	}
	if o.Starts() {
		t.listed.Description += " If that takes longer than 20 seconds, returns a job. get_job returns its progress and result."
	}
	if filters != nil {
		t.listed.Description += " The filters are the same as in " + filtered + "."
	}
	return t, nil
}

// schema returns the schema of the input. It is one object without references.
func (t *tool) schema(r *op.Registry, filters []string) (jsontext.Value, error) {
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b)
	var firstErr error
	write := func(v any) {
		if err := json.MarshalEncode(e, v, json.Deterministic(true)); err != nil && firstErr == nil {
			firstErr = err
		}
	}
	token := func(tok jsontext.Token) {
		if err := e.WriteToken(tok); err != nil && firstErr == nil {
			firstErr = err
		}
	}
	required := []string{}
	token(jsontext.BeginObject)
	write("type")
	write("object")
	write("properties")
	token(jsontext.BeginObject)
	for _, f := range t.Input.Fields {
		plain, err := plainSchema(r, f.Schema)
		if err != nil {
			return nil, err
		}
		switch {
		case t.Paged && f.Name == "limit":
			plain["description"] = fmt.Sprintf("Maximum number of records. Defaults to %d.", pageSize)
		case t.Paged && f.Name == "view":
			plain["description"] = "compact (the default) omits descriptions."
		}
		if slices.Contains(filters, f.Name) && f.Name != "limit" && f.Name != "cursor" && f.Name != "view" {
			delete(plain, "description")
		}
		write(f.Name)
		write(plain)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	if t.Keyed() {
		write(op.KeyField)
		write(map[string]any{
			"type": "string", "maxLength": op.MaxKey,
			"description": "A unique string of your choice for this change. Reuse it if you repeat the call, so that the change is made only once.",
		})
	}
	token(jsontext.EndObject)
	if len(required) > 0 {
		write("required")
		write(required)
	}
	write("additionalProperties")
	write(false)
	token(jsontext.EndObject)
	return jsontext.Value(bytes.TrimSpace(b.Bytes())), firstErr
}

// filtered is the only tool that describes the card filters; other tools refer to it.
// This keeps the list of tools short, because models read all of it.
const filtered = "list_cards"

// filtersOf returns the names of the fields that an operation shares with filtered. It
// returns nil for filtered itself, and for operations that share fewer than half of
// its fields.
func filtersOf(r *op.Registry, o *op.Operation) []string {
	describes := r.Named(filtered)
	if describes == nil || o == describes {
		return nil
	}
	var names []string
	for _, f := range o.Input.Fields {
		if slices.ContainsFunc(describes.Input.Fields, func(g op.Field) bool {
			return g.Name == f.Name && g.In == op.InQuery && g.Schema.Description == f.Schema.Description
		}) {
			names = append(names, f.Name)
		}
	}
	if len(names) < len(describes.Input.Fields)/2 {
		return nil
	}
	return names
}

// plainSchema returns a schema as JSON with references resolved. It omits keywords
// that are of little use to a model, to save tokens.
func plainSchema(r *op.Registry, s *huma.Schema) (map[string]any, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var plain map[string]any
	if err := json.Unmarshal(text, &plain); err != nil {
		return nil, err
	}
	if name, ok := strings.CutPrefix(fmt.Sprint(plain["$ref"]), op.SchemaPrefix); ok {
		referenced := r.Schemas.Map()[name]
		if referenced == nil {
			return nil, fmt.Errorf("unknown schema %s", name)
		}
		target, err := plainSchema(r, referenced)
		if err != nil {
			return nil, err
		}
		if about, ok := plain["description"]; ok {
			target["description"] = about
		}
		return target, nil
	}
	for _, name := range []string{"examples", "format", "x-scope"} {
		delete(plain, name)
	}
	// Split lists of types, because some models support only one type per schema.
	if types, several := plain["type"].([]any); several {
		delete(plain, "type")
		each := make([]any, len(types))
		for i, name := range types {
			each[i] = map[string]any{"type": name}
		}
		plain["anyOf"] = each
	}
	if plain["maxLength"] == float64(idLength) {
		delete(plain, "maxLength")
	}
	for name, property := range s.Properties {
		if plain["properties"].(map[string]any)[name], err = plainSchema(r, property); err != nil {
			return nil, err
		}
	}
	if s.Items != nil {
		if plain["items"], err = plainSchema(r, s.Items); err != nil {
			return nil, err
		}
	}
	for key, alternatives := range map[string][]*huma.Schema{"oneOf": s.OneOf, "anyOf": s.AnyOf, "allOf": s.AllOf} {
		if len(alternatives) == 0 {
			continue
		}
		each := make([]any, len(alternatives))
		for i := range alternatives {
			if each[i], err = plainSchema(r, alternatives[i]); err != nil {
				return nil, err
			}
		}
		plain[key] = each
	}
	return plain, nil
}

// arguments parses the input of a call and adds the defaults of tools. It also returns
// the idempotency key.
func (t *tool) arguments(object []byte) (op.Arguments, string, error) {
	args, key, err := t.Spread(object)
	if err != nil || !t.Paged {
		return args, key, err
	}
	fallback := func(name, value string) {
		if args.Query.Has(name) || !slices.ContainsFunc(t.Input.Fields, func(f op.Field) bool { return f.Name == name }) {
			return
		}
		if args.Query == nil {
			args.Query = map[string][]string{}
		}
		args.Query.Set(name, value)
	}
	fallback("limit", fmt.Sprint(pageSize))
	fallback("view", "compact")
	return args, key, nil
}
