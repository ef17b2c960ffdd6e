package op

import (
	"math"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"cardwall/internal/board"
)

// checkFilled returns an error for a query parameter that is empty or blank. If such a
// parameter counted as absent, a program that failed to fill in a filter would get
// everything. An empty cursor is allowed and means the first page, because programs send it in the
// first iteration of a loop.
func (f Field) checkFilled(text string) error {
	switch {
	case f.In != InQuery, strings.TrimSpace(text) != "", f.Name == "cursor" && text == "":
		return nil
	case f.Required:
		return board.Invalid("%s must not be empty. %s", f.Name, f.takes()).In(f.Name, board.RuleEmpty)
	}
	return board.Invalid("%s must not be empty. Leave it out, or give a value. %s", f.Name, f.takes()).
		In(f.Name, board.RuleEmpty)
}

// takes returns a sentence about the values that the parameter accepts.
func (f Field) takes() string {
	switch {
	case f.Schema.Type == huma.TypeBoolean, f.Schema.Type == huma.TypeInteger:
		return "It must be " + f.kind() + "."
	case len(f.Schema.Enum) > 0:
		values := make([]string, len(f.Schema.Enum))
		for i, v := range f.Schema.Enum {
			values[i], _ = v.(string)
		}
		return "It must be one of " + strings.Join(values, ", ") + "."
	}
	return f.Schema.Description
}

// number parses a whole number as it is written in a URL: without a plus sign and
// without leading zeros.
func (f Field) number(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text {
		return 0, board.InvalidValue(f.Name, f.kind())
	}
	return n, nil
}

// kind describes the values of the field in a phrase that completes "must be".
func (f Field) kind() string {
	switch f.Schema.Type {
	case huma.TypeBoolean:
		return "true or false"
	case huma.TypeInteger:
		return "a whole number" + between(f.Schema.Minimum, f.Schema.Maximum)
	}
	return "a string"
}

// wrongKind returns the fault for a value of the wrong kind.
func (f Field) wrongKind(v any) error {
	return board.Invalid("%s must be %s, but is %s.", f.Name, f.kind(), kindOf(v)).Allows(f.Name, board.RuleValue, f.kind())
}

// kindOf names the kind of a JSON value.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		if v != math.Trunc(v) {
			return "a fraction"
		}
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}
