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
		return nil, bodyFault(err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, board.Invalid("The body must be a JSON object.")
	}
	return object, nil
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

func bodyFault(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return board.Invalid("The body is not valid JSON: %s at byte %d.", syntax.Err, syntax.ByteOffset)
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && semantic.Err != nil {
		return board.Invalid("%s: %s.", fieldOf(semantic.JSONPointer), semantic.Err)
	}
	return board.Invalid("The body is not what this operation takes.")
}

func fieldOf(p jsontext.Pointer) string {
	if p == "" {
		return "The body"
	}
	return quoted(string(p[1:]))
}
