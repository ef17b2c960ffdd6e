package op

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

const maxDepth = 32

// strictObject reads a JSON object with the semantics of encoding/json/v2
// (RFC 8259, I-JSON where that is stricter): duplicate names, bad UTF-8 and
// trailing data are refused; also U+0000 and more than 32 levels.
func strictObject(body []byte) (map[string]any, error) {
	if depth(body) > maxDepth {
		return nil, board.Invalid("The body is nested more than %d levels deep.", maxDepth)
	}
	if bytes.Contains(body, []byte(`\u0000`)) && holdsNUL(body) {
		return nil, board.Invalid("The body holds the character U+0000, which no text may.")
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

// canonical returns a JSON text in its canonical form (RFC 8785), so that two
// texts are equal exactly if they hold the same fields and values: the order of
// fields, the space between them and the notation of numbers don't count.
// It returns what is not valid JSON as it came.
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

// depth is how deep brackets nest outside of strings.
func depth(body []byte) int {
	now, most := 0, 0
	inString := false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}

// holdsNUL tells whether an escape is really U+0000, not the text of one
// behind an escaped backslash.
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

// syntaxFault says what keeps a body from being JSON, and where.
func syntaxFault(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return board.Invalid("The body is not valid JSON: %s at byte %d.", syntax.Err, syntax.ByteOffset)
	}
	return board.Invalid("The body is not valid JSON.")
}
