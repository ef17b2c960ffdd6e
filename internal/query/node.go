package query

import (
	"iter"

	"cardwall/internal/board"
)

// Node is a condition on a card. The set of nodes is fixed: And, Or, Not and
// the leaves In, Has, IsDone, IsArchived, ChecklistIs, StatusIs, Range and
// Text.
//
// Conditions are two-valued. A leaf about something that the card lacks is
// false, and its Not is true. In SQL, a comparison with NULL is neither true
// nor false, so write Not as "(…) IS NOT TRUE", which SQLite and PostgreSQL support.
type Node interface{ node() }

// And holds if all of its nodes hold. The empty And always holds.
type And []Node

// Or holds if at least one of its nodes holds. The empty Or never holds.
type Or []Node

// Not holds if its node does not hold.
type Not struct{ Node Node }

// Ref is the kind of record that In compares.
type Ref string

// The kinds of records by which a card can be found.
const (
	RefList      Ref = "list"
	RefBoard     Ref = "board"
	RefLabel     Ref = "label"
	RefMember    Ref = "member" // an assignee
	RefCreator   Ref = "creator"
	RefCommenter Ref = "commenter"
)

// In holds if one of the card's records of the kind Ref has one of the ids, names
// or emails. At least one of the three slices is not empty, and none has
// duplicates. Me has been replaced by an id. Names and emails are folded with
// FoldName and must be compared with a column folded in the same way. Emails
// occur only for people.
type In struct {
	Ref    Ref
	IDs    []string
	Names  []string
	Emails []string
}

// Thing is a property that a card can have or lack.
type Thing string

// The things for Has. A card whose creator is unknown lacks ThingCreator.
const (
	ThingDescription Thing = "description"
	ThingChecklist   Thing = "checklist"
	ThingComment     Thing = "comment"
	ThingAttachment  Thing = "attachment"
	ThingDue         Thing = "due"
	ThingStart       Thing = "start"
	ThingAssignee    Thing = "assignee"
	ThingLabel       Thing = "label"
	ThingCreator     Thing = "creator"
)

// Has holds if the card has the thing, such as at least one label.
type Has struct{ Thing Thing }

// IsDone holds if the card is done.
type IsDone struct{}

// IsArchived holds if the card is archived. It occurs only if Query.Archived
// does not already express it.
type IsArchived struct{}

// ChecklistIs with Complete holds if the card has checklist items and all are done.
// Without Complete, it holds if at least one item is not done.
type ChecklistIs struct{ Complete bool }

// StatusIs holds if the latest status of the card's board is one of Any, in the
// notation of the API (on_track …).
type StatusIs struct{ Any []string }

// Field is a time of a card.
type Field string

// The times for Range. Due and start are a date with an optional instant;
// created, updated and completed are instants.
const (
	FieldDue       Field = "due"
	FieldStart     Field = "start"
	FieldCreated   Field = "created"
	FieldUpdated   Field = "updated"
	FieldCompleted Field = "completed"
)

// Range holds if the field is in the half-open interval [From, To). An instant
// (created, updated, completed, and due or start with a time) is compared with
// the edges' At. A date without a time is compared with the edges' Day, as
// text. At least one edge is bounded. An interval may be empty.
type Range struct {
	Field    Field
	From, To Edge
}

// Edge is one side of a Range: a date, and the instant at which it starts in
// the zone of the Env (for overdue: today, and now). The zero Edge is
// unbounded. Use Bounded to check, because a zero At is a valid instant in 1970.
type Edge struct {
	Day string // YYYY-MM-DD
	At  board.Instant
}

// Bounded reports whether the edge is a limit.
func (e Edge) Bounded() bool { return e.Day != "" }

// Place is a text field of a card, or all of them.
type Place string

// The text fields of a card. Anywhere means all of them.
const (
	Anywhere      Place = "any"
	InTitle       Place = "title"
	InDescription Place = "description"
	InComment     Place = "comment"
	InChecklist   Place = "checklist"
	InAttachment  Place = "attachment"
)

// Text holds if the words occur consecutively, in this order, in one text field
// of the place. Words is never empty, and each word is a result of func Words:
// letters, marks and digits only. With Prefix, the last word also matches the
// start of a longer word.
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

// Leaves returns an iterator over all leaves of n, left to right.
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

// either returns the simplified disjunction of nodes.
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

// negate returns the simplified negation of a node.
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
