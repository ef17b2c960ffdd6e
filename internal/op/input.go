package op

import (
	"encoding"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// Location is the part of a request that contains a field.
type Location string

// The parts of a request that contain fields. A field is in the path if the path of
// the operation contains its name. All other fields are in the query for GET and
// DELETE, and in the body for other methods.
const (
	InPath  Location = "path"
	InQuery Location = "query"
	InBody  Location = "body"
)

// Field is one field of an input.
type Field struct {
	Name     string
	In       Location
	Required bool
	Schema   *huma.Schema
	index    []int
}

// Input describes the input of an operation: one flat object, whose fields are in
// the path, the query or the body of a request.
type Input struct {
	Fields []Field
	Body   *huma.Schema // schema of the fields in the body; nil if there are none
	Flat   *huma.Schema // schema of all fields, for interfaces that take one object
	typ    reflect.Type
	name   string
	schema huma.Registry
	scoped []scopedField
}

// Arguments holds the unparsed fields of one request.
type Arguments struct {
	Path  func(name string) string
	Query url.Values
	Body  []byte
}

func newInput(r *Registry, t reflect.Type, o *Operation) *Input {
	in := &Input{typ: t, name: o.Name, schema: r.Schemas, scoped: scopedFields(t)}
	var (
		body, flat []reflect.StructField
		paths      []string
	)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		field := Field{Name: jsonName(f), In: InBody, index: f.Index}
		switch {
		case strings.Contains(o.Path, "{"+field.Name+"}"):
			field.In = InPath
			paths = append(paths, field.Name)
		case o.Method == "GET" || o.Method == "DELETE":
			field.In = InQuery
		}
		plain := reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag}
		flat = append(flat, plain)
		if field.In == InBody {
			body = append(body, plain)
		}
		in.Fields = append(in.Fields, field)
	}
	in.Flat = huma.SchemaFromType(r.Schemas, reflect.StructOf(flat))
	refuseEmpty(in.Flat, paths)
	listKinds(in.Flat, t)
	if len(body) > 0 {
		in.Body = huma.SchemaFromType(r.Schemas, reflect.StructOf(body))
		refuseEmpty(in.Body, nil)
		listKinds(in.Body, t)
	}
	in.describeScopes()
	for i := range in.Fields {
		f := &in.Fields[i]
		f.Schema = in.Flat.Properties[f.Name]
		f.Required = f.In == InPath || slices.Contains(in.Flat.Required, f.Name)
	}
	for _, part := range strings.Split(o.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok && in.Flat.Properties[strings.TrimSuffix(name, "}")] == nil {
			panic("op: " + o.Name + ": the path has a field that the input does not have: " + part)
		}
	}
	return in
}

// boardRecords lists the id prefixes of boards and of their lists, cards, labels, checklists,
// checklist items, comments and attachments.
var boardRecords = []string{"brd_", "lst_", "crd_", "lbl_", "chk_", "chi_", "cmt_", "att_"}

