package op

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// KeyField is the field of a flat object that holds the idempotency key of a
// command.
const KeyField = "idempotencyKey"

// MaxKey is how many characters an idempotency key has at most.
const MaxKey = 255

// CheckKey refuses what is no idempotency key. The name says where it stood.
func CheckKey(name, key string) error {
	if key == "" || len(key) > MaxKey || strings.ContainsFunc(key, func(c rune) bool { return c < '!' || c > '~' }) {
		return board.Invalid("%s must be one text of 1 to %d printable ASCII characters without spaces.", name, MaxKey)
	}
	return nil
}

// KeyHeader is the header of a request that holds its key.
const KeyHeader = "Idempotency-Key"

// KeyOf is the key of a request with so many values of KeyHeader, empty for none;
// it refuses several, and what CheckKey refuses.
func KeyOf(values []string) (string, error) {
	switch len(values) {
	case 0:
		return "", nil
	case 1:
		return values[0], CheckKey(KeyHeader, values[0])
	}
	return "", CheckKey(KeyHeader, "")
}

// Spread reads one flat JSON object, as tools take their input, into the places
// that the route gives its fields, and the idempotency key of a command that
// takes one. It refuses what is no strict JSON object, unknown fields, and what
// a path or a query cannot hold; the rest is refused by the engine. Objects with
// the same fields and values are spread alike, in whatever order they stood.
func (o *Operation) Spread(object []byte) (args Arguments, key string, err error) {
	given, err := fieldsOf(object)
	if err != nil {
		return Arguments{}, "", err
	}
	if v, ok := given[KeyField]; ok && !o.ReadOnly && !o.Unkeyed {
		delete(given, KeyField)
		if key, err = textOf(KeyField, v); err == nil {
			err = CheckKey(KeyField, key)
		}
		if err != nil {
			return Arguments{}, "", err
		}
	}
	path, body := map[string]string{}, []byte{'{'}
	for _, f := range o.Input.Fields {
		v, ok := given[f.Name]
		if !ok && f.In == InPath {
			return Arguments{}, "", board.Invalid("%s is required.", f.Name)
		}
		if !ok {
			continue
		}
		delete(given, f.Name)
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
	if len(o.Input.Fields) == 0 {
		return board.Invalid("%s is not a field of %s, which takes none.", quoted(name), o.Name)
	}
	names := make([]string, len(o.Input.Fields))
	for i, f := range o.Input.Fields {
		names[i] = f.Name
	}
	return board.Invalid("%s is not a field of %s; allowed are %s.", quoted(name), o.Name, strings.Join(names, ", "))
}

// fieldsOf splits a strict JSON object into its fields; no bytes are an empty
// object.
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
	return board.Invalid("The arguments are not a whole JSON object.")
}

// text is a value as a path or a query writes it; there numbers and truths are
// text too.
func (f Field) text(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case 'n':
		return "", board.Invalid("%s must not be null; leave it out instead.", f.Name)
	case '0', 't', 'f':
		if f.In == InQuery {
			return string(v), nil
		}
	}
	return textOf(f.Name, v)
}

func textOf(name string, v jsontext.Value) (string, error) {
	if v.Kind() != '"' {
		return "", board.Invalid("%s must be a text.", name)
	}
	text, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return "", board.Invalid("%s must be valid UTF-8.", name)
	}
	return string(text), nil
}
