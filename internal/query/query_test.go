package query_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

const (
	ada  = "usr_0123456789abcdefghjkmnpqrs"
	bob  = "usr_1123456789abcdefghjkmnpqrs"
	bug  = "lbl_0123456789abcdefghjkmnpqrs"
	task = "lbl_1123456789abcdefghjkmnpqrs"
	todo = "lst_0123456789abcdefghjkmnpqrs"
	home = "brd_0123456789abcdefghjkmnpqrs"
	bot  = "itg_0123456789abcdefghjkmnpqrs"
)

// env returns an Env whose time is 15:30 on Wednesday, 11 March 2026, in Zurich.
// Daylight saving time begins there on 29 March.
func env(t testing.TB) query.Env {
	t.Helper()
	return query.Env{Now: time.Date(2026, 3, 11, 14, 30, 0, 0, time.UTC), Zone: zone(t, "Europe/Zurich"), Me: ada}
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// show formats the tree, the archived mode and the order of a query as a short string for
// test tables.
func show(q query.Query) string {
	s := showNode(q.Where)
	if q.Archived != query.ArchivedNo {
		s += " archived=" + string(q.Archived)
	}
	if q.Sort.By != query.SortNone || q.Sort.Desc {
		s += fmt.Sprintf(" sort=%s/%v", q.Sort.By, q.Sort.Desc)
	}
	return s
}

func showNode(n query.Node) string {
	switch n := n.(type) {
	case query.And:
		return "and(" + showAll(n) + ")"
	case query.Or:
		return "or(" + showAll(n) + ")"
	case query.Not:
		return "not(" + showNode(n.Node) + ")"
	case query.In:
		s := string(n.Ref)
		for _, l := range []struct {
			mark   string
			values []string
		}{{" id", n.IDs}, {" name", n.Names}, {" email", n.Emails}} {
			if l.values != nil {
				s += l.mark + "=" + strings.Join(l.values, "|")
			}
		}
		return s
	case query.Has:
		return "has " + string(n.Thing)
	case query.IsDone:
		return "done"
	case query.IsArchived:
		return "archived"
	case query.ChecklistIs:
		return fmt.Sprintf("checklist complete=%v", n.Complete)
	case query.StatusIs:
		return "status " + strings.Join(n.Any, "|")
	case query.Range:
		return string(n.Field) + "[" + showEdge(n.From) + "," + showEdge(n.To) + ")"
	case query.Text:
		s := string(n.Place) + ":" + strings.Join(n.Words, "_")
		if n.Prefix {
			s += "*"
		}
		return s
	}
	return fmt.Sprintf("unknown %#v", n)
}

func showAll(nodes []query.Node) string {
	var parts []string
	for _, n := range nodes {
		parts = append(parts, showNode(n))
	}
	return strings.Join(parts, ", ")
}

func showEdge(e query.Edge) string {
	if !e.Bounded() {
		if e.At != 0 {
			return "unbounded with an instant"
		}
		return ""
	}
	return e.Day + "=" + e.At.Time().Format("0102T1504Z")
}

// messageOf returns the message of an invalid_request error. Any other error fails
// the test.
func messageOf(t testing.TB, err error) string {
	t.Helper()
	f, ok := board.AsFault(err)
	if !ok || f.Code != board.CodeInvalidRequest {
		t.Fatalf("got error %v, want invalid_request", err)
	}
	if !strings.HasSuffix(f.Message, ".") {
		t.Errorf("got message %q, want a sentence", f.Message)
	}
	return f.Message
}

func TestEcho(t *testing.T) {
	q, err := query.Filter{
		LabelAll: bug + "," + task, Done: "false", DueTo: "2026-03-31",
		Q: `  -@"Ada L",bob "say \"hi\"" rel* 🎉 EDITED:7`,
	}.Parse(env(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []query.Term{
		{Key: "label", Values: []string{bug}, Text: "label:" + bug, Param: "labelAll", Offset: 0, Length: 30},
		{Key: "label", Values: []string{task}, Text: "label:" + task, Param: "labelAll", Offset: 31, Length: 30},
		{Key: "is", Negated: true, Values: []string{"done"}, Text: "-is:done", Param: "done", Length: 5},
		{Key: "due", Values: []string{"*..2026-03-31"}, Text: "due:*..2026-03-31", Param: "dueTo", Length: 10},
		{Key: "member", Negated: true, Values: []string{"Ada L", "bob"}, Text: `-member:"Ada L",bob`, Param: "q", Offset: 2, Length: 13},
		{Key: "text", Values: []string{`say "hi"`}, Text: `"say \"hi\""`, Param: "q", Offset: 16, Length: 12},
		{Key: "text", Values: []string{"rel*"}, Text: "rel*", Param: "q", Offset: 29, Length: 4},
		{Key: "text", Values: []string{"🎉"}, Text: "🎉", Param: "q", Offset: 34, Length: 4, Ignored: true},
		{Key: "updated", Values: []string{"7"}, Text: "updated:7", Param: "q", Offset: 39, Length: 8},
	}
	got := q.Echo()
	if len(got) != len(want) {
		t.Fatalf("got %d terms, want %d: %+v", len(got), len(want), got)
	}
	var texts []string
	for i := range want {
		if g, w := fmt.Sprintf("%+v", got[i]), fmt.Sprintf("%+v", want[i]); g != w {
			t.Errorf("term %d:\n got %s\nwant %s", i, g, w)
		}
		texts = append(texts, want[i].Text)
	}
	if want := strings.Join(texts, " "); q.String() != want {
		t.Errorf("String\n got %s\nwant %s", q, want)
	}
	if q, err = query.ParseSearch("@ada, hello", env(t)); err != nil || len(q.Echo()) != 2 || q.String() != "member:ada hello" {
		t.Errorf("a comma after a short form: got %q (%v), want two terms without the comma", q, err)
	}
	if e := (query.Query{}).Echo(); e == nil || len(e) != 0 {
		t.Errorf("Echo of the zero Query: got %#v, want an empty slice", e)
	}
}

func TestLeaves(t *testing.T) {
	q, err := query.ParseSearch("a -#b is:overdue,done title:c,d", env(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for n := range query.Leaves(q.Where) {
		got = append(got, fmt.Sprintf("%T", n))
	}
	want := "query.Text query.In query.Range query.IsDone query.IsDone query.Text query.Text"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	for range query.Leaves(q.Where) {
		break // the iterator would panic if it continued
	}
}

func TestResolved(t *testing.T) {
	t.Parallel()
	resolved := func(text string, e query.Env) (string, bool) {
		t.Helper()
		q, err := query.ParseSearch(text, e)
		if err != nil {
			t.Fatal(err)
		}
		return q.Resolved()
	}
	people := func() ([]query.Person, error) { return []query.Person{{ID: bob, Name: "Bob"}}, nil }
	later, nextDay, elsewhere, other, known := env(t), env(t), env(t), env(t), env(t)
	later.Now = later.Now.Add(time.Hour)
	nextDay.Now = nextDay.Now.Add(24 * time.Hour)
	elsewhere.Zone = time.UTC
	other.Me = bob
	known.People = people
	for _, c := range []struct {
		text string
		env  query.Env
		same bool // as in env(t)
	}{
		{"due:today is:open", later, true}, {"due:today", nextDay, false}, {"due:today", elsewhere, false}, {"@me", later, true},
		{"@me", other, false}, {"label:bug word", other, true},
	} {
		want, _ := resolved(c.text, env(t))
		if got, ok := resolved(c.text, c.env); !ok || (got == want) != c.same {
			t.Errorf("%s is resolved to %q and %q (%v); want equal %v", c.text, want, got, ok, c.same)
		}
	}
	for text, want := range map[string]bool{
		"": true, "overdue": true, "label:overdue": true,
		"is:overdue": false, "-due:today,overdue": false, "@bob": false, "creator:a@example.org": false,
	} {
		if _, ok := resolved(text, env(t)); ok != want {
			t.Errorf("%s: Resolved returns %v, want %v", text, ok, want)
		}
	}
	if got, ok := resolved("@bob", known); !ok || !strings.Contains(got, bob) {
		t.Errorf("@bob is resolved to %q (%v), want an id", got, ok)
	}
}
