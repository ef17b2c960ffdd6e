package query_test

import (
	"slices"
	"strings"
	"testing"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

const (
	annaBell = "usr_0123456789abcdefghjkmnpqr1"
	annaCole = "usr_0123456789abcdefghjkmnpqr2"
	former   = "usr_0123456789abcdefghjkmnpqr3"
	stranger = "usr_0123456789abcdefghjkmnpqr4"
)

// envWithPeople returns an Env in which the caller sees four people, and cards refer
// to a former member.
func envWithPeople(t testing.TB) query.Env {
	e := env(t)
	e.People = func() ([]query.Person, error) {
		return []query.Person{
			{ID: ada, Name: "Ada Lovelace", Email: "ada@example.com"}, {ID: bob, Name: "Bob"}, {ID: annaBell, Name: "Anna Bell"},
			{ID: annaCole, Name: "Anna Cole"},
		}, nil
	}
	e.Names = func(ref query.Ref) ([]string, error) {
		return map[query.Ref][]string{
			query.RefLabel: {"Bug", "Bug", "Übrig"}, query.RefList: {"Doing", "Done", "Later", "Next", "Review", "To do"},
		}[ref], nil
	}
	e.Named = func(_ query.Ref, id string) (bool, error) { return id == former, nil }
	return e
}

// idsOf returns the ids of the people that a query names.
func idsOf(q query.Query) (ids []string) {
	for n := range query.Leaves(q.Where) {
		if in, ok := n.(query.In); ok {
			ids = append(ids, in.IDs...)
		}
	}
	return ids
}

func TestPersonIsFoundByUniquePrefix(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ada": ada, "ADA": ada, "Ada Lovelace": ada, "ada@example.com": ada, "b": bob, "anna b": annaBell, "Anna Cole": annaCole,
		former: former, ada: ada,
	} {
		for param, in := range map[string]query.Filter{
			"assignee": {Assignee: text}, "assigneeAll": {AssigneeAll: text}, "creatorNot": {CreatorNot: text},
			"q": {Q: `member:"` + text + `"`}, "@": {Q: `@"` + text + `"`}, "alias": {Q: `assignee:"` + text + `"`}, "commenter": {Q: `-commenter:"` + text + `"`},
		} {
			q, err := in.Parse(envWithPeople(t))
			if err != nil {
				t.Errorf("%s %q: %v", param, text, err)
				continue
			}
			if got := idsOf(q); !slices.Equal(got, []string{want}) {
				t.Errorf("%s %q: got %v, want %s", param, text, got, want)
			}
			checkQuery(t, q, envWithPeople(t))
		}
	}
}

func TestUnknownPersonIsRejected(t *testing.T) {
	t.Parallel()
	for text, wants := range map[string][]string{
		"anna":             {"several", "Anna Bell (" + annaBell + ")", "Anna Cole (" + annaCole + ")"},
		"nobodyhere":       {"no person", "Ada Lovelace"},
		"ann b":            {"no person", "include Anna Bell"},
		"bob@example.com":  {"no person"}, // an address that the caller may not see
		"none@example.com": {"no person"},
		stranger:           {"no person", "id"},
		"lovelace":         {"no person"},
	} {
		for param, in := range map[string]query.Filter{"assignee": {Assignee: text}, "creator": {Creator: text}, "q: member": {Q: `member:"` + text + `"`}} {
			_, err := in.Parse(envWithPeople(t))
			if !board.IsCode(err, board.CodeInvalidRequest) {
				t.Errorf("%s %q: got error %v, want invalid_request", param, text, err)
				continue
			}
			got := messageOf(t, err)
			for _, want := range append(wants, param+": ") {
				if !strings.Contains(got, want) {
					t.Errorf("%s %q: got error %q, want one that contains %q", param, text, got, want)
				}
			}
		}
	}
	for _, word := range []string{"owner", "user", "person"} {
		if _, err := query.ParseSearch("is:open "+word+":ada", envWithPeople(t)); err == nil || !strings.Contains(messageOf(t, err), "member:") {
			t.Errorf("%s: got error %v, want one that suggests member:", word, err)
		}
	}
}

// Saved text may contain names and ids of people who no longer exist. Such names and ids
// match nothing.
func TestUnknownPeopleInSavedText(t *testing.T) {
	t.Parallel()
	e := envWithPeople(t)
	if _, err := (query.Filter{}).Within("member:"+stranger, e); err != nil {
		t.Error(err)
	}
	if _, err := (query.Filter{}).Within("member:gone", e); err == nil {
		t.Error("saving an unknown name: got no error, want one")
	}
	e.Lenient = query.SavedParam
	q, err := query.Filter{}.Within("member:gone", e)
	if err != nil || show(q) != show(query.Query{Where: query.And{query.Or{}}, Archived: query.ArchivedNo}) {
		t.Errorf("saved text with an unknown name: got %s (%v), want a query that matches nothing", show(q), err)
	}
	if _, err := (query.Filter{Assignee: "gone"}).Within("", e); err == nil {
		t.Error("an unknown name in an additional filter: got no error, want one")
	}
}

// The name of a board, list or label that the caller cannot see is an error that suggests names.
func TestUnknownNamesAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"label:bug":                  "",
		`-label:ÜBRIG list:"to do"`:  "",
		"label:none,bug":             "",
		"label:" + bug:               "",
		"label:bugs":                 "no label you can see has that name; labels you can see include Bug and Übrig (at offset 6)",
		"is:open -label:bug,feature": "no label you can see has that name; labels you can see include Bug and Übrig (at offset 19)",
		"list:do":                    "lists you can see include Doing, Done, Later, Next and Review",
		"board:Launch":               "board: no board you can see has that name (at offset 6)",
	} {
		_, err := query.Filter{Q: text}.Parse(envWithPeople(t))
		if want == "" && err != nil || want != "" && (!board.IsCode(err, board.CodeInvalidRequest) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	e := envWithPeople(t)
	e.Lenient = query.SavedParam
	if _, err := (query.Filter{Q: "is:open"}).Within("label:gone", e); err != nil {
		t.Errorf("saved filter: got %v, want no error", err)
	}
}
