package mcp

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cardwall/internal/op"
)

// pageSize is the default maximum number of records that a tool returns.
const pageSize = 25

// tool is an operation together with its entry in the list of tools.
type tool struct {
	*op.Operation
	flexible
	listed *sdk.Tool
}

func newTool(r *op.Registry, o *op.Operation) (*tool, error) {
	t, filters := &tool{Operation: o, flexible: newFlexible(r, o)}, filtersOf(r, o)
	schema, err := t.schema(r, filters)
	if err != nil {
		return nil, fmt.Errorf("describe tool %s: %w", o.Name, err)
	}
	t.listed = &sdk.Tool{
		Name: o.Name, Title: titleOf(o.Name), Description: o.Description, InputSchema: schema, OutputSchema: resultSchema,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: o.ReadOnly, DestructiveHint: new(o.Destructive), OpenWorldHint: new(false),
			IdempotentHint: o.ReadOnly || o.Method != http.MethodPost,
		},
	}
	if o.ReadOnly {
		t.listed.Description += untrustedText
	}
	if o.Name == reading {
		t.listed.Description += " Includes the text of a file, or a picture."
	}
	if o.Streams() {
		t.listed.Description += " Returns a link to the document, which requires the same token, with the size and counts of the document."
	}
	if o.Starts() {
		t.listed.Description += " After 20 seconds, returns a job, whose progress and result get_job returns."
	}
	if filters != nil {
		t.listed.Description += " q can express more filters; see search_cards."
	}
	return t, nil
}

