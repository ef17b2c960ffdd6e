package query

import (
	"fmt"
	"time"
)

// Env is the environment in which a query is resolved.
type Env struct {
	Now  time.Time
	Zone *time.Location // determines the day of an instant; nil means UTC
	Me   string         // the caller's id; if empty, me is an error
	Name string         // the parameter with the search text, for errors; "" means "q"

	// People returns the people whom the caller can see. If nil, names and
	// email addresses of people stay in the tree, and ids are not checked.
	People func() ([]Person, error)
	// Named reports whether a card refers to the person with the id. It is called
	// for ids that People does not return, such as the id of a creator who has left.
	Named func(ref Ref, id string) (bool, error)
	// Names returns the names of the boards, lists or labels that the caller can see. If nil,
	// their names are not checked.
	Names func(ref Ref) ([]string, error)
	// Lenient is the name of the parameter that contains previously saved text. In
	// that text, a name or an id that no longer exists matches nothing, and a name of a
	// person that has become ambiguous matches everyone it fits. Neither is an error.
	Lenient string
}

func (e Env) name() string {
	if e.Name == "" {
		return "q"
	}
	return e.Name
}

// Archived determines whether a query includes archived cards.
type Archived string

// The choices for archived cards. The zero value is invalid and never occurs in a
// parsed Query.
const (
	ArchivedNo   Archived = "no"   // only cards that are not archived
	ArchivedAll  Archived = "all"  // both
	ArchivedOnly Archived = "only" // only archived cards
)

// SortBy is the sort key of cards.
type SortBy string

// The sort keys. SortNone leaves the order to the operation.
const (
	SortNone     SortBy = ""
	SortPosition SortBy = "position"
	SortDue      SortBy = "due"
	SortStart    SortBy = "start"
	SortCreated  SortBy = "created"
	SortUpdated  SortBy = "updated"
	SortTitle    SortBy = "title"
	// SortRelevance puts the cards that InTitles matches first. Cards that are equally
	// relevant are in the order in which they last changed, newest first.
	SortRelevance SortBy = "relevance"
)

// Sort is an order. Package store adds the id as the last key.
type Sort struct {
	By   SortBy
	Desc bool
}

// Query is a parsed filter or search. Package store compiles Where, Archived
// and Sort. A card is in the result if it matches Where and Archived. Queries
// are created only by ParseSearch and Filter, and are immutable.
type Query struct {
	Where    And
	Archived Archived
	Sort     Sort
	terms    []term
}

// String returns the query in the search grammar, with one space between terms
// and full keys in lower case (@ada is member:ada). Relative words stay
// relative, so the text can be saved as a filter. Parsing it returns the same
// tree if the text is within the limits of ParseSearch.
func (q Query) String() string {
	var b []byte
	for i, t := range q.terms {
		if i > 0 {
			b = append(b, ' ')
		}
		b = t.append(b)
	}
	return string(b)
}

// Term is one term of a parsed query, as a search field shows it in a chip.
type Term struct {
	Key     string   `json:"key" doc:"The full key, such as member for @ada; text for plain words and phrases."`
	Negated bool     `json:"negated" doc:"Whether the term excludes the cards that match its values."`
	Values  []string `json:"values" doc:"The alternative values, without quotes."`
	Text    string   `json:"text" doc:"The term in the search grammar."`
	Param   string   `json:"param" doc:"The parameter that contains the term."`
	Offset  int      `json:"offset" doc:"The offset of the term in the parameter, in bytes of UTF-8."`
	Length  int      `json:"length" doc:"The length of the term, in bytes of UTF-8."`
	Ignored bool     `json:"ignored" doc:"Whether the term had no effect because it contains no letter or digit."`
}

// Echo returns the terms of the query in the order of String. It is never nil.
func (q Query) Echo() []Term {
	out := make([]Term, 0, len(q.terms))
	for _, t := range q.terms {
		out = append(out, t.echo())
	}
	return out
}

// Resolved returns a text that identifies the conditions of the query with their ids and times. Two
// queries with the same parameters and the same text match the same cards of a board. Resolved returns
// false if a condition depends on the time of day, as overdue does, or on the caller, as do people's
// names and email addresses that were not replaced by ids.
func (q Query) Resolved() (text string, ok bool) {
	for _, t := range q.terms {
		if (t.kind == kindIs || t.kind == kindPlan) && t.names("overdue") {
			return "", false
		}
	}
	for n := range Leaves(q.Where) {
		if in, ok := n.(In); ok && in.Ref.takes("me") && len(in.Names)+len(in.Emails) > 0 {
			return "", false
		}
	}
	if len(q.Where) == 0 {
		return "", true
	}
	return fmt.Sprintf("%#v", q.Where), true
}

// InTitles returns the condition that a card's title alone contains the words and phrases of the
// query. It returns nil if the query has none, or only negated ones.
func (q Query) InTitles() (titles And) {
	for _, n := range q.Where {
		if text, ok := n.(Text); ok && text.Place == Anywhere {
			text.Place = InTitle
			titles = append(titles, text)
		}
	}
	return titles
}

// build validates the terms, normalizes their values and returns the query.
func build(terms []term, env Env) (Query, error) {
	r := resolver{env: env, days: newCalendar(env)}
	words := 0
	for i := range terms {
		n, err := terms[i].check()
		if err != nil {
			return Query{}, err
		}
		if words += n; words > MaxWords {
			return Query{}, terms[i].fail(0, "the query must not contain more than %d words", MaxWords)
		}
	}
	q := Query{Archived: archivedOf(terms), Where: And{}, terms: terms}
	r.archived = q.Archived
	hasIgnored := false   // there is an ignored term that is not negated
	hasCondition := false // there is a term that is neither ignored nor sort
	for i := range terms {
		t := &terms[i]
		switch {
		case t.kind == kindSort:
			if q.Sort.By != SortNone {
				return Query{}, t.fail(0, "sort may be given only once")
			}
			q.Sort = sortOf(t.values[0].text)
			continue
		case t.ignored:
			hasIgnored = hasIgnored || !t.negated
			continue
		}
		hasCondition = true
		n, err := r.node(t)
		if err != nil {
			return Query{}, err
		}
		if t.negated {
			n = negate(n)
		}
		if and, ok := n.(And); ok {
			q.Where = append(q.Where, and...)
		} else {
			q.Where = append(q.Where, n)
		}
	}
	if hasIgnored && !hasCondition {
		q.Where = And{Or{}}
	}
	return q, nil
}

// archivedOf returns the choice for archived cards that the terms make. Terms with
// the key "is" must have been validated.
func archivedOf(terms []term) Archived {
	a := ArchivedNo
	for _, t := range terms {
		if t.kind != kindIs || t.negated || !t.names("archived") {
			continue
		}
		if t.only("archived") {
			return ArchivedOnly
		}
		a = ArchivedAll
	}
	return a
}
