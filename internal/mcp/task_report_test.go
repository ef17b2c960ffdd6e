package mcp_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reportTasks read, and at most post what they read.
var reportTasks = []task{
	{"what happened this week on a board", "What happened on the board Launch in the last seven days?", weekOfBoard},
	{"what happened this week in the workspace", "What happened in Engines in the last seven days?", weekOfWorkspace},
	{"weekly review: done, late, stuck, next", "Let us review the board Launch.", weeklyReview},
	{"prepare and post a status update", "Post a status update for Launch.", statusUpdate},
	{"who is overloaded", "Who in Engines has too much to do?", overloaded},
	{"summarize the discussion of a card", "What was said about the payment provider?", discussion},
	{"what is due for me this week", "What do I have to finish by Sunday?", dueForMe},
}

// total returns the true number of items of a group in a digest.
func total(digest any, group string) (n int) {
	for _, g := range digest.(map[string]any)["groups"].([]any) {
		if g := g.(map[string]any); g["group"] == group {
			n += int(g["total"].(float64))
		}
	}
	return n
}

func weekOfBoard(a *assistant) {
	digest := a.onLaunch("get_board_digest", fields{})
	got := map[string]int{}
	for _, group := range []string{"created", "completed", "moved", "comments"} {
		got[group] = total(digest.Data, group)
	}
	// The rule moved the ten cards that Anna completed, and Bob moved fifty.
	want := map[string]int{"created": 10, "completed": 10, "moved": 60, "comments": 50}
	if !maps.Equal(got, want) {
		a.t.Errorf("got the totals %v, want %v", got, want)
	}
	for _, who := range []string{"Anna", "Bob", "Cleo", "Dan", "Ada via Claude", "automation"} {
		if !strings.Contains(strings.ToLower(fmt.Sprint(digest.Get("people"))), strings.ToLower(who)) {
			a.t.Errorf("got the people %v, want %s among them", digest.Get("people"), who)
		}
	}
	a.changedOnly("", nil)
}

func weekOfWorkspace(a *assistant) {
	digest := a.call("get_workspace_digest", fields{"workspaceId": "Engines"})
	got := map[string]int{}
	for _, b := range digest.Get("boards").([]any) {
		got[b.(map[string]any)["boardName"].(string)] = total(b, "completed")
	}
	if want := map[string]int{"Launch": 10, "Website": 8}; !maps.Equal(got, want) {
		a.t.Errorf("got the completed cards %v, want %v", got, want)
	}
}

// weeklyReview takes the steps of the prompt weekly_review.
func weeklyReview(a *assistant) {
	a.onLaunch("get_board", fields{})
	a.onLaunch("list_status_updates", fields{"limit": 1})
	list := func(in fields) []string {
		in["fields"], in["limit"] = "number,title,list,due,assignees", 100
		return names(a.onLaunch("list_cards", in))
	}
	done := list(fields{"done": "true", "completedFrom": "2026-11-18"})
	late := list(fields{"done": "false", "due": "overdue"})
	next := list(fields{"done": "false", "due": "week"})
	stuck := list(fields{"q": "is:open assignee:any -updated:14", "sort": "updated"})
	a.onLaunch("get_board_digest", fields{})
	for _, c := range []struct {
		what string
		got  []string
		want func(c officeCard) bool
	}{
		{"done", done, func(c officeCard) bool { return c.Done && c.DoneAt.String() > "2026-11-18" }},
		{"late", late, officeCard.overdue},
		{"next", next, func(c officeCard) bool { return c.open() && c.due() >= "2026-11-25" && c.due() <= "2026-12-01" }},
		{"stuck", stuck, func(c officeCard) bool {
			return c.open() && len(c.Assignees) > 0 && c.UpdatedAt.String() < "2026-11-12"
		}},
	} {
		var want []string
		for _, card := range a.must(func(card officeCard) bool { return card.Board == "Launch" && c.want(card) }) {
			want = append(want, fmt.Sprintf("#%d", card.Number))
		}
		slices.Sort(want)
		slices.Sort(c.got)
		if !slices.Equal(c.got, want) {
			a.t.Errorf("%s: got the cards %q, want %q", c.what, c.got, want)
		}
	}
}

func statusUpdate(a *assistant) {
	digest := a.onLaunch("get_board_digest", fields{})
	a.onLaunch("list_status_updates", fields{"limit": 1})
	late := a.onLaunch("list_cards", fields{"done": "false", "due": "overdue", "limit": 100,
		"fields": "number,title,assignees,due"})
	title := fmt.Sprintf("%d done, %d late", total(digest.Data, "completed"), len(names(late)))
	a.onLaunch("post_status_update", fields{"status": "at_risk", "title": title,
		"text": "Ten cards are done.\n\nMost of the late cards are Anna's, in Backlog."})
	overdue := a.must(func(c officeCard) bool { return c.Board == "Launch" && c.overdue() })
	posted := a.ada.Must("list_status_updates", fields{"boardId": a.boards["Launch"].id})
	if got, want := posted.Text("0.title"), fmt.Sprintf("10 done, %d late", len(overdue)); got != want {
		a.t.Errorf("got the status update %q, want %q", got, want)
	}
	a.changedOnly("", nil)
}

func overloaded(a *assistant) {
	dashboard := a.call("get_workspace_dashboard", fields{"workspaceId": "Engines"})
	for _, name := range []string{"Ada", "Anna", "Bob", "Cleo", "Dan"} {
		want := len(a.must(func(c officeCard) bool { return c.open() && c.isOf(name) }))
		if got := fmt.Sprint(dashboard.Get("byMember")); !strings.Contains(got, fmt.Sprintf("name:%s open:%d ", name, want)) {
			a.t.Errorf("%s: got %s, want %d open cards", name, got, want)
		}
	}
}

func discussion(a *assistant) {
	found := a.call("search_cards", fields{"q": "payment provider", "fields": "title,board,boardId,id"})
	if n := len(found.Column("id")); n != 1 {
		a.t.Fatalf("got %d cards, want one", n)
	}
	text := a.resource(fmt.Sprintf("service://boards/%s/cards/%s", found.Column("boardId")[0], found.Column("id")[0]))
	for n := range 12 {
		if want := fmt.Sprintf("Offer %d costs %d cents", n, 20+n); !strings.Contains(text, want) {
			a.t.Errorf("the comments do not contain %q", want)
		}
	}
	if n := strings.Count(text, `"text":`); n != 13 || strings.Contains(text, `"more":`) {
		a.t.Errorf("got %d comments, want all 13: %.300s", n, text)
	}
}

func dueForMe(a *assistant) {
	mine := a.call("list_my_cards", fields{"done": "false", "due": "overdue,calendarweek", "sort": "due", "limit": 100})
	var got, want []string
	for i, name := range names(mine) {
		got = append(got, fmt.Sprint(mine.Column("board")[i], " ", name))
	}
	for _, c := range a.must(func(c officeCard) bool {
		return c.open() && c.isOf("Ada") && c.due() != "" && c.due() <= "2026-11-29"
	}) {
		want = append(want, c.name())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		a.t.Errorf("got the cards %q, want %q", got, want)
	}
}
