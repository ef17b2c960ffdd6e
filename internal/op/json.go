package op

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

const maxDepth = 32 // levels of objects and arrays

// strictObject parses a JSON object with the semantics of encoding/json/v2 (RFC
// 8259, and I-JSON where that is stricter). It refuses duplicate names, invalid
// UTF-8, trailing data, U+0000 and more than maxDepth levels.
func strictObject(body []byte) (map[string]any, error) {
	if depth(body) > maxDepth {
		return nil, board.Invalid("The body is nested more than %d levels deep.", maxDepth)
	}
	if bytes.Contains(body, []byte(`\u0000`)) && holdsNUL(body) {
		return nil, board.Invalid("The body contains the character U+0000, which is not allowed.")
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return nil, syntaxFault(err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, board.Invalid("The body must be a JSON object.")
	}
	return object, nil
}

// canonical returns a JSON text in its canonical form (RFC 8785). Two texts with the
// same fields and values have the same canonical form: the order of fields, white
// space and the notation of numbers do not matter. Invalid JSON is returned unchanged.
func canonical(body []byte) []byte {
	if len(body) == 0 {
		return body
	}
	v := jsontext.Value(bytes.Clone(body))
	if err := v.Canonicalize(); err != nil {
		return body
	}
	return v
}

// depth returns the maximum nesting depth of brackets outside of strings.
func depth(body []byte) int {
	current, deepest := 0, 0
	inString := false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			current++
			deepest = max(deepest, current)
		case c == '}' || c == ']':
			current--
		}
	}
	return deepest
}

// holdsNUL reports whether a body contains \u0000 as an escape sequence, and not only as
// text after an escaped backslash.
func holdsNUL(body []byte) bool {
	for i := 0; i < len(body)-1; i++ {
		if body[i] == '\\' {
			if bytes.HasPrefix(body[i:], []byte(`\u0000`)) {
				return true
			}
			i++
		}
	}
	return false
}

// syntaxFault returns an error that says why and where a body is not valid JSON.
func syntaxFault(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return board.Invalid("The body is not valid JSON: %s at byte %d.", syntax.Err, syntax.ByteOffset)
	}
	return board.Invalid("The body is not valid JSON.")
}
