package query_test

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

// checkQuery checks properties that every query must have.
func checkQuery(t fataler, q query.Query, e query.Env) {
	s := q.String()
	again, err := query.ParseSearch(s, e)
	if err != nil {
		t.Fatalf("parse %q again: %v", s, err)
	}
	if show(again) != show(q) || !reflect.DeepEqual(again.Where, q.Where) {
		t.Fatalf("parse %q again:\n got %s\nwant %s", s, show(again), show(q))
	}
	if again.String() != s {
		t.Fatalf("String of the parsed text: got %q, want %q", again, s)
	}
	var texts []string
	for _, term := range q.Echo() {
		texts = append(texts, term.Text)
	}
	if strings.Join(texts, " ") != s {
		t.Fatalf("Echo: got %q, want the terms of %q", texts, s)
	}
	checkNode(t, q.Where, 0)
}

// checkNode checks that a tree has the documented shape.
func checkNode(t fataler, n query.Node, depth int) {
	if depth > 5 {
		t.Fatalf("the tree is nested more than five levels deep at %s", showNode(n))
	}
	switch n := n.(type) {
	case query.And:
		for _, m := range n {
			checkNode(t, m, depth+1)
		}
	case query.Or:
		for _, m := range n {
			checkNode(t, m, depth+1)
		}
	case query.Not:
		checkNode(t, n.Node, depth+1)
	case query.In:
		if len(n.IDs)+len(n.Names)+len(n.Emails) == 0 {
			t.Fatalf("got an In without a value")
		}
		for _, s := range append(append([]string{}, n.Names...), n.Emails...) {
			if s == "" || s != query.FoldName(s) {
				t.Fatalf("got the name %q, want it folded", s)
			}
		}
	case query.Text:
		if len(n.Words) == 0 || strings.Join(query.Words(strings.Join(n.Words, " ")), " ") != strings.Join(n.Words, " ") {
			t.Fatalf("got a Text with the words %q, want results of Words", n.Words)
		}
	case query.Range:
		if !n.From.Bounded() && !n.To.Bounded() {
			t.Fatalf("got a Range without a bounded edge")
		}
	case nil:
		t.Fatalf("got a nil node")
	}
}

// checkSearch checks that text is either parsed into terms with correct offsets or
// rejected with invalid_request.
func checkSearch(t fataler, text string, e query.Env) {
	q, err := query.ParseSearch(text, e)
	if err != nil {
		if !board.IsCode(err, board.CodeInvalidRequest) {
			t.Fatalf("%q: got error %v, want invalid_request", text, err)
		}
		return
	}
	end := 0
	for _, term := range q.Echo() {
		if term.Offset < end || term.Length <= 0 || term.Offset+term.Length > len(text) {
			t.Fatalf("%q: the term %+v has a wrong offset or length", text, term)
		}
		end = term.Offset + term.Length
	}
	checkQuery(t, q, e)
}

// grammar returns a generator of strings that resemble queries.
func grammar() *rapid.Generator[string] {
	pieces := rapid.SampledFrom([]string{
		" ", " ", " ", "-", "\"", "\"", "\\", "\\\"", ",", ":", "*", "..", ">", ">=", "<", "<=", "@", "#", "\t", "\u00a0", "\x00",
		"\xff", "é", "日", "🎉",
		"is:", "is:open", "is:archived", "is:done,archived", "has:", "has:due", "no:label", "board:", "list:", "label:", "label:none",
		"member:", "member:me",
		"creator:any", "commenter:", "due:", "due:week", "due:7", "due:2026-03-01..today", "start:overdue", "created:", "edited:3",
		"completed:>2026-01-01",
		"title:", "description:x*", "comment:\"a b\"", "checklist:", "status:on-track", "sort:", "sort:-due", "foo:", "me", "none",
		"any", "ada@example.com", "a", "b c", bug, ada,
	})
	return rapid.Custom(func(r *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(pieces, pieces, pieces, text()), 0, 12).Draw(r, "pieces"), "")
	})
}

func TestSearchRoundTrip(t *testing.T) {
	e := env(t)
	rapid.Check(t, func(r *rapid.T) { checkSearch(r, grammar().Draw(r, "text"), e) })
}

