package query

import (
	"slices"
	"strings"
)

// resolver creates nodes from validated terms.
type resolver struct {
	env      Env
	days     calendar
	archived Archived
}

// node returns the condition of a term, before its negation.
func (r resolver) node(t *term) (Node, error) {
	switch t.kind {
	case kindIs:
		return r.is(t), nil
	case kindRef:
		return r.ref(t)
	case kindStatus:
		var s StatusIs
		for _, v := range t.values {
			s.Any = addOnce(s.Any, v.text)
		}
		return s, nil
	}
	nodes := make([]Node, len(t.values))
	for i, v := range t.values {
		switch t.kind {
		case kindHas:
			nodes[i] = Has{Thing(v.text)}
		case kindNo:
			nodes[i] = Not{Has{Thing(v.text)}}
		case kindPlan, kindPast:
			nodes[i] = r.days.node(v, Field(t.key), t.kind)
		default:
			place := Place(t.key)
			if t.key == "" {
				place = Anywhere
			}
			nodes[i] = Text{Place: place, Words: Words(v.text), Prefix: v.prefix}
		}
	}
	return either(nodes...), nil
}

// is returns the condition of a term with the key "is". It omits the part that
// Query.Archived already expresses.
func (r resolver) is(t *term) Node {
	switch {
	case t.only("archived") && !t.negated: // then r.archived is ArchivedOnly
		return And{}
	case t.only("archived") && r.archived == ArchivedNo:
		return Or{}
	case t.names("open") && t.names("done") && t.names("archived"):
		return And{}
	}
	nodes := make([]Node, len(t.values))
	for i, v := range t.values {
		switch v.text {
		case "open":
			nodes[i] = Not{IsDone{}}
			if r.archived != ArchivedNo {
				nodes[i] = And{Not{IsDone{}}, Not{IsArchived{}}}
			}
		case "done":
			nodes[i] = IsDone{}
		case "archived":
			nodes[i] = IsArchived{}
		case "overdue":
			nodes[i] = r.days.overdue(FieldDue)
		case "assigned":
			nodes[i] = Has{ThingAssignee}
		case "unassigned":
			nodes[i] = Not{Has{ThingAssignee}}
		case "checked", "unchecked":
			nodes[i] = ChecklistIs{Complete: v.text == "checked"}
		}
	}
	return either(nodes...)
}

// ref returns the condition of a term that refers to records. It collects ids, names
// and emails in one In, so that they become one subquery.
func (r resolver) ref(t *term) (Node, error) {
	in := In{Ref: Ref(t.key)}
	var nodes []Node
	for i, v := range t.values {
		switch v.special(in.Ref) {
		case "me":
			if r.env.Me == "" {
				return nil, t.fail(i, "%s cannot be me here, because the query is not run by a person; "+
					"give an id", t.key)
			}
			in.IDs = addOnce(in.IDs, r.env.Me)
			continue
		case "any":
			nodes = append(nodes, someRef(in.Ref))
			continue
		case "none":
			nodes = append(nodes, negate(someRef(in.Ref)))
			continue
		}
		if in.Ref.takes("me") && r.env.People != nil {
			ids, err := r.person(t, i)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				in.IDs = addOnce(in.IDs, id)
			}
			continue
		}
		id := strings.ToLower(v.text)
		name := FoldName(v.text)
		switch {
		case isID(id, idPrefixes(in.Ref)):
			in.IDs = addOnce(in.IDs, id)
		case in.Ref.takes("me") && isEmail(name):
			in.Emails = addOnce(in.Emails, name)
		default:
			if err := r.known(t, i, name); err != nil {
				return nil, err
			}
			in.Names = addOnce(in.Names, name)
		}
	}
	if in.IDs != nil || in.Names != nil || in.Emails != nil {
		nodes = append([]Node{in}, nodes...)
	}
	return either(nodes...), nil
}

// known returns an error if value i of a term, the folded name of a board, list or label, is not
// the name of one.
func (r resolver) known(t *term, i int, name string) error {
	if r.env.Names == nil || t.param == r.env.Lenient {
		return nil
	}
	names, err := r.env.Names(Ref(t.key))
	if err != nil || slices.ContainsFunc(names, func(other string) bool { return FoldName(other) == name }) {
		return err
	}
	return t.fail(i, "%sno %s you can see has that name%s", r.keyPrefix(t), t.key, suggestions(t.key+"s", names, name))
}

// someRef returns the condition that the card has any record of the kind. Every card
// has a board and a list.
func someRef(r Ref) Node {
	switch r {
	case RefLabel:
		return Has{ThingLabel}
	case RefMember:
		return Has{ThingAssignee}
	case RefCreator:
		return Has{ThingCreator}
	case RefCommenter:
		return Has{ThingComment}
	default:
		return And{}
	}
}

func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	return at > 0 && at < len(s)-1 && !strings.ContainsRune(s, ' ')
}

func addOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