// records returns the ids in an input that have a prefix in boardRecords. The engine passes them
// to store.DB.WriteTo. records returns nil for an input that was not decoded.
func (in *Input) records(value any) (ids []string) {
	v := reflect.ValueOf(value)
	if !v.IsValid() {
		return nil
	}
	for _, f := range in.Fields {
		field := v.Elem().FieldByIndex(f.index)
		if field.Kind() != reflect.String {
			continue
		}
		id := field.String()
		if slices.ContainsFunc(boardRecords, func(prefix string) bool { return strings.HasPrefix(id, prefix) }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// firstInPath returns the first field in the path. It returns false if there is none.
func (in *Input) firstInPath() (Field, bool) {
	i := slices.IndexFunc(in.Fields, func(f Field) bool { return f.In == InPath })
	if i < 0 {
		return Field{}, false
	}
	return in.Fields[i], true
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// New returns a pointer to an empty input.
func (in *Input) New() any { return reflect.New(in.typ).Interface() }

// decode parses the arguments into a new input. It refuses unknown fields and
// parameters, wrong types, values out of bounds, and a body that is not a
// strict JSON object. The error names the field and what is allowed in it.
func (in *Input) decode(args Arguments) (any, error) {
	value := reflect.New(in.typ)
	if err := in.decodeBody(args.Body, value); err != nil {
		return nil, err
	}
	var queryNames []string
	for _, f := range in.Fields {
		var text string
		switch f.In {
		case InPath:
			text = args.Path(f.Name)
		case InQuery:
			queryNames = append(queryNames, f.Name)
			given := args.Query[f.Name]
			if len(given) > 1 {
				return nil, board.Invalid("%s is given more than once.", f.Name).In(f.Name, board.RuleValue)
			}
			if len(given) == 0 {
				if f.Required {
					return nil, board.Invalid("%s is required.", f.Name).In(f.Name, board.RuleRequired)
				}
				continue
			}
			text = given[0]
		default:
			continue
		}
		if err := in.setText(f, text, value.Elem().FieldByIndex(f.index)); err != nil {
			return nil, err
		}
	}
	for name := range args.Query {
		if !slices.Contains(queryNames, name) {
			return nil, unknownFault(name, "parameter", in.name, queryNames)
		}
	}
	return value.Interface(), nil
}

func (in *Input) decodeBody(body []byte, value reflect.Value) error {
	if in.Body == nil {
		if len(body) > 0 && string(body) != "{}" {
			return board.Invalid("%s takes no body.", in.name)
		}
		return nil
	}
	if len(body) == 0 {
		body = []byte("{}")
	}
	object, err := strictObject(body)
	if err != nil {
		return err
	}
	for name, v := range object {
		s := in.Body.Properties[name]
		switch {
		case s == nil || v != nil || s.Nullable:
		case slices.Contains(in.Body.Required, name):
			return board.Invalid("%s is required and must not be null.", name).In(name, board.RuleRequired)
		default:
			return board.Invalid("%s must not be null. Leave it out instead.", name).In(name, board.RuleValue)
		}
	}
	if err := in.validate(in.Body, "", object); err != nil {
		return err
	}
	if err := json.Unmarshal(body, value.Interface()); err != nil {
		return in.bodyFault(err)
	}
	return nil
}

// setText sets a field from the text of a path or query parameter.
func (in *Input) setText(f Field, text string, dest reflect.Value) error {
	if err := f.checkFilled(text); err != nil {
		return err
	}
	var v any = text
	switch f.Schema.Type {
	case huma.TypeInteger:
		n, err := f.number(text)
		if err != nil {
			return err
		}
		v = n
	case huma.TypeBoolean:
		if text != "true" && text != "false" {
			return board.InvalidValue(f.Name, f.kind())
		}
		v = text == "true"
	default:
		if strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
			return board.Invalid("%s must be valid UTF-8 without U+0000.", f.Name).In(f.Name, board.RuleValue)
		}
	}
	if err := in.validate(f.Schema, f.Name, v); err != nil {
		return err
	}
	if dest.Kind() == reflect.Pointer {
		dest.Set(reflect.New(dest.Type().Elem()))
		dest = dest.Elem()
	}
	switch v := v.(type) {
	case string:
		if parsed, ok := dest.Addr().Interface().(encoding.TextUnmarshaler); ok {
			if err := parsed.UnmarshalText([]byte(v)); err != nil {
				return board.InvalidValue(f.Name, f.kind())
			}
			return nil
		}
		dest.SetString(v)
	case bool:
		dest.SetBool(v)
	case int64:
		dest.SetInt(v)
	}
	return nil
}

func (in *Input) validate(s *huma.Schema, name string, v any) error {
	var res huma.ValidateResult
	path := huma.NewPathBuffer([]byte(name), len(name))
	huma.Validate(in.schema, s, path, huma.ModeWriteToServer, v, &res)
	if len(res.Errors) == 0 {
		return nil
	}
	type explained struct {
		message string
		detail  board.Detail
	}
	all := make([]explained, 0, len(res.Errors))
	for _, err := range res.Errors {
		message, detail := in.explain(s, name, err)
		all = append(all, explained{message, detail})
	}
	slices.SortFunc(all, func(a, b explained) int { return strings.Compare(a.message, b.message) })
	all = slices.Compact(all)
	fault := board.Invalid("")
	var messages []string
	for _, e := range all[:min(len(all), maxExplained)] {
		messages = append(messages, e.message)
		fault.Details = append(fault.Details, e.detail)
	}
	fault.Message = strings.Join(messages, " ")
	return fault
}

// maxExplained is the maximum number of validation errors in one message.
const maxExplained = 5

// Quoted returns a name from a request for use in a message. It truncates long
// names and replaces invalid UTF-8.
func Quoted(name string) string {
	if len(name) > 64 {
		name = name[:64] + "…"
	}
	return strings.ToValidUTF8(name, "?")
}