// valid returns a generator of valid queries. Random strings alone would mostly test
// rejections.
func valid() *rapid.Generator[string] {
	terms := rapid.SampledFrom([]string{
		"login", "-login", "rel*", `"exact phrase"`, `-"no \" way"`, "@ada", "@me,bob", `@"Ada L",@bob`, "#bug", "-#none", "is:open",
		"is:archived", "-is:archived",
		"is:done,archived", "is:open,done,archived", "is:overdue,unassigned", "has:due,label", "no:start", "board:x", `list:"To do",none`, "label:" + bug + ",any",
		"creator:me,none", "commenter:a@b.c", "due:overdue,none", "start:3", "due:*..today", "created:>=2026-01-01", "edited:5",
		"completed:*..*", "title:a,b*",
		"status:at-risk", "🎉", "http://x.y", `"open`, `@"open`, `#"`, "@@x", `@@"x`, "--x", "-", "member:@@me", "is:checked", "@a,",
		"label:a\"b", "a\\", `"x\`,
	})
	return rapid.Custom(func(r *rapid.T) string {
		return strings.Join(rapid.SliceOfN(terms, 0, 8).Draw(r, "terms"), " ")
	})
}

func TestFilterRoundTrip(t *testing.T) {
	e := env(t)
	ids := func(values ...string) *rapid.Generator[string] {
		return rapid.Custom(func(r *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(values), 0, 3).Draw(r, "values"), ",")
		})
	}
	optional := func(values ...string) *rapid.Generator[string] { return rapid.SampledFrom(append(values, "", "")) }
	from, to := optional("2026-01-01", "1900-01-01"), optional("2026-01-01", "2999-12-31")
	rapid.Check(t, func(r *rapid.T) {
		lists, labels, people := ids(todo, "none", "any"), ids(bug, task, "none", "any"), ids(ada, bob, "me", "none", "any")
		f := query.Filter{
			List: lists.Draw(r, "list"), ListNot: lists.Draw(r, "listNot"),
			Label: labels.Draw(r, "label"), LabelAll: labels.Draw(r, "labelAll"), LabelNot: labels.Draw(r, "labelNot"),
			Assignee: people.Draw(r, "assignee"), AssigneeAll: people.Draw(r, "assigneeAll"), AssigneeNot: people.Draw(r, "assigneeNot"),
			Creator: people.Draw(r, "creator"), CreatorNot: people.Draw(r, "creatorNot"),
			Done: optional("true", "false").Draw(r, "done"), Archived: optional("true", "false", "only").Draw(r, "archived"),
			Due:     ids("overdue", "today", "tomorrow", "week", "calendarweek", "next7", "month", "none", "any").Draw(r, "due"),
			DueFrom: from.Draw(r, "dueFrom"), DueTo: to.Draw(r, "dueTo"),
			CreatedFrom: from.Draw(r, "createdFrom"), CompletedTo: to.Draw(r, "completedTo"),
			Has: ids("due", "label").Draw(r, "has"), No: ids("start", "comment").Draw(r, "no"),
			Checklist: ids("complete", "incomplete").Draw(r, "checklist"), Q: valid().Draw(r, "q"),
			Sort: optional("due", "-title").Draw(r, "sort"),
		}
		q, err := f.Within(valid().Draw(r, "saved"), e)
		if err != nil {
			r.Fatalf("%+v: %v", f, err)
		}
		checkQuery(r, q, e)
	})
}

func FuzzParseSearch(f *testing.F) {
	for _, s := range []string{
		"", `-label:"a b",c #x @y "p \" q" w* due:>=2026-01-01 created:2026-01-01..* sort:-due`,
		`"`, `\"`, `@"`, `-@"a`, `#"" "`, "label:,", "due:....", "@a,@,b", "is:archived,done -is:open", "@@\"x\\", "\xff\xfe:",
		"title:é\u0301*", "🎉",
		"due:\"2026-01-01\"..\"today\"", "member:@\"x", "label:\"a\\\\\"b\"", "\xf4ù",
	} {
		f.Add(s)
	}
	e := env(f)
	f.Fuzz(func(t *testing.T, s string) {
		checkSearch(t, s, e)
		checkFolding(t, s)
	})
}

func FuzzFilter(f *testing.F) {
	f.Add("any,"+bug, "me,none", "week,overdue", "2026-01-01", "complete", `"open`, "is:archived", "-due")
	f.Add(bug, "me", "", "2999-12-31", "incomplete,complete", "a b", `@"x`, "")
	f.Add(",", " me", "none, any", "0000-00-00", "", "sort:due", "sort:due", "title")
	e := env(f)
	f.Fuzz(func(t *testing.T, labels, people, due, date, checklist, q, saved, sort string) {
		in := query.Filter{
			Label: labels, LabelAll: labels, LabelNot: labels, Assignee: people, AssigneeAll: people, CreatorNot: people,
			Due: due, DueFrom: date, StartTo: date, Checklist: checklist, Q: q, Sort: sort,
		}
		got, err := in.Within(saved, e)
		if err != nil {
			if !board.IsCode(err, board.CodeInvalidRequest) {
				t.Fatalf("%+v: got error %v, want invalid_request", in, err)
			}
			return
		}
		if len(got.Echo()) > query.MaxTerms || len(got.String()) > query.MaxTextBytes {
			return // the text exceeds the limits of ParseSearch
		}
		checkQuery(t, got, e)
	})
}

func BenchmarkParseSearch(b *testing.B) {
	e := env(b)
	typical := `is:open label:bug,"needs review" @me due:week -#wontfix login time* "exact phrase" sort:-due`
	for name, text := range map[string]string{
		"typical":       typical,
		"hostileWord":   strings.Repeat("é\u0301\u202e\"", query.MaxTextBytes/8),
		"hostileQuotes": strings.Repeat(`@"" `, query.MaxTextBytes/4),
		"hostileValues": "@" + strings.Repeat("a,@", query.MaxTextBytes/3),
		"hostilePhrase": `"` + strings.Repeat(`\"`, query.MaxTextBytes/2-1),
		"hostileSpaces": `@"` + strings.Repeat(" ", query.MaxTextBytes-3) + `"`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _ = query.ParseSearch(text, e)
			}
		})
	}
}
