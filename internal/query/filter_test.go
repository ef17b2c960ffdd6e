package query_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"cardwall/internal/query"
)

type filter = query.Filter

func TestFilter(t *testing.T) {
	const late = "and(due[,2026-03-11=0311T1430Z), not(done))"
	for _, c := range []struct {
		in   filter
		want string
	}{
		{filter{}, "and()"},
		{filter{TimeZone: "Asia/Tokyo"}, "and()"},
		{filter{List: todo}, "and(list id=" + todo + ")"},
		{filter{ListNot: todo + ",none"}, "and(not(list id=" + todo + "))"},
		{filter{List: "any"}, "and()"},
		{filter{Label: bug + ", " + task}, "and(label id=" + bug + "|" + task + ")"},
		{filter{Label: "none," + bug}, "and(or(label id=" + bug + ", not(has label)))"},
		{filter{LabelAll: bug + "," + task}, "and(label id=" + bug + ", label id=" + task + ")"},
		{filter{LabelNot: bug + "," + task}, "and(not(label id=" + bug + "|" + task + "))"},
		{filter{LabelNot: "any"}, "and(not(has label))"},
		{filter{Assignee: "me," + bob}, "and(member id=" + ada + "|" + bob + ")"},
		{filter{Assignee: "none"}, "and(not(has assignee))"},
		{filter{AssigneeAll: "me," + bob}, "and(member id=" + ada + ", member id=" + bob + ")"},
		{filter{AssigneeNot: "me"}, "and(not(member id=" + ada + "))"},
		{filter{Creator: "me," + bot}, "and(creator id=" + ada + "|" + bot + ")"},
		{filter{CreatorNot: "none"}, "and(has creator)"},
		{filter{Done: "true"}, "and(done)"},
		{filter{Done: "false"}, "and(not(done))"},
		{filter{Archived: "false"}, "and()"},
		{filter{Archived: "true"}, "and() archived=all"},
		{filter{Archived: "only"}, "and() archived=only"},
		{filter{Archived: "true", Done: "false"}, "and(not(done)) archived=all"},
		{filter{Archived: "true", Q: "is:archived"}, "and() archived=only"},
		{filter{Archived: "false", Q: "is:archived"}, "and(not(archived)) archived=only"},
		{filter{Due: "overdue"}, late},
		{filter{Due: "overdue,none"}, "and(or(" + late + ", not(has due)))"},
		{filter{Due: "any"}, "and(has due)"},
		{filter{Due: "today,tomorrow"}, "and(or(due[2026-03-11=0310T2300Z,2026-03-12=0311T2300Z), " +
			"due[2026-03-12=0311T2300Z,2026-03-13=0312T2300Z)))"},
		{filter{Due: "calendarweek"}, "and(due[2026-03-09=0308T2300Z,2026-03-16=0315T2300Z))"},
		{filter{Due: "week"}, "and(due[2026-03-11=0310T2300Z,2026-03-18=0317T2300Z))"},
		{filter{Due: "next7"}, "and(due[2026-03-11=0310T2300Z,2026-03-18=0317T2300Z))"},
		{filter{Due: "month"}, "and(due[2026-03-01=0228T2300Z,2026-04-01=0331T2200Z))"},
		{filter{DueFrom: "2026-03-11"}, "and(due[2026-03-11=0310T2300Z,))"},
		{filter{DueTo: "2026-03-11"}, "and(due[,2026-03-12=0311T2300Z))"},
		{filter{DueFrom: "2026-03-11", DueTo: "2026-03-11"}, "and(due[2026-03-11=0310T2300Z,2026-03-12=0311T2300Z))"},
		{filter{StartFrom: "2026-03-11"}, "and(start[2026-03-11=0310T2300Z,))"},
		{filter{StartTo: "2026-03-11"}, "and(start[,2026-03-12=0311T2300Z))"},
		{filter{CreatedFrom: "2026-03-11"}, "and(created[2026-03-11=0310T2300Z,))"},
		{filter{CreatedTo: "2026-03-11"}, "and(created[,2026-03-12=0311T2300Z))"},
		{filter{UpdatedFrom: "2026-03-11"}, "and(updated[2026-03-11=0310T2300Z,))"},
		{filter{UpdatedTo: "2026-03-11"}, "and(updated[,2026-03-12=0311T2300Z))"},
		{filter{CompletedFrom: "2026-03-11"}, "and(completed[2026-03-11=0310T2300Z,))"},
		{filter{CompletedTo: "2026-03-11"}, "and(completed[,2026-03-12=0311T2300Z))"},
		{filter{Has: "description,checklist,comment,due,start,assignee,label"},
			"and(or(has description, has checklist, has comment, has due, has start, has assignee, has label))"},
		{filter{No: "due,label"}, "and(or(not(has due), not(has label)))"},
		{filter{Checklist: "complete"}, "and(checklist complete=true)"},
		{filter{Checklist: "incomplete,complete"}, "and(or(checklist complete=false, checklist complete=true))"},
		{filter{Q: "login sort:due"}, "and(any:login) sort=due/false"},
		{filter{Q: "login sort:due", Sort: "-title"}, "and(any:login) sort=title/true"},
		{filter{Label: bug, Q: "🎉"}, "and(label id=" + bug + ")"},
	} {
		q, err := c.in.Parse(env(t))
		if err != nil {
			t.Errorf("%+v: %v", c.in, err)
			continue
		}
		if got := show(q); got != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestInvalidFilters(t *testing.T) {
	const planned = "overdue, today, tomorrow, week, calendarweek, next7, month, none or any"
	const things = "description, checklist, comment, attachment, due, start, assignee or label"
	const date = " must be a date in the form YYYY-MM-DD between the years 1900 and 2999."
	nth := func(param, takes string, n int) string {
		return fmt.Sprintf("%s takes %s, separated by commas; value %d is not one of these.", param, takes, n)
	}
	people := func(prefix string) string {
		return "names, email addresses, ids that start with " + prefix + ", me, none or any"
	}
	ids := func(prefix, words string) string { return "ids that start with " + prefix + ", " + words }
	for _, c := range []struct {
		in   filter
		want string
	}{
		{filter{List: "Doing"}, nth("list", ids("lst_", "none or any"), 1)},
		{filter{ListNot: todo + ",me"}, nth("listNot", ids("lst_", "none or any"), 2)},
		{filter{Label: bug + ","}, nth("label", ids("lbl_", "none or any"), 2)},
		{filter{LabelAll: bug[:29]}, nth("labelAll", ids("lbl_", "none or any"), 1)},
		{filter{LabelNot: strings.ToUpper(bug)}, nth("labelNot", ids("lbl_", "none or any"), 1)},
		{filter{Assignee: "ada,"}, nth("assignee", people("usr_"), 2)},
		{filter{AssigneeAll: `ada\`}, nth("assigneeAll", people("usr_"), 1)},
		{filter{AssigneeNot: " "}, nth("assigneeNot", people("usr_"), 1)},
		{filter{Creator: "\u200b"}, nth("creator", people("usr_ or itg_"), 1)},
		{filter{CreatorNot: "x,,y"}, nth("creatorNot", people("usr_ or itg_"), 2)},
		{filter{Label: strings.Repeat("any,", 50) + "any"}, "label takes at most 50 values."},
		{filter{Label: "any," + strings.Repeat("a", 201)}, "label takes values of at most 200 bytes; value 2 is longer."},
		{filter{Done: "yes"}, "done must be true or false."},
		{filter{Archived: "all"}, "archived must be false, true or only."},
		{filter{Due: "today,soon"}, nth("due", planned, 2)},
		{filter{Due: "7"}, nth("due", planned, 1)},
		{filter{DueFrom: "today"}, "dueFrom" + date},
		{filter{DueTo: "2026-02-30"}, "dueTo" + date},
		{filter{StartFrom: "x"}, "startFrom" + date},
		{filter{StartTo: "3000-01-01"}, "startTo" + date},
		{filter{CreatedFrom: "2026-1-1"}, "createdFrom" + date},
		{filter{CreatedTo: "x"}, "createdTo" + date},
		{filter{UpdatedFrom: "x"}, "updatedFrom" + date},
		{filter{UpdatedTo: "x"}, "updatedTo" + date},
		{filter{CompletedFrom: "x"}, "completedFrom" + date},
		{filter{CompletedFrom: "2026-01-01", CompletedTo: "x"}, "completedTo" + date},
		{filter{DueFrom: "2026-02-01", DueTo: "2026-01-31"}, "dueTo must not be before dueFrom."},
		{filter{Has: "cat"}, nth("has", things, 1)},
		{filter{No: "due,"}, nth("no", things, 2)},
		{filter{Checklist: "done"}, nth("checklist", "complete or incomplete", 1)},
		{filter{Sort: "size"}, "sort must be position, due, start, created, updated, title or relevance, prefixed with - for descending."},
		{filter{Sort: "--due"}, "sort must be position, due, start, created, updated, title or relevance, prefixed with - for descending."},
		{filter{Q: "is:open no:x"}, "q: no takes " + things + " (at offset 11)."},
		{filter{Q: strings.Repeat("x", 16385)}, "q must not be longer than 16384 bytes."},
	} {
		_, err := c.in.Parse(env(t))
		if err == nil {
			t.Errorf("%+v: got no error, want %s", c.in, c.want)
			continue
		}
		if got := messageOf(t, err); got != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
	e := env(t)
	e.Me = ""
	_, err := filter{Assignee: bob + ",me"}.Parse(e)
	if got, want := messageOf(t, err), "assignee: member cannot be me here, because the query is not run by a person; give an id (at "+
		"offset 31)."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFilterWithinSavedText(t *testing.T) {
	for _, c := range []struct {
		saved string
		in    filter
		want  string
	}{
		{"#bug sort:due", filter{}, "and(label name=bug) sort=due/false"},
		{"#bug sort:due", filter{Q: "x sort:title"}, "and(label name=bug, any:x) sort=title/false"},
		{"#bug sort:due", filter{Q: "x sort:title", Sort: "start"}, "and(label name=bug, any:x) sort=start/false"},
		{"is:archived", filter{Done: "true"}, "and(done) archived=only"},
		{`"open`, filter{Q: `shut"`}, "and(any:open, any:shut)"},
	} {
		q, err := c.in.Within(c.saved, env(t))
		if err != nil {
			t.Errorf("%q, %+v: %v", c.saved, c.in, err)
			continue
		}
		if got := show(q); got != c.want {
			t.Errorf("%q, %+v:\n got %s\nwant %s", c.saved, c.in, got, c.want)
		}
		again, err := query.ParseSearch(q.String(), env(t))
		if err != nil || show(again) != c.want {
			t.Errorf("%s is parsed as %s (%v), want %s", q, show(again), err, c.want)
		}
	}
	_, err := filter{Q: "is:open"}.Within("is:x", env(t))
	if got := messageOf(t, err); !strings.HasPrefix(got, "query: is takes ") {
		t.Errorf("invalid saved text: got error %q, want one about query", got)
	}
	_, err = filter{}.Within("list:", env(t))
	if got := messageOf(t, err); !strings.HasPrefix(got, "query: list needs ") {
		t.Errorf("invalid saved text: got error %q, want one about query", got)
	}
}

// Every parameter is documented and named after its field. Every parameter but timeZone
// rejects an invalid value, which shows that it is parsed.
func TestFilterFields(t *testing.T) {
	typ := reflect.TypeFor[query.Filter]()
	for i := range typ.NumField() {
		f := typ.Field(i)
		name := strings.ToLower(f.Name[:1]) + f.Name[1:]
		if got := f.Tag.Get("json"); got != name+",omitempty" {
			t.Errorf("%s: got json tag %q, want %q", f.Name, got, name+",omitempty")
		}
		if doc := f.Tag.Get("doc"); !strings.HasSuffix(doc, ".") {
			t.Errorf("%s: got doc tag %q, want a sentence", f.Name, doc)
		}
		var in query.Filter
		reflect.ValueOf(&in).Elem().Field(i).SetString("is:garbage")
		e := env(t)
		e.People = func() ([]query.Person, error) { return nil, nil }
		_, err := in.Parse(e)
		if name == "timeZone" {
			continue
		}
		if err == nil {
			t.Errorf("%s: got no error for an invalid value, want one", name)
		} else if got := messageOf(t, err); !strings.HasPrefix(got, name) {
			t.Errorf("%s: got error %q, want one that begins with the name", name, got)
		}
	}
}

// A filter that has different meanings in different time zones uses the zone.
func TestFiltersThatUseTheZone(t *testing.T) {
	typ := reflect.TypeFor[query.Filter]()
	uses := 0
	for i := range typ.NumField() {
		var in query.Filter
		for _, value := range []string{typ.Field(i).Tag.Get("example"), "today", "2026-03-11", "due:today"} {
			reflect.ValueOf(&in).Elem().Field(i).SetString(value)
			west, east := env(t), env(t)
			west.Zone, east.Zone = time.FixedZone("", -11*3600), time.FixedZone("", 14*3600)
			one, err := in.Parse(west)
			two, otherErr := in.Parse(east)
			if err != nil || otherErr != nil || reflect.DeepEqual(one.Where, two.Where) {
				continue
			}
			if uses++; !in.UsesZone() {
				t.Errorf("%s %s: UsesZone returns false, but the meaning depends on the zone", typ.Field(i).Name, value)
			}
		}
	}
	if uses < 12 {
		t.Errorf("got %d filters that depend on the zone, want at least 12", uses)
	}
	if f := (filter{Assignee: "me", Done: "false", TimeZone: "UTC"}); f.UsesZone() {
		t.Error("UsesZone returns true for a filter without days")
	}
}
