package transfer

import (
	"strings"

	"cardwall/internal/board"
)

// isID reports whether a text has the form of an id: three letters, an
// underscore and 26 characters of Crockford's base 32.
func isID(s string) bool {
	if len(s) != len("crd_")+26 || s[3] != '_' {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i < 3 && (c < 'a' || c > 'z'):
			return false
		case i > 3 && !strings.ContainsRune("0123456789abcdefghjkmnpqrstvwxyz", rune(c)):
			return false
		}
	}
	return true
}

// isProse reports whether a field of a change holds text written by people,
// which may contain text that looks like an id.
func isProse(field string) bool {
	switch field {
	case "title", "name", "description", "text":
		return true
	}
	return false
}

// eachID replaces every id in changes by the result of fn.
func eachID(c board.Changes, fn func(id string) string) {
	for field, ft := range c {
		if !isProse(field) {
			c[field] = board.FromTo{From: eachIDIn(ft.From, fn), To: eachIDIn(ft.To, fn)}
		}
	}
}

func eachIDIn(v any, fn func(id string) string) any {
	switch v := v.(type) {
	case string:
		if isID(v) {
			return fn(v)
		}
	case []any:
		for i := range v {
			v[i] = eachIDIn(v[i], fn)
		}
	case map[string]any:
		for name := range v {
			if !isProse(name) {
				v[name] = eachIDIn(v[name], fn)
			}
		}
	}
	return v
}