// titleOf returns the name of a tool in words.
func titleOf(name string) string {
	words := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// resultSchema is the schema of the structured content. It leaves out the fields, to save
// tokens; the OpenAPI document describes them. It does not require data, because some clients
// check errors against the schema as well.
var resultSchema = jsonObject{"type": "object"}

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
		isFilter := slices.Contains(filters, f.Name)
		if isFilter && !slices.Contains(listedFilters, f.Name) || slices.Contains(unlisted[t.Name], f.Name) {
			continue
		}
		plain, err := plainSchema(r, f.Schema)
		if err != nil {
			return nil, err
		}
		switch {
		case t.Paged && f.Name == "limit":
			delete(plain, "description") // the instructions explain pages
		case t.Paged && f.Name == "view":
			plain["description"] = "Returns records instead of a table."
		case t.Paged && f.Name == "cursor":
			plain = jsonObject{"type": "string"}
		case isFilter && t.Name != filtered:
			delete(plain, "description")
		case saysTheName(f):
			delete(plain, "description")
		case t.repeats(r, f):
			plain["items"] = jsonObject{"type": "object"} // the description says that the fields are the same
		}
		write(f.Name)
		write(plain)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	if t.hasTable() {
		write(columnsField)
		columns := jsonObject{"type": "string"}
		if t.Name == filtered {
			columns["description"] = "Columns of the table: " + strings.Join(columnNames, ",")
		}
		write(columns)
	}
	if t.Name == adding {
		write(textField)
		write(jsonObject{"type": "string", "description": "The content of a new text file; requires name."})
		write(base64Field)
		write(jsonObject{"type": "string", "description": "The content of any other new file."})
	}
	if slices.Contains(textTools, t.Name) {
		write(textFromField)
		write(jsonObject{"type": "integer"}) // results that need it explain it
	}
	if t.Keyed() {
		write(op.KeyField)
		write(jsonObject{"type": "string"}) // the instructions explain it
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

// repeats reports whether a field contains objects that have all other fields of the body.
func (t *tool) repeats(r *op.Registry, field op.Field) bool {
	if field.Schema.Items == nil || field.Schema.Items.Ref == "" {
		return false
	}
	inner, repeated := r.Schemas.SchemaFromRef(field.Schema.Items.Ref).Properties, 0
	for _, f := range t.Input.Fields {
		if f.In != op.InBody || f.Name == field.Name {
			continue
		}
		if inner[f.Name] == nil {
			return false
		}
		repeated++
	}
	return repeated > 0
}

// saysTheName reports whether the description of a field says no more than its name.
func saysTheName(f op.Field) bool {
	about := f.Schema.Description
	return about == "The id of the "+strings.TrimSuffix(f.Name, "Id")+"." || about == "The new "+f.Name+"." ||
		strings.HasPrefix(about, "The ") && strings.HasSuffix(about, "'s "+f.Name+".") && strings.Count(about, " ") == 2
}

// filtered is the only tool that describes the card filters; other tools refer to it.
// This keeps the list of tools short, because models read all of it.
const filtered = "list_cards"

// listedFilters are the card filters that tools list. Tools accept all others, too, but
// a model does as well with q.
var listedFilters = []string{
	"list", "label", "assignee", "done", "due", "dueFrom", "dueTo", "completedFrom", "updatedFrom", "q", "sort",
}

// unlisted contains the fields, by tool, that tools accept but do not list, to save tokens.
var unlisted = map[string][]string{
	"list_my_changes":      {"tokenId"}, // programs undo their own calls
	"undo_changes":         {"tokenId"},
	"list_comments":        {"sort"},
	"list_recent_activity": {"from", "until"},
	"list_board_activity":  {"type", "actor", "from", "until"},
	"list_board_changes":   {"type", "actor", "from", "until"},
}

// filtersOf returns the names of the card filters of an operation. It returns nil for
// operations with fewer than half of the filters of the tool filtered.
func filtersOf(r *op.Registry, o *op.Operation) []string {
	describes := r.Named(filtered)
	if describes == nil {
		return nil
	}
	var names []string
	for _, f := range o.Input.Fields {
		if slices.ContainsFunc(describes.Input.Fields, func(g op.Field) bool {
			return g.Name == f.Name && g.In == op.InQuery && g.Schema.Description == f.Schema.Description &&
				!slices.Contains([]string{"view", "limit", "cursor"}, g.Name)
		}) {
			names = append(names, f.Name)
		}
	}
	if len(names) < len(describes.Input.Fields)/2 {
		return nil
	}
	return names
}

// omittedKeywords are of little use to a model. Errors name the limits of a field.
var omittedKeywords = []string{
	"additionalProperties", "examples", "format", "maxItems", "maxLength", "minLength", "minimum", "x-scope",
}

// dateForm removes the form of dates, which the instructions explain.
var dateForm = strings.NewReplacer(", YYYY-MM-DD", "", " (YYYY-MM-DD)", "")

// plainSchema returns a schema as JSON with references resolved and without
// omittedKeywords, to save tokens.
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
	for _, name := range omittedKeywords {
		delete(plain, name)
	}
	switch about, _ := plain["description"].(string); {
	case strings.Contains(about, "HH:MM"), strings.HasSuffix(about, "Required with a time."):
		delete(plain, "description") // the instructions explain times
	case about != "":
		plain["description"] = dateForm.Replace(about)
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
	for name, property := range s.Properties {
		if plain["properties"].(map[string]any)[name], err = plainSchema(r, property); err != nil {
			return nil, err
		}
	}
	if s.Items != nil {
		items, err := plainSchema(r, s.Items)
		if err != nil {
			return nil, err
		}
		undescribe(items["properties"]) // the tools that create one of the objects describe them
		plain["items"] = items
	}
	for key, alternatives := range map[string][]*huma.Schema{"oneOf": s.OneOf, "anyOf": s.AnyOf, "allOf": s.AllOf} {
		if len(alternatives) == 0 {
			continue
		}
		var each []any
		var object jsonObject // the alternative that has the properties of all that are objects
		for i := range alternatives {
			alternative, err := plainSchema(r, alternatives[i])
			if err != nil {
				return nil, err
			}
			properties, _ := alternative["properties"].(jsonObject)
			undescribe(properties) // the instructions explain positions
			switch {
			case properties == nil:
			case object == nil:
				object = alternative
			default:
				maps.Copy(object["properties"].(jsonObject), properties)
				delete(object, "required") // the operation checks that there is one
				continue
			}
			each = append(each, alternative)
		}
		plain[key] = each
	}
	return plain, nil
}

// undescribe removes the descriptions of properties, and of those within them.
func undescribe(properties any) {
	all, _ := properties.(jsonObject)
	for _, property := range all {
		delete(property.(jsonObject), "description")
		undescribe(property.(jsonObject)["properties"])
	}
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
	fallback("view", "compact") // for tables
	return args, key, nil
}
