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

// idLength is how long an id may be; who takes ids from answers need not know.
const idLength = 64

// pageSize is how many records a list answers when nobody says.
const pageSize = 25

// tool is an operation as assistants see it.
type tool struct {
	*op.Operation
	listed *sdk.Tool
}

func newTool(r *op.Registry, o *op.Operation) (*tool, error) {
	t, filters := &tool{Operation: o}, filtersOf(r, o)
	schema, err := t.schema(r, filters)
	if err != nil {
		return nil, fmt.Errorf("describe the tool %s: %w", o.Name, err)
	}
	t.listed = &sdk.Tool{
		Name: o.Name, Description: o.Description, InputSchema: schema,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: o.ReadOnly, DestructiveHint: new(o.Destructive), OpenWorldHint: new(false),
			IdempotentHint: o.ReadOnly || o.Method != http.MethodPost,
		},
	}
	if o.Streams() {
		t.listed.Description += " Answers a link to the document, which the same token opens, and what it counts; not the document."
	}
	if filters != nil {
		t.listed.Description += " The filters are those of " + filtered + "."
	}
	return t, nil
}

// schema is the input as one flat object that refers to nothing outside of it.
func (t *tool) schema(r *op.Registry, filters []string) (jsontext.Value, error) {
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b)
	var failed error
	write := func(v any) {
		if err := json.MarshalEncode(e, v, json.Deterministic(true)); err != nil && failed == nil {
			failed = err
		}
	}
	token := func(tok jsontext.Token) {
		if err := e.WriteToken(tok); err != nil && failed == nil {
			failed = err
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
		case t.Pages && f.Name == "limit":
			plain["description"] = fmt.Sprintf("How many records to answer at most; %d when absent.", pageSize)
		case t.Pages && f.Name == "view":
			plain["description"] = "compact (the default) leaves the descriptions out."
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
	if !t.ReadOnly && !t.Unkeyed {
		write(op.KeyField)
		write(map[string]any{
			"type": "string", "maxLength": op.MaxKey,
			"description": "Your own text for this one change; reuse the key when you repeat the call, and it is made once.",
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
	return jsontext.Value(bytes.TrimSpace(b.Bytes())), failed
}

// filtered is the tool that describes the filters of cards for all that take
// them: they are many, and a model reads the whole list.
const filtered = "list_cards"

// filtersOf are the names of the fields that a tool shares with the one that
// describes the filters; none for that one, and for tools with fewer.
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

// plainSchema is a schema as JSON, with what it refers to in its place, and
// without what costs a model more than it tells.
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
		to := r.Schemas.Map()[name]
		if to == nil {
			return nil, fmt.Errorf("there is no schema %s", name)
		}
		target, err := plainSchema(r, to)
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
	// Some models' dialects know one type a schema.
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
	for key, of := range map[string][]*huma.Schema{"oneOf": s.OneOf, "anyOf": s.AnyOf, "allOf": s.AllOf} {
		if len(of) == 0 {
			continue
		}
		each := make([]any, len(of))
		for i := range of {
			if each[i], err = plainSchema(r, of[i]); err != nil {
				return nil, err
			}
		}
		plain[key] = each
	}
	return plain, nil
}

// arguments spreads the input of a call, with the habits of this door.
func (t *tool) arguments(object []byte) (op.Arguments, string, error) {
	args, key, err := t.Spread(object)
	if err != nil || !t.Pages {
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
