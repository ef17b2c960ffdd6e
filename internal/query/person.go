package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Person is someone whom the caller can see.
type Person struct {
	ID, Name string
	Email    string // "" if the caller may not see it
}

// maxCandidates is the maximum number of names that an error lists.
const maxCandidates = 5

// person returns the ids of the people that value i of a term refers to: exactly
// one, unless the parameter is lenient.
func (r resolver) person(t *term, i int) ([]string, error) {
	lenient := t.param == r.env.Lenient
	ref, text := Ref(t.key), t.values[i].text
	people, err := r.env.People()
	if err != nil {
		return nil, err
	}
	if id := strings.ToLower(text); isID(id, idPrefixes(ref)) {
		known := lenient || t.param == SavedParam || !strings.HasPrefix(id, "usr_") ||
			slices.ContainsFunc(people, func(p Person) bool { return p.ID == id })
		if !known {
			known, err = r.env.Named(ref, id)
		}
		if known || err != nil {
			return []string{id}, err
		}
		return nil, t.fail(i, "%sno person you can see has that id%s", r.keyPrefix(t), suggestions("people", namesOf(people), ""))
	}
	name := FoldName(text)
	found := matching(people, name)
	switch {
	case lenient:
	case len(found) == 0:
		return nil, t.fail(i, "%sno person you can see has that name or email "+
			"address%s", r.keyPrefix(t), suggestions("people", namesOf(people), name))
	case len(found) > 1:
		return nil, t.fail(i, "%sseveral people match that name: %s; write more of the name, "+
			"or an id", r.keyPrefix(t), listed(namesAndIDs(found)))
	}
	ids := make([]string, len(found))
	for n, p := range found {
		ids[n] = p.ID
	}
	return ids, nil
}

// keyPrefix returns the name of the key for the start of an error, or "" if the name of
// the parameter already identifies the key.
func (r resolver) keyPrefix(t *term) string {
	if t.param == SavedParam || t.param == r.env.name() {
		return t.key + ": "
	}
	return ""
}

// matching returns the people that a folded text refers to. It tries the email
// address, then the full name, then the start of the name, and returns all matches of
// the first of these that matches.
func matching(people []Person, name string) []Person {
	filter := func(matches func(Person) bool) []Person {
		return slices.DeleteFunc(slices.Clone(people), func(p Person) bool { return !matches(p) })
	}
	if isEmail(name) {
		if found := filter(func(p Person) bool { return p.Email != "" && FoldName(p.Email) == name }); len(found) > 0 {
			return found
		}
	}
	if found := filter(func(p Person) bool { return FoldName(p.Name) == name }); len(found) > 0 {
		return found
	}
	return filter(func(p Person) bool { return strings.HasPrefix(FoldName(p.Name), name) })
}

func namesOf(people []Person) (names []string) {
	for _, p := range people {
		names = append(names, p.Name)
	}
	return names
}

func namesAndIDs(people []Person) (names []string) {
	for _, p := range people {
		names = append(names, fmt.Sprintf("%s (%s)", p.Name, p.ID))
	}
	return names
}

// suggestions returns the end of an error that lists the names, of records of a kind, that are
// most similar to a folded name.
func suggestions(kind string, names []string, name string) string {
	if len(names) == 0 {
		return ""
	}
	similarity := func(other string) int { // length of the common prefix
		folded, n := FoldName(other), 0
		for n < min(len(name), len(folded)) && name[n] == folded[n] {
			n++
		}
		return n
	}
	sorted := slices.Compact(slices.SortedFunc(slices.Values(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(similarity(b), similarity(a)), cmp.Compare(a, b))
	}))
	return "; " + kind + " you can see include " + listed(sorted[:min(len(sorted), maxCandidates)])
}

// listed returns the first few names, and the number of the others.
func listed(names []string) string {
	if more := len(names) - maxCandidates; more > 0 {
		names = append(slices.Clone(names[:maxCandidates]), fmt.Sprintf("%d more", more))
	}
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
