package mcp

import "strings"

// Where an operation takes an id, a tool also accepts a name. Names are replaced with ids
// before the operation runs, so that it checks and records the ids, and an idempotency key
// belongs to the ids. A name that does not match exactly one record is an error.

// noun is a kind of record that a field refers to.
type noun string

const (
	aWorkspace noun = "workspace"
	aBoard     noun = "board"
	aList      noun = "list"
	aCard      noun = "card"
	aLabel     noun = "label"
	aPerson    noun = "person"
)

// nouns are the fields that accept names. A key with the name of a tool takes precedence.
var nouns = map[string]noun{
	"workspaceId": aWorkspace, "boardId": aBoard,
}

func nounOf(tool, field string) noun {
	if n, ok := nouns[tool+"."+field]; ok {
		return n
	}
	return nouns[field]
}

// isID reports whether a text has the form of an id: a prefix and 26 characters of lower-case
// Crockford base32.
func isID(text string) bool {
	return len(text) == 30 && text[3] == '_' && strings.Trim(text[:3], "abcdefghijklmnopqrstuvwxyz") == "" &&
		strings.Trim(text[4:], "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

// isFilter reports whether a field contains values separated by commas.
func isFilter(tool, field string) bool { return tool == filtered && !strings.HasSuffix(field, "Id") }

// isName reports whether a value of a field is a name. The engine explains empty values.
func isName(tool, field, value string) bool {
	return !isID(value) && strings.TrimSpace(value) != "" && (!isFilter(tool, field) || value != "none" && value != "any")
}

// references are the values of the fields in nouns, by the name of the field.
type references map[string][]string
