package query_test

import (
	"strings"
	"testing"

	"cardwall/internal/query"
)

func TestSearch(t *testing.T) {
	const (
		day   = "2026-03-11=0310T2300Z"
		next  = "2026-03-12=0311T2300Z"
		after = "2026-03-13=0312T2300Z"
		late  = "and(due[,2026-03-11=0311T1430Z), not(done))"
	)
	for _, c := range []struct{ in, want string }{
		// plain text
		{"", "and()"},
		{" \t\n\u00a0", "and()"},
		{"login bug", "and(any:login, any:bug)"},
		{"-login", "and(not(any:login))"},
		{"--login", "and(not(any:login))"},
		{"foo-bar", "and(any:foo_bar)"},
		{"rel* -pre*", "and(any:rel*, not(any:pre*))"},
		{"a*b* c**", "and(any:a_b*, any:c*)"},
		{`"Exact Phrase" -"not this"`, "and(any:exact_phrase, not(any:not_this))"},
		{`"say \"hi\" C:\"`, "and(any:say, any:hi, any:c)"}, // the last quote is escaped: unclosed
		{`"a\\" b" c`, `and(any:a_b, any:c)`},
		{`"a"b"c"`, "and(any:a, any:b_c)"},
		{`"foo bar`, "and(any:foo, any:bar)"},
		{`@"foo bar`, "and(any:foo, any:bar)"},
		{`-"foo\`, "and(not(any:foo))"},
		{"http://example.com/a?b=c", "and(any:http_example_com_a_b_c)"},
		{"foo:bar foo:due:today re:", "and(any:foo_bar, any:foo_due_today, any:re)"},
		{"dues:today isopen: :x", "and(any:dues_today, any:isopen, any:x)"},
		{"Ärger ΣΊΣΥΦΟΣ straße", "and(any:arger, any:σισυφοσ, any:strasse)"},
		{"日本語*", "and(any:日_本_語*)"},
		{`AND OR NOT NEAR(a,b) a|b !c <-> ^d {x}:y`, "and(any:and, any:or, any:not, any:near_a_b, any:a_b, any:c, any:d, any:x_y)"},
		{"a\x00b \u202ec", "and(any:a_b, any:c)"},
		{"a\xffb", "and(any:a_b)"},
		{"🎉 c++", "and(any:c)"},
		{"🎉", "and(or())"},
		{"-🎉", "and()"},
		{"🎉 #bug", "and(label name=bug)"},
		{"- -- @ # @, *", "and(or())"},
		// short forms
		{"@ada @ME -#Bug", "and(member name=ada, member id=" + ada + ", not(label name=bug))"},
		{`@"Ada  Lovelace" #"in progress"`, "and(member name=ada lovelace, label name=in progress)"},
		{"@ada,@bob #a,b,#c", "and(member name=ada|bob, label name=a|b|c)"},
		{"@ada, hello", "and(member name=ada, any:hello)"},
		{"@ada,, x", "and(member name=ada, any:x)"},
		{"@Ada@Example.com", "and(member email=ada@example.com)"},
		{"#none", "and(not(has label))"},
		{`#"none"`, "and(label name=none)"},
		// references
		{"LABEL:Bug,Tâche", "and(label name=bug|tâche)"},
		{"label:bug,BUG", "and(label name=bug)"},
		{"label:" + strings.ToUpper(bug) + ",x", "and(label id=" + bug + " name=x)"},
		{"label:" + ada, "and(label name=" + ada + ")"},
		{"label:none,x", "and(or(label name=x, not(has label)))"},
		{"label:any", "and(has label)"},
		{"-label:any", "and(not(has label))"},
		{"label:me", "and(label name=me)"},
		{`list:"To do"`, "and(list name=to do)"},
		{"list:" + todo, "and(list id=" + todo + ")"},
		{"list:any", "and()"},
		{"list:none", "and(or())"},
		{"list:any,x", "and()"},
		{"-list:none,x", "and(not(list name=x))"},
		{"board:any,none", "and(board name=any|none)"},
		{"board:" + home, "and(board id=" + home + ")"},
		{"member:me," + bob + ",Cy,d@x.org", "and(member id=" + ada + "|" + bob + " name=cy email=d@x.org)"},
		{"member:@me", "and(member id=" + ada + ")"},
		{`member:"me"`, "and(member name=me)"},
		{"member:none", "and(not(has assignee))"},
		{"-member:none", "and(has assignee)"},
		{"member:any", "and(has assignee)"},
		{"creator:me," + bot, "and(creator id=" + ada + "|" + bot + ")"},
		{"creator:none", "and(not(has creator))"},
		{"commenter:any", "and(has comment)"},
		{"-commenter:bob", "and(not(commenter name=bob))"},
		// is
		{"is:open", "and(not(done))"},
		{"is:done", "and(done)"},
		{"-is:done", "and(not(done))"},
		{`IS:"DONE"`, "and(done)"},
		{"is:archived", "and() archived=only"},
		{"-is:archived", "and()"},
		{"is:archived -is:archived", "and(not(archived)) archived=only"},
		{"is:archived,done", "and(or(archived, done)) archived=all"},
		{"is:archived,archived", "and() archived=only"},
		{"is:open,done,archived", "and() archived=all"},
		{"is:open,archived", "and(or(and(not(done), not(archived)), archived)) archived=all"},
		{"is:open is:archived", "and(not(done), not(archived)) archived=only"},
		{"-is:open,done,archived", "and(or())"},
		{"is:overdue", late},
		{"-is:overdue", "and(not(" + late + "))"},
		{"is:assigned", "and(has assignee)"},
		{"is:unassigned,done", "and(or(not(has assignee), done))"},
		{"is:checked", "and(checklist complete=true)"},
		{"is:unchecked", "and(checklist complete=false)"},
		// has, no
		{"has:description,checklist,comment", "and(or(has description, has checklist, has comment))"},
		{"has:due has:start", "and(has due, has start)"},
		{"no:assignee,label", "and(or(not(has assignee), not(has label)))"},
		{"-no:due", "and(has due)"},
		{"-has:due,label", "and(not(or(has due, has label)))"},
		// dates
		{"due:overdue", late},
		{"start:overdue", "and(start[,2026-03-11=0311T1430Z), not(done))"},
		{"due:TODAY", "and(due[" + day + "," + next + "))"},
		{"due:tomorrow", "and(due[" + next + "," + after + "))"},
		{"due:yesterday", "and(due[2026-03-10=0309T2300Z," + day + "))"},
		{"due:calendarweek", "and(due[2026-03-09=0308T2300Z,2026-03-16=0315T2300Z))"},
		{"due:week", "and(due[" + day + ",2026-03-18=0317T2300Z))"},
		{"due:next7", "and(due[" + day + ",2026-03-18=0317T2300Z))"},
		{"due:month", "and(due[2026-03-01=0228T2300Z,2026-04-01=0331T2200Z))"},
		{"due:none", "and(not(has due))"},
		{"start:any", "and(has start)"},
		{"due:1", "and(due[" + day + "," + next + "))"},
		{"due:07", "and(due[" + day + ",2026-03-18=0317T2300Z))"},
		{"created:1", "and(created[" + day + ",))"},
		{"updated:7", "and(updated[2026-03-05=0304T2300Z,))"},
		{"edited:7", "and(updated[2026-03-05=0304T2300Z,))"},
		{"completed:today", "and(completed[" + day + "," + next + "))"},
		{"due:2026-03-12", "and(due[" + next + "," + after + "))"},
		{`due:"2026-03-12"`, "and(due[" + next + "," + after + "))"},
		{"due:2026-03-29", "and(due[2026-03-29=0328T2300Z,2026-03-30=0329T2200Z))"},
		{"due:2026-03-11..2026-03-12", "and(due[" + day + "," + after + "))"},
		{`due:"2026-03-11".."2026-03-12"`, "and(due[" + day + "," + after + "))"},
		{"due:*..2026-03-11", "and(due[," + next + "))"},
		{"due:tomorrow..*", "and(due[" + next + ",))"},
		{"due:*..*", "and(has due)"},
		{"start:*..*", "and(has start)"},
		{"completed:*..*", "and(done)"},
		{"created:*..*", "and()"},
		{"due:tomorrow..2026-01-01", "and(due[" + next + ",2026-01-02=0101T2300Z))"},
		{"created:>2026-03-11", "and(created[" + next + ",))"},
		{"created:>=2026-03-11", "and(created[" + day + ",))"},
		{"created:<2026-03-11", "and(created[," + day + "))"},
		{"created:<=2026-03-11", "and(created[," + next + "))"},
		{"due:<today,none", "and(or(due[," + day + "), not(has due)))"},
		{"due:1969-12-31..1970-01-01", "and(due[1969-12-31=1230T2300Z,1970-01-02=0101T2300Z))"},
		// text in one field
		{"title:Login", "and(title:login)"},
		{`description:"two words",three*`, "and(or(description:two_words, description:three*))"},
		{"-comment:x checklist:complete", "and(not(comment:x), checklist:complete)"},
		{`title:"star*"`, "and(title:star)"},
		{"title:>5", "and(title:5)"},
		{`title:a"b`, "and(title:a_b)"},
		// status
		{"status:on_track,At-Risk", "and(status on_track|at_risk)"},
		{"-status:complete,complete", "and(not(status complete))"},
		// sort
		{"sort:due", "and() sort=due/false"},
		{"a sort:-Title b", "and(any:a, any:b) sort=title/true"},
		{"sort:-relevance a", "and(any:a) sort=relevance/false"},
		{"sort:position 🎉", "and(or()) sort=position/false"},
	} {
		q, err := query.ParseSearch(c.in, env(t))
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
			continue
		}
		if got := show(q); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestInvalidSearches(t *testing.T) {
	const dates = "a date (YYYY-MM-DD from 1900 to 2999, or yesterday, today, tomorrow), a comparison such as >=2026-01-31, " +
		"or a range such as 2026-01-01..2026-01-31 (either side may be *)"
	const plan = "overdue, today, tomorrow, week, calendarweek, next7, month, none, any, a number of days from 1 to 3650, " + dates
	const past = "a number of days from 1 to 3650, " + dates
	const is = "open, done, archived, overdue, assigned, unassigned, checked or unchecked"
	const has = "description, checklist, comment, attachment, due, start, assignee or label"
	const person = "a name, an email address, an id, me, none or any"
	needs := func(key, takes string) string {
		return key + " needs a value directly after its colon and after each comma; it takes " + takes
	}
	for _, c := range []struct {
		in   string
		want string
		at   string
	}{
		{"is:closed", "is takes " + is, "3"},
		{"a -is:open,closed", "is takes " + is, "11"},
		{"é is:x", "is takes " + is, "6"}, // bytes, not characters
		{"\xff is:x", "is takes " + is, "5"},
		{"is:", needs("is", is), "3"},
		{"is: open", needs("is", is), "3"},
		{"is:open,", needs("is", is), "8"},
		{"is:open,,done", needs("is", is), "8"},
		{"has:cat", "has takes " + has, "4"},
		{"no:cat", "no takes " + has, "3"},
		{"due:soon", "due takes " + plan, "4"},
		{"start:0", "start takes " + plan, "6"},
		{"due:3651", "due takes " + plan, "4"},
		{"due:99999999999999999999", "due takes " + plan, "4"},
		{"due:-1", "due takes " + plan, "4"},
		{"due:2026-02-30", "due takes " + plan, "4"},
		{"due:1899-12-31", "due takes " + plan, "4"},
		{"due:*", "due takes " + plan, "4"},
		{"due:>week", "due takes " + plan, "4"},
		{"due:>", needs("due", plan), "4"},
		{"due:today,>", needs("due", plan), "10"},
		{"due:2026-01-01..", needs("due", plan), "4"},
		{"due:..2026-01-01", needs("due", plan), "4"},
		{"due:2026-02-01..2026-01-01", "due takes " + plan, "4"},
		{"due:today,2026-01-01..week", "due takes " + plan, "10"},
		{"due:today..today..today", "after a quoted value, a comparison or a range, due needs a space or a comma", "16"},
		{"due:>today..today", "after a quoted value, a comparison or a range, due needs a space or a comma", "10"},
		{"created:week", "created takes " + past, "8"},
		{"created:none", "created takes " + past, "8"},
		{"edited:overdue", "updated takes " + past, "7"},
		{"completed:any", "completed takes " + past, "10"},
		{"created:>7", "created takes " + past, "8"},
		{"title:!!!", "title takes text with at least one letter or digit", "6"},
		{"comment:a,*", "comment takes text with at least one letter or digit", "10"},
		{`label:"a"b`, "after a quoted value, a comparison or a range, label needs a space or a comma", "9"},
		{`x list:"In pro`, "list has an opening quote without a closing one", "7"},
		{`due:today.."x`, "due has an opening quote without a closing one", "11"},
		{"label:", needs("label", "a name, an id, none or any"), "6"},
		{`list:" "`, "list takes a name, an id, none or any", "5"},
		{"board:\u200b", "board takes a name or an id", "6"},
		{"member:@", "member takes " + person, "7"},
		{"creator:", needs("creator", person), "8"},
		{"commenter:a,\x01", "commenter takes " + person, "12"},
		{"status:fine", "status takes on_track, at_risk, off_track, on_hold or complete", "7"},
		{"sort:size", "sort takes one of position, due, start, created, updated, title or relevance, prefixed with - for descending", "5"},
		{"sort:due,title", "sort takes only one value", "9"},
		{"-sort:due", "sort cannot be negated; write sort:-due for descending", "0"},
		{"sort:due sort:title", "sort may be given only once", "14"},
		{strings.Repeat("a ", 101), "a search text must not have more than 100 terms", "200"},
		{"x " + strings.Repeat("a-", 200), "the query must not contain more than 200 words", "2"},
		{"@" + strings.Repeat("a,", 50) + "a", "member takes at most 50 values", "101"},
	} {
		_, err := query.ParseSearch(c.in, env(t))
		if err == nil {
			t.Errorf("%q: got no error, want %s", c.in, c.want)
			continue
		}
		want := "q: " + c.want + " (at offset " + c.at + ")."
		if got := messageOf(t, err); got != want {
			t.Errorf("%q:\n got %s\nwant %s", c.in, got, want)
		}
	}

	e := env(t)
	e.Me, e.Name = "", "query"
	_, err := query.ParseSearch("@bob,me", e)
	if got, want := messageOf(t, err), "query: member cannot be me here, because the query is not run by a person; give an id (at "+
		"offset 5)."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, err = query.ParseSearch(strings.Repeat(" ", query.MaxTextBytes+1), env(t))
	if got, want := messageOf(t, err), "q must not be longer than 16384 bytes."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, full := range []string{strings.Repeat("a ", 100), strings.Repeat("a-", 200), "@" + strings.Repeat("a,", 49) + "a",
		strings.Repeat(" ", query.MaxTextBytes)} {
		if _, err := query.ParseSearch(full, env(t)); err != nil {
			t.Errorf("text of the maximum size: %v", err)
		}
	}
}
