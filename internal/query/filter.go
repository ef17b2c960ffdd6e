package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cardwall/internal/board"
)

// Filter contains the filter parameters of the card lists as they appear in the
// URL. Embed it in an operation's input. An empty parameter has no effect.
// Parameters are combined with AND. The values of a parameter are combined with
// OR, except those of LabelAll and AssigneeAll, which are combined with AND.
type Filter struct {
	List    string `json:"list,omitempty" doc:"Cards in one of these lists: list ids, none or any, separated by commas." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ListNot string `json:"listNot,omitempty" doc:"Cards in none of these lists: list ids, none or any, separated by commas." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`

	Label    string `json:"label,omitempty" doc:"Cards with at least one of these labels: label ids, none or any, separated by commas." example:"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	LabelAll string `json:"labelAll,omitempty" doc:"Cards with all of these labels: label ids, none or any, separated by commas." example:"lbl_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	LabelNot string `json:"labelNot,omitempty" doc:"Cards with none of these labels: label ids, none or any, separated by commas." example:"none"`

	Assignee    string `json:"assignee,omitempty" doc:"Cards assigned to at least one of these people: names, email addresses, user ids, me, none or any, separated by commas." example:"me"`
	AssigneeAll string `json:"assigneeAll,omitempty" doc:"Cards assigned to all of these people: names, email addresses, user ids, me, none or any, separated by commas." example:"me,usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	AssigneeNot string `json:"assigneeNot,omitempty" doc:"Cards assigned to none of these people: names, email addresses, user ids, me, none or any, separated by commas." example:"me"`

	Creator    string `json:"creator,omitempty" doc:"Cards created by one of these: names, email addresses, user or integration ids, me, none (unknown) or any, separated by commas." example:"me"`
	CreatorNot string `json:"creatorNot,omitempty" doc:"Cards created by none of these: names, email addresses, user or integration ids, me, none (unknown) or any, separated by commas." example:"me"`

	Done     string `json:"done,omitempty" doc:"Cards that are done (true) or not done (false)." example:"false"`
	Archived string `json:"archived,omitempty" doc:"Whether archived cards are returned: false excludes them (the default), true includes them, only returns no other cards." example:"false"`

	Due     string `json:"due,omitempty" doc:"Cards by due date: overdue, today, tomorrow, week (today and the next six days; next7 is another name for it), calendarweek (Monday to Sunday), month (the calendar month), none or any, separated by commas." example:"overdue,today"`
	DueFrom string `json:"dueFrom,omitempty" doc:"Cards due on this date (YYYY-MM-DD) or later." example:"2026-03-01"`
	DueTo   string `json:"dueTo,omitempty" doc:"Cards due on this date (YYYY-MM-DD) or earlier." example:"2026-03-31"`

	StartFrom     string `json:"startFrom,omitempty" doc:"Cards that start on this date (YYYY-MM-DD) or later." example:"2026-03-01"`
	StartTo       string `json:"startTo,omitempty" doc:"Cards that start on this date (YYYY-MM-DD) or earlier." example:"2026-03-31"`
	CreatedFrom   string `json:"createdFrom,omitempty" doc:"Cards created on this date (YYYY-MM-DD) or later." example:"2026-03-01"`
	CreatedTo     string `json:"createdTo,omitempty" doc:"Cards created on this date (YYYY-MM-DD) or earlier." example:"2026-03-31"`
	UpdatedFrom   string `json:"updatedFrom,omitempty" doc:"Cards last changed on this date (YYYY-MM-DD) or later." example:"2026-03-01"`
	UpdatedTo     string `json:"updatedTo,omitempty" doc:"Cards last changed on this date (YYYY-MM-DD) or earlier." example:"2026-03-31"`
	CompletedFrom string `json:"completedFrom,omitempty" doc:"Cards completed on this date (YYYY-MM-DD) or later." example:"2026-03-01"`
	CompletedTo   string `json:"completedTo,omitempty" doc:"Cards completed on this date (YYYY-MM-DD) or earlier." example:"2026-03-31"`

	// TimeZone is not parsed here. The caller must load it into Env.Zone.
	TimeZone string `json:"timeZone,omitempty" doc:"The time zone for dates and for words such as today, as an IANA name such as Europe/Zurich. Defaults to the caller's time zone." example:"Europe/Zurich"`

	Has       string `json:"has,omitempty" doc:"Cards with at least one of these: description, checklist, comment, attachment, due, start, assignee or label, separated by commas." example:"checklist"`
	No        string `json:"no,omitempty" doc:"Cards that lack at least one of these: description, checklist, comment, attachment, due, start, assignee or label, separated by commas." example:"due"`
	Checklist string `json:"checklist,omitempty" doc:"Cards whose checklist items are all done (complete), or that have at least one item that is not done (incomplete)." example:"incomplete"`

	Q    string `json:"q,omitempty" doc:"A search query, such as: is:open label:bug due:week \"exact phrase\" word*." example:"is:open label:bug"`
	Sort string `json:"sort,omitempty" doc:"The sort order: position, due, start, created, updated or title; with the prefix - for descending order." example:"-updated"`
}

// UsesZone reports whether what Parse returns may depend on Env.Zone.
func (f Filter) UsesZone() bool {
	return f.Q+f.Due+f.DueFrom+f.DueTo+f.StartFrom+f.StartTo+f.CreatedFrom+f.CreatedTo+f.UpdatedFrom+f.UpdatedTo+
		f.CompletedFrom+f.CompletedTo != ""
}

// SavedParam is the parameter name that Within uses for the saved text in
// errors and in Echo.
const SavedParam = "query"

// Parse parses the filter. It returns an error for a value that its parameter
// does not accept, more than MaxValues values, a value longer than
// MaxValueBytes, a range whose end is before its start, and any error of
// ParseSearch in Q. Sort overrides a sort: in Q.
func (f Filter) Parse(env Env) (Query, error) { return f.Within("", env) }

// Within parses the filter as an additional condition on a saved search text.
// Cards must match both. Sort takes precedence over the order in Q, which takes
// precedence over the order in the saved text. Errors in the saved text name
// SavedParam.
func (f Filter) Within(saved string, env Env) (Query, error) {
	base, err := scan(saved, SavedParam)
	if err != nil {
		return Query{}, err
	}
	own, err := f.terms()
	if err != nil {
		return Query{}, err
	}
	text, err := scan(f.Q, env.name())
	if err != nil {
		return Query{}, err
	}
	if f.Sort != "" {
		text = withoutSort(text)
	}
	if f.Sort != "" || len(withoutSort(text)) < len(text) {
		base = withoutSort(base)
	}
	return build(append(append(base, own...), text...), env)
}

// withoutSort returns a copy of the terms without sort terms.
func withoutSort(terms []term) []term {
	var out []term
	for _, t := range terms {
		if t.kind != kindSort {
			out = append(out, t)
		}
	}
	return out
}

// mode defines how the values of a reference are combined.
type mode int

const (
	anyOf mode = iota
	allOf
	noneOf
)

// terms returns the parameters except Q and TimeZone as terms of the search
// grammar.
func (f Filter) terms() ([]term, error) {
	var p params
	p.refs("list", f.List, RefList, anyOf)
	p.refs("listNot", f.ListNot, RefList, noneOf)
	p.refs("label", f.Label, RefLabel, anyOf)
	p.refs("labelAll", f.LabelAll, RefLabel, allOf)
	p.refs("labelNot", f.LabelNot, RefLabel, noneOf)
	p.refs("assignee", f.Assignee, RefMember, anyOf)
	p.refs("assigneeAll", f.AssigneeAll, RefMember, allOf)
	p.refs("assigneeNot", f.AssigneeNot, RefMember, noneOf)
	p.refs("creator", f.Creator, RefCreator, anyOf)
	p.refs("creatorNot", f.CreatorNot, RefCreator, noneOf)
	p.choice("done", f.Done, "true", "false")
	p.choice("archived", f.Archived, "false", "true", "only")
	p.words("due", f.Due, "due", planWords)
	p.dates(FieldDue, f.DueFrom, f.DueTo)
	p.dates(FieldStart, f.StartFrom, f.StartTo)
	p.dates(FieldCreated, f.CreatedFrom, f.CreatedTo)
	p.dates(FieldUpdated, f.UpdatedFrom, f.UpdatedTo)
	p.dates(FieldCompleted, f.CompletedFrom, f.CompletedTo)
	p.words("has", f.Has, "has", hasWords)
	p.words("no", f.No, "no", hasWords)
	p.checklist(f.Checklist)
	p.sort(f.Sort)
	return p.terms, p.err
}

// params collects the terms of parameters and the first error.
type params struct {
	terms []term
	err   error
}

// fail records the first error. Allowed describes the values that param takes, and may be empty.
func (p *params) fail(param, allowed, format string, args ...any) {
	if p.err == nil {
		p.err = board.Invalid(format, args...).Allows(param, board.RuleValue, allowed)
	}
}

// add adds a term for a parameter's values.
func (p *params) add(param, text, key string, negated bool, values ...value) {
	_, k, _ := lookup(key)
	p.terms = append(p.terms, term{
		param: param, length: len(text), key: key, kind: k, negated: negated, values: values,
	})
}

// split parses values separated by commas and validates each with ok. It returns nil
// if text is empty or invalid.
func (p *params) split(param, text, takes string, ok func(string) bool) []value {
	if text == "" {
		return nil
	}
	if strings.Count(text, ",") >= MaxValues {
		p.fail(param, "", "%s takes at most %d values.", param, MaxValues)
		return nil
	}
	var values []value
	at := 0
	for s := range strings.SplitSeq(text, ",") {
		v := strings.TrimSpace(s)
		switch {
		case len(v) > MaxValueBytes:
			p.fail(param, "", "%s takes values of at most %d bytes; value %d is longer.", param, MaxValueBytes, len(values)+1)
			return nil
		case !ok(v):
			p.fail(param, takes, "%s takes %s, separated by commas; value %d is not one of these.", param, takes, len(values)+1)
			return nil
		}
		values = append(values, value{offset: at + strings.Index(s, v), text: v})
		at += len(s) + 1
	}
	return values
}

func (p *params) refs(param, text string, r Ref, m mode) {
	prefixes := idPrefixes(r)
	takes := fmt.Sprintf("ids that start with %s, none or any", orPrefixes(prefixes))
	people := r.takes("me")
	if people {
		takes = fmt.Sprintf("names, email addresses, ids that start with %s, me, none or any", orPrefixes(prefixes))
	}
	values := p.split(param, text, takes, func(s string) bool {
		return r.takes(s) || isID(s, prefixes) || people && isName(s)
	})
	for i, v := range values {
		values[i].quoted = !r.takes(v.text) && !isID(v.text, prefixes)
	}
	if m != allOf {
		if values != nil {
			p.add(param, text, string(r), m == noneOf, values...)
		}
		return
	}
	for _, v := range values {
		p.add(param, text, string(r), false, v)
		t := &p.terms[len(p.terms)-1]
		t.offset, t.length = v.offset, len(v.text)
	}
}

// isName reports whether s can be the name of a person, and can be written as a
// phrase of the search grammar.
func isName(s string) bool {
	return utf8.ValidString(s) && !strings.HasSuffix(s, `\`) && FoldName(s) != ""
}

func orPrefixes(prefixes []string) string { return strings.Join(prefixes, " or ") }

// words parses values from a fixed vocabulary.
func (p *params) words(param, text, key string, words []string) {
	values := p.split(param, text, orList(words), func(s string) bool { return slices.Contains(words, s) })
	if values != nil {
		p.add(param, text, key, false, values...)
	}
}

// choice parses a single value of done or archived and maps it to values of the key
// "is".
func (p *params) choice(param, text string, words ...string) {
	if text == "" {
		return
	}
	if !slices.Contains(words, text) {
		p.fail(param, orList(words), "%s must be %s.", param, orList(words))
		return
	}
	switch param + "=" + text {
	case "done=true":
		p.add(param, text, "is", false, value{text: "done"})
	case "done=false":
		p.add(param, text, "is", true, value{text: "done"})
	case "archived=false":
		p.add(param, text, "is", true, value{text: "archived"})
	case "archived=true":
		p.add(param, text, "is", false, value{text: "open"}, value{text: "done"}, value{text: "archived"})
	case "archived=only":
		p.add(param, text, "is", false, value{text: "archived"})
	}
}

func (p *params) checklist(text string) {
	states := []string{"complete", "incomplete"}
	values := p.split("checklist", text, orList(states), func(s string) bool { return slices.Contains(states, s) })
	for i := range values {
		if values[i].text == "complete" {
			values[i].text = "checked"
		} else {
			values[i].text = "unchecked"
		}
	}
	if values != nil {
		p.add("checklist", text, "is", false, values...)
	}
}

// dates parses a pair of inclusive dates.
func (p *params) dates(f Field, from, to string) {
	if from == "" && to == "" {
		return
	}
	v := value{op: "..", text: "*", to: "*"}
	param, text := string(f)+"From", from
	if from == "" {
		param, text = string(f)+"To", to
	}
	if from != "" {
		if _, err := board.ParseDate(string(f)+"From", from); err != nil && p.err == nil {
			p.err = err
		}
		v.text = from
	}
	if to != "" {
		if _, err := board.ParseDate(string(f)+"To", to); err != nil && p.err == nil {
			p.err = err
		}
		v.to = to
	}
	if from != "" && to != "" && to < from {
		p.fail(string(f)+"To", "", "%sTo must not be before %sFrom.", f, f)
	}
	p.add(param, text, string(f), false, v)
}

func (p *params) sort(text string) {
	if text == "" {
		return
	}
	if !slices.Contains(sortWords, strings.TrimPrefix(text, "-")) {
		p.fail("sort", orList(sortWords), "sort must be %s, prefixed with - for descending.", orList(sortWords))
		return
	}
	p.add("sort", text, "sort", false, value{text: text})
}
