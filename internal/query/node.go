package query

import (
	"iter"

	"cardwall/internal/board"
)

// Node is a condition on a card. The set of nodes is closed: And, Or, Not and
// the leaves In, Has, IsDone, IsArchived, ChecklistIs, StatusIs, Range, Text.
//
// Conditions are two-valued: a leaf about something that the card lacks is
// false, and its Not is true. In SQL, where a comparison with NULL is neither,
// write Not as "(…) IS NOT TRUE"; SQLite and PostgreSQL both know it.
type Node interface{ node() }

// And holds when all its nodes do; the empty And always holds.
type And []Node

// Or holds when one of its nodes does; the empty Or never holds.
type Or []Node

// Not holds when its node does not.
type Not struct{ Node Node }

// Ref names the record that In looks at.
type Ref string

// The records that a card can be found by.
const (
	RefList      Ref = "list"
	RefBoard     Ref = "board"
	RefLabel     Ref = "label"
	RefMember    Ref = "member" // an assignee
	RefCreator   Ref = "creator"
	RefCommenter Ref = "commenter"
)

// In holds when one of the card's records of that kind has one of the ids,
// names or emails. At least one of the three slices is not empty; none holds a
// value twice. Me is already an id. Names and emails are as FoldName writes
// them: compare them with a column that FoldName filled. Emails occur only for
// people.
type In struct {
	Ref    Ref
	IDs    []string
	Names  []string
	Emails []string
}

// Thing is something that a card can have or lack.
type Thing string

// The things that Has asks for. ThingCreator is absent for a card whose creator
// is not known.
const (
	ThingDescription Thing = "description"
	ThingChecklist   Thing = "checklist"
	ThingComment     Thing = "comment"
	ThingDue         Thing = "due"
	ThingStart       Thing = "start"
	ThingAssignee    Thing = "assignee"
	ThingLabel       Thing = "label"
	ThingCreator     Thing = "creator"
)

// Has holds when the card has at least one of the thing.
type Has struct{ Thing Thing }

// IsDone holds for a done card.
type IsDone struct{}

// IsArchived holds for an archived card. It occurs only where Query.Archived
// does not already say it.
type IsArchived struct{}

// ChecklistIs holds, if Complete, when the card has checklist items and all are
// done; otherwise when at least one item is not done.
type ChecklistIs struct{ Complete bool }

// StatusIs holds when the latest status of the card's board is one of Any, the
// status words of the interface (on_track …).
type StatusIs struct{ Any []string }

// Field names a time of a card.
type Field string

// The times that a Range looks at. Due and start are a calendar date with an
// optional instant; created, updated and completed are instants.
const (
	FieldDue       Field = "due"
	FieldStart     Field = "start"
	FieldCreated   Field = "created"
	FieldUpdated   Field = "updated"
	FieldCompleted Field = "completed"
)

// Range holds when the field has a value in the half-open interval [From, To).
// An instant (created, updated, completed, and due or start with a time) is
// compared with the edges' At, a date without a time with the edges' Day, as
// text. At least one edge is bounded. An interval may be empty.
type Range struct {
	Field    Field
	From, To Edge
}

// Edge is one side of a Range: the date, and the instant at which that date
// begins in the zone of the Env (for overdue: today, and now). The zero Edge is
// unbounded: ask Bounded, since a zero At alone is the year 1970.
type Edge struct {
	Day string // YYYY-MM-DD
	At  board.Instant
}

// Bounded tells whether the edge limits anything.
func (e Edge) Bounded() bool { return e.Day != "" }

// Place is where a Text looks.
type Place string

// The texts of a card. Anywhere is all four.
const (
	Anywhere      Place = "any"
	InTitle       Place = "title"
	InDescription Place = "description"
	InComment     Place = "comment"
	InChecklist   Place = "checklist"
)

// Text holds when the words stand side by side, in this order, in one text of
// the place. Words is never empty, and each word is one that func Words gives:
// letters, marks and digits only. With Prefix the last word may be the
// beginning of a longer one.
type Text struct {
	Place  Place
	Words  []string
	Prefix bool
}

func (And) node()         {}
func (Or) node()          {}
func (Not) node()         {}
func (In) node()          {}
func (Has) node()         {}
func (IsDone) node()      {}
func (IsArchived) node()  {}
func (ChecklistIs) node() {}
func (StatusIs) node()    {}
func (Range) node()       {}
func (Text) node()        {}

// Leaves walks all leaves below n, left to right.
func Leaves(n Node) iter.Seq[Node] {
	return func(yield func(Node) bool) { leaves(n, yield) }
}

func leaves(n Node, yield func(Node) bool) bool {
	switch n := n.(type) {
	case And:
		for _, m := range n {
			if !leaves(m, yield) {
				return false
			}
		}
		return true
	case Or:
		for _, m := range n {
			if !leaves(m, yield) {
				return false
			}
		}
		return true
	case Not:
		return leaves(n.Node, yield)
	default:
		return yield(n)
	}
}

// either is the disjunction of the nodes, simplified.
func either(nodes ...Node) Node {
	var or Or
	for _, n := range nodes {
		if and, ok := n.(And); ok && len(and) == 0 {
			return And{}
		}
		if o, ok := n.(Or); ok {
			or = append(or, o...)
			continue
		}
		or = append(or, n)
	}
	if len(or) == 1 {
		return or[0]
	}
	if or == nil {
		or = Or{}
	}
	return or
}

// negate is the negation of the node, simplified.
func negate(n Node) Node {
	switch m := n.(type) {
	case Not:
		return m.Node
	case And:
		if len(m) == 0 {
			return Or{}
		}
	case Or:
		if len(m) == 0 {
			return And{}
		}
	}
	return Not{n}
}
