package query

import "time"

// Env is what a query is resolved against.
type Env struct {
	Now  time.Time
	Zone *time.Location // decides which day an instant is on; nil is UTC
	Me   string         // the id of the person who asks; without it, me is refused
	Name string         // the parameter that holds the search text, for refusals; "q" when empty

	// People are those whom the person who asks sees. Without it, names and
	// email addresses of people stay in the tree as they are, and ids are not
	// looked up.
	People func() ([]Person, error)
	// Named reports whether some card names a person by id who is not among
	// People: one who left may have made it.
	Named func(ref Ref, id string) (bool, error)
	// Lenient is the parameter whose text was saved earlier: a name or an id in
	// it that is nobody's any more finds nothing instead of being refused.
	Lenient string
}

func (e Env) name() string {
	if e.Name == "" {
		return "q"
	}
	return e.Name
}

// Archived tells which cards a query sees at all.
type Archived string

// The choices of archived cards. The zero value is not one of them: a parsed
// Query always carries a choice.
const (
	ArchivedNo   Archived = "no"   // only cards that are not archived
	ArchivedAll  Archived = "all"  // both
	ArchivedOnly Archived = "only" // only archived cards
)

// SortBy is what cards are ordered by.
type SortBy string

// The orders. SortNone leaves the order to the operation.
const (
	SortNone     SortBy = ""
	SortPosition SortBy = "position"
	SortDue      SortBy = "due"
	SortStart    SortBy = "start"
	SortCreated  SortBy = "created"
	SortUpdated  SortBy = "updated"
	SortTitle    SortBy = "title"
)

// Sort is an order; store ends it with the id.
type Sort struct {
	By   SortBy
	Desc bool
}

// Query is a parsed filter or search. Where, Archived and Sort are what store
// compiles; a card belongs to the answer when it satisfies Where and Archived.
// Queries come from ParseSearch and Filter only and are not changed afterwards.
type Query struct {
	Where    And
	Archived Archived
	Sort     Sort
	terms    []term
}

// String is the query in the search grammar, one space between terms, keys in
// lower case and full (@ada is member:ada). Relative words stay relative, so it
// is fit for a saved filter. Parsing it gives the same tree.
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

// Term is one term of a query as it was understood, for a chip in a search
// field.
type Term struct {
	Key     string   `json:"key" doc:"The full key, such as member for @ada; text for plain words and phrases."`
	Negated bool     `json:"negated" doc:"Whether the term excludes what it names."`
	Values  []string `json:"values" doc:"The alternative values, without quotes."`
	Text    string   `json:"text" doc:"The term in the search grammar."`
	Param   string   `json:"param" doc:"The parameter that contains the term."`
	Offset  int      `json:"offset" doc:"The offset of the term in that parameter, in bytes of UTF-8."`
	Length  int      `json:"length" doc:"The length of the term, in bytes of UTF-8."`
	Ignored bool     `json:"ignored" doc:"Whether the term had no effect because it contains no letter or digit."`
}

// Echo is the query term by term, in the order of String. It is never nil.
func (q Query) Echo() []Term {
	out := make([]Term, 0, len(q.terms))
	for _, t := range q.terms {
		out = append(out, t.echo())
	}
	return out
}

// build checks the terms against their keys and makes the tree. It rewrites
// the values to their canonical form.
func build(terms []term, env Env) (Query, error) {
	r := resolver{env: env, days: newCalendar(env)}
	words := 0
	for i := range terms {
		n, err := terms[i].check()
		if err != nil {
			return Query{}, err
		}
		if words += n; words > MaxWords {
			return Query{}, terms[i].refuse(0, "the query must not hold more than %d words", MaxWords)
		}
	}
	q := Query{Archived: archivedOf(terms), Where: And{}, terms: terms}
	r.archived = q.Archived
	idle := false // a text without a word was asked for
	busy := false // so was something else
	for i := range terms {
		t := &terms[i]
		switch {
		case t.kind == kindSort:
			if q.Sort.By != SortNone {
				return Query{}, t.refuse(0, "sort may be given only once")
			}
			q.Sort = sortOf(t.values[0].text)
			continue
		case t.ignored:
			idle = idle || !t.negated
			continue
		}
		busy = true
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
	if idle && !busy {
		q.Where = And{Or{}}
	}
	return q, nil
}

// archivedOf finds which cards the terms see. Terms of the key is have been
// checked.
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
