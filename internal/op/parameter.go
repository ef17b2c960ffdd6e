package op

import (
	"strconv"
	"strings"

	"cardwall/internal/board"
)

// checkFilled refuses an optional parameter that is given without a value. It
// would otherwise count as absent, and a filter whose value got lost on the way
// would return everything. An empty cursor stays the first page: programs send it
// in the first turn of their loops.
func (f Field) checkFilled(text string) error {
	if f.In != InQuery || f.Required || f.Name == "cursor" && text == "" || strings.TrimSpace(text) != "" {
		return nil
	}
	return board.Invalid("%s must not be empty. Leave it out, or give a value. %s", f.Name, f.takes())
}

// takes says what the parameter takes, as a sentence.
func (f Field) takes() string {
	switch {
	case f.Schema.Type == "boolean":
		return "It takes true or false."
	case f.Schema.Type == "integer":
		return "It takes a whole number" + f.bounds() + "."
	case len(f.Schema.Enum) > 0:
		words := make([]string, len(f.Schema.Enum))
		for i, v := range f.Schema.Enum {
			words[i], _ = v.(string)
		}
		return "It takes one of " + strings.Join(words, ", ") + "."
	}
	return f.Schema.Description
}

// number reads a whole number as JSON writes it: digits, with a minus for a
// number below zero; no plus sign, no leading zero.
func (f Field) number(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != text {
		return 0, board.Invalid("%s must be a whole number%s, written in digits.", f.Name, f.bounds())
	}
	return n, nil
}

// bounds says between which numbers the parameter lies, after a space; it is
// empty when there are none.
func (f Field) bounds() string {
	least, most := f.Schema.Minimum, f.Schema.Maximum
	digits := func(bound *float64) string { return strconv.FormatFloat(*bound, 'f', -1, 64) }
	switch {
	case least != nil && most != nil:
		return " from " + digits(least) + " to " + digits(most)
	case least != nil:
		return " of at least " + digits(least)
	case most != nil:
		return " of at most " + digits(most)
	}
	return ""
}
