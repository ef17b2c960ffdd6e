package op

import (
	"errors"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// KeyField is the field of a flat object that contains a command's idempotency
// key.
const KeyField = "idempotencyKey"

// MaxKey is the maximum length of an idempotency key, in characters.
const MaxKey = 255

// CheckKey returns an error for an invalid idempotency key. Name is the name of the
// field or header that contains the key.
func CheckKey(name, key string) error {
	if key == "" || len(key) > MaxKey || strings.ContainsFunc(key, func(c rune) bool { return c < '!' || c > '~' }) {
		return board.Invalid("%s must be a string of 1 to %d printable ASCII characters without spaces.", name, MaxKey).
			In(name, board.RuleValue)
	}
	return nil
}

// KeyHeader is the request header that contains the idempotency key.
const KeyHeader = "Idempotency-Key"

// KeyOf returns the idempotency key of a request, given the values of its KeyHeader, or
// "" if there are no values. It returns an error for several values or an invalid key.
func KeyOf(values []string) (string, error) {
	switch len(values) {
	case 0:
		return "", nil
	case 1:
		return values[0], CheckKey(KeyHeader, values[0])
	}
	return "", CheckKey(KeyHeader, "")
}

// Spread splits a flat JSON object, the input format of tools, into the path,
// query and body parameters of the route. It also returns the idempotency key if
// the operation accepts one. It refuses an invalid JSON object, an invalid key,
// unknown fields, missing path parameters, and values that cannot be written in a
// path or a query. The engine validates the rest. The order of fields in the object
// does not affect the result. Null in an optional field that does not allow it counts
// as absent, because some clients fill in every field; in nested objects, the validation
// and the decoding treat it so.
func (o *Operation) Spread(object []byte) (args Arguments, key string, err error) {
	given, err := fieldsOf(object)
	if err != nil {
		return Arguments{}, "", err
	}
	if v, ok := given[KeyField]; ok && o.Keyed() {
		delete(given, KeyField)
		if v.Kind() != 'n' {
			if key, err = textOf(KeyField, v); err == nil {
				err = CheckKey(KeyField, key)
			}
		}
		if err != nil {
			return Arguments{}, "", err
		}
	}
	path, body := map[string]string{}, []byte{'{'}
	for _, f := range o.Input.Fields {
		v, ok := given[f.Name]
		if !ok && f.In == InPath {
			return Arguments{}, "", board.Invalid("%s is required.", f.Name).In(f.Name, board.RuleRequired)
		}
		if !ok {
			continue
		}
		delete(given, f.Name)
		if v.Kind() == 'n' && !f.Required && !f.Schema.Nullable {
			continue
		}
		if f.In == InBody {
			if len(body) > 1 {
				body = append(body, ',')
			}
			body = append(append(append(append(body, '"'), f.Name...), '"', ':'), v...)
			continue
		}
		text, err := f.text(v)
		if err != nil {
			return Arguments{}, "", err
		}
		if f.In == InPath {
			path[f.Name] = text
			continue
		}
		if args.Query == nil {
			args.Query = url.Values{}
		}
		args.Query.Set(f.Name, text)
	}
	if len(given) > 0 {
		return Arguments{}, "", o.unknown(slices.Min(slices.Collect(maps.Keys(given))))
	}
	args.Path = func(name string) string { return path[name] }
	if o.Input.Body != nil {
		args.Body = append(body, '}')
	}
	return args, key, nil
}

func (o *Operation) unknown(name string) error {
	names := make([]string, len(o.Input.Fields))
	for i, f := range o.Input.Fields {
		names[i] = f.Name
	}
	return unknownFault(name, "field", o.Name, names)
}

// unknownFault returns the fault for a field or parameter that an operation does
// not have. The noun is "field" or "parameter".
func unknownFault(name, noun, operation string, allowed []string) error {
	name = Quoted(name)
	if len(allowed) == 0 {
		return board.Invalid("%s is not a %s of %s, which takes none.", name, noun, operation).In(name, board.RuleUnknown)
	}
	names := strings.Join(allowed, ", ")
	return board.Invalid("%s is not a %s of %s. Allowed %ss are %s.", name, noun, operation, noun, names).
		Allows(name, board.RuleUnknown, names)
}

// fieldsOf splits a strict JSON object into its fields. It treats empty input as
// an empty object.
func fieldsOf(object []byte) (map[string]jsontext.Value, error) {
	if len(object) == 0 {
		return nil, nil
	}
	if depth(object) > maxDepth {
		return nil, board.Invalid("The arguments are nested more than %d levels deep.", maxDepth)
	}
	if jsontext.Value(object).Kind() != '{' {
		return nil, board.Invalid("The arguments must be a JSON object.")
	}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, objectFault(err)
	}
	return fields, nil
}

func objectFault(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return board.Invalid("The arguments are not valid JSON: %s at byte %d.", syntax.Err, syntax.ByteOffset)
	}
	return board.Invalid("The arguments are not a complete JSON object.")
}

// text returns a value as it is written in a path or a query. In a query, numbers
// and booleans are allowed as well as strings.
func (f Field) text(v jsontext.Value) (string, error) {
	if v.Kind() == '"' {
		return textOf(f.Name, v)
	}
	var value any
	if err := json.Unmarshal(v, &value); err != nil {
		return "", objectFault(err)
	}
	isText := f.Schema.Type == huma.TypeString
	switch value := value.(type) {
	case nil:
		return "", board.Invalid("%s is required and must not be null.", f.Name).In(f.Name, board.RuleRequired)
	case bool:
		if f.In == InQuery && (isText || f.Schema.Type == huma.TypeBoolean) {
			return string(v), nil
		}
	case float64:
		whole := value == math.Trunc(value) && math.Abs(value) <= maxExact
		switch {
		case f.In != InQuery:
		case isText:
			return string(v), nil
		case f.Schema.Type == huma.TypeInteger && whole: // in JSON Schema, 10.0 and 1e1 are whole numbers
			return strconv.FormatInt(int64(value), 10), nil
		}
	}
	return "", f.wrongKind(value)
}

// maxExact is the largest whole number up to which a float64 represents each one.
const maxExact = 1 << 53

func textOf(name string, v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return "", board.Invalid("%s must be a string.", name).In(name, board.RuleValue)
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return "", board.Invalid("%s must be valid UTF-8.", name).In(name, board.RuleValue)
	}
	return string(text), nil
}
