package mcp

import (
	"fmt"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/op"
)

// candidate is a record that a name may mean, with what tells it apart from others.
type candidate struct {
	ID        string      `json:"id"`
	Name      string      `json:"name"` // the title of a card
	Color     board.Color `json:"color,omitempty"`
	Email     string      `json:"email,omitempty"`
	Board     string      `json:"board,omitempty"`     // name
	Workspace string      `json:"workspace,omitempty"` // name
	Archived  bool        `json:"archived,omitzero"`
}

// maxIDLength is the maximum length of an id in the input of an operation, in bytes.
const maxIDLength = 64

// maxCandidates is the maximum number of records that an error lists.
const maxCandidates = 10

// nameError is the error for a name that does not match exactly one record. Names that people
// wrote are only in the candidates.
type nameError struct {
	*board.Fault
	candidates []candidate
}

// Unwrap returns the fault, for board.AsFault.
func (e *nameError) Unwrap() error { return e.Fault }

func newNameError(field string, candidates []candidate, format string, args ...any) *nameError {
	fault := board.Invalid(field+": "+format, args...).In(field, board.RuleValue)
	if n := len(candidates); n > maxCandidates {
		fault.Message += fmt.Sprintf(" Only %d of %d candidates are listed.", maxCandidates, n)
		candidates = candidates[:maxCandidates]
	}
	return &nameError{fault, candidates}
}

// unknownName is like newNameError, but for a name that no record has. For a field with the
// id of a record, it is a not_found error, like an id that does not exist, unless the name is
// too long for an id.
func unknownName(r reference, candidates []candidate, format string, args ...any) *nameError {
	n := newNameError(r.field, candidates, format, args...)
	if isIDField := strings.HasSuffix(r.field, "Id") || strings.HasSuffix(r.field, "Ids"); isIDField && len(r.text) <= maxIDLength {
		n.Fault = board.Refuse(board.CodeNotFound, "%s", n.Message)
	}
	return n
}

// absent says where a name was looked for, and which tool lists what is there.
var absent = map[noun]struct{ where, tool string }{
	aWorkspace: {"None of your workspaces", "list_workspaces"},
	aBoard:     {"No open board that you can see", "list_boards"},
	aList:      {"No open list on the board", "list_lists"},
	aLabel:     {"No label on the board", "list_labels"},
	aPerson:    {"Nobody whom you can see in the workspace", "list_board_members"},
}

// choose returns the id of the only match. Otherwise, it returns an error that lists the
// matches or, if there are none, the records of the same kind with similar names.
func (l *lookup) choose(r reference, matches, all []candidate) (string, error) {
	text := op.Quoted(r.text)
	switch n := absent[r.noun]; {
	case len(matches) == 1:
		return matches[0].ID, nil
	case len(matches) > 1:
		return "", newNameError(r.field, matches, "%q matches more than one %s. Ask the person which one, or use the id "+
			"of a candidate.", text, r.noun)
	case r.noun == aCard:
		return "", unknownName(r, nil, "no card that you can see has the number %q. list_cards returns the cards "+
			"of a board.", text)
	case l.restores(r.noun):
		return "", unknownName(r, similar(all, r.folded), "%s is archived and called %q.",
			strings.Replace(n.where, " open", "", 1), text)
	default:
		return "", unknownName(r, similar(all, r.folded), "%s is called %q. Names are matched as a whole. "+
			"%s returns all.", n.where, text, n.tool)
	}
}

// similar returns the records whose name contains a folded name, or the other way around. If
// there are none, it returns all records if they are few.
func similar(all []candidate, name string) (out []candidate) {
	for _, c := range all {
		other := fold(c.Name)
		if other != "" && (strings.Contains(other, name) || strings.Contains(name, other)) {
			out = append(out, c)
		}
	}
	if out == nil && len(all) <= maxCandidates {
		return all
	}
	return out
}
