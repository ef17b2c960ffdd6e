package board

import (
	"encoding/json"
	"errors"
)

// Position is a position of an object among its siblings: the top, the bottom, or
// before or after a sibling. The zero value is the bottom. In JSON it is "top",
// "bottom", {"before": id} or {"after": id}.
type Position struct {
	Top    bool
	Before string
	After  string
}

// Top returns the position before all siblings.
func Top() Position { return Position{Top: true} }

// After returns the position directly after a sibling.
func After(id string) Position { return Position{After: id} }

var errPosition = errors.New(`position must be "top", "bottom", {"before": id} or {"after": id}`)

// UnmarshalJSON parses the four forms.
func (p *Position) UnmarshalJSON(b []byte) error {
	var word string
	if json.Unmarshal(b, &word) == nil {
		switch word {
		case "top":
			*p = Position{Top: true}
			return nil
		case "bottom":
			*p = Position{}
			return nil
		}
		return errPosition
	}
	var at map[string]string
	if json.Unmarshal(b, &at) != nil || len(at) != 1 {
		return errPosition
	}
	*p = Position{Before: at["before"], After: at["after"]}
	if (p.Before == "") == (p.After == "") {
		return errPosition
	}
	return nil
}

// MarshalJSON writes the form that UnmarshalJSON parses.
func (p Position) MarshalJSON() ([]byte, error) {
	switch {
	case p.Top:
		return json.Marshal("top")
	case p.Before != "":
		return json.Marshal(map[string]string{"before": p.Before})
	case p.After != "":
		return json.Marshal(map[string]string{"after": p.After})
	}
	return json.Marshal("bottom")
}
