package transfer

import (
	"strings"

	"cardwall/internal/board"
)

// isID reports whether s has the form of an id: three lower-case letters, an
// underscore, and 26 characters of lower-case Crockford base32.
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

// isProse reports whether a field of a change contains text that people wrote.
// Such text is not an id, even if it looks like one.
func isProse(field string) bool {
	switch field {
	case "title", "name", "description", "text":
		return true
	}
	return false
}

// mapIDs replaces every id in changes with the result of fn. It skips prose.
func mapIDs(c board.Changes, fn func(id string) string) {
	for field, ft := range c {
		if !isProse(field) {
			c[field] = board.FromTo{From: mapIDsIn(ft.From, fn), To: mapIDsIn(ft.To, fn)}
		}
	}
}

func mapIDsIn(v any, fn func(id string) string) any {
	switch v := v.(type) {
	case string:
		if isID(v) {
			return fn(v)
		}
	case []any:
		for i := range v {
			v[i] = mapIDsIn(v[i], fn)
		}
	case map[string]any:
		for name := range v {
			if !isProse(name) {
				v[name] = mapIDsIn(v[name], fn)
			}
		}
	}
	return v
}
