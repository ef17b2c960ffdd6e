package mcp_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// planTasks plan work, and create cards, checklists and boards.
var planTasks = []task{
	{"plan a sprint from the backlog",
		"Plan the next sprint of Launch: move the five oldest open cards with the label Urgent in Backlog, and then the " +
			"oldest others, 15 in all, to Sprint. Label them Sprint 48. Those of nobody go to Dan and to me in turns.",
		planSprint},
	{"triage ten new cards",
		"Triage the list Inbox of Launch and move the cards to Backlog. Bugs get the label Bug, go to Bob and are due on " +
			"Friday. Docs: Cleo, Friday of next week. Features: Dan, by the end of the year. The rest: Legal, me, tomorrow. " +
			"Tell everyone how many days they have, including today.",
		triage},
	{"turn five points of a meeting into cards",
		"Make cards in Launch / Sprint from my notes: Anna books the hall by 2 December. Bob sends the invoice on Friday. " +
			"Cleo and Dan compare the printers by 4 December. Dan writes the agenda, until tomorrow. " +
			"I call the mayor next Monday.", meetingNotes},
	{"break a card into a checklist and tick the first item",
		`Break the card "Plan chairs for Berlin" on Launch into steps. We have already counted the guests.`, addSteps},
	{"set up a board for a project",
		"Set up a board with the name Winter fair in Engines, from a template for fairs if there is one, else with the lists " +
			"Later, Next, Doing and Done, and the labels Hall, Print and People. The first tasks, which Anna and Bob share: " +
			"reserve a stand and book the train this week; order brochures, invite our partners, print badges, hire a van, " +
			"brief the helpers and plan the talks by 10 December; write the report and thank the helpers afterwards.",
		newBoard},
}

// oldest returns cards of a list of Launch, the oldest first.
func (a *assistant) oldest(more fields) (all []string, table func(column string) []any) {
	in := fields{"list": "Backlog", "done": "false", "sort": "created", "limit": 20,
		"fields": "number,title,createdAt,due,assignees"}
	for name, v := range more {
		in[name] = v
	}
	found := a.onLaunch("list_cards", in)
	return names(found), found.Column
}

func planSprint(a *assistant) {
	urgent, peopleOfUrgent := a.oldest(fields{"label": "Urgent", "limit": 5})
	others, peopleOfOthers := a.oldest(nil)
	people := append(peopleOfUrgent("assignees"), peopleOfOthers("assignees")...)
	var chosen []string
	turns := map[bool][]string{}
	for i, card := range append(slices.Clone(urgent), others...) {
		if len(chosen) == 15 || slices.Contains(chosen, card) {
			continue
		}
		chosen = append(chosen, card)
		if people[i] == nil {
			dan := len(turns[true]) <= len(turns[false])
			turns[dan] = append(turns[dan], card)
		}
	}
	a.onLaunch("create_label", fields{"name": "Sprint 48", "color": "teal"})
	a.onLaunch("update_cards", fields{"cardIds": chosen, "listId": "Sprint", "addLabels": []string{"Sprint 48"}})
	a.onLaunch("update_cards", fields{"cardIds": turns[true], "addAssignees": []string{"Dan"}})
	a.onLaunch("update_cards", fields{"cardIds": turns[false], "addAssignees": []string{"me"}})

	assigned := len(turns[true]) + len(turns[false])
	requireCounts(a.t, changes(a.before, a.cards()),
		map[string]int{"list labels assignees": assigned, "list labels": 15 - assigned})
	a.checkSprint()
}

// checkSprint fails the test unless the sprint has the cards that were asked for.
func (a *assistant) checkSprint() {
	a.t.Helper()
	byAge := a.must(func(c officeCard) bool { return c.Board == "Launch" && a.in(c, "Backlog") && c.open() })
	slices.SortFunc(byAge, func(x, y officeCard) int { return int(x.CreatedAt - y.CreatedAt) })
	want := map[string]bool{}
	for _, c := range byAge {
		if c.has("Urgent") && len(want) < 5 {
			want[c.ID] = true
		}
	}
	for _, c := range byAge {
		if len(want) < 15 {
			want[c.ID] = true
		}
	}
	for _, c := range a.cards() {
		if c.has("Sprint 48") != want[c.ID] || want[c.ID] && (!a.in(c, "Sprint") || len(c.Assignees) == 0) {
			a.t.Errorf("%s: got the labels %v and the assignees %v, want it in the sprint: %v",
				c.name(), c.Labels, c.Assignees, want[c.ID])
		}
	}
}

func triage(a *assistant) {
	found := a.onLaunch("list_cards", fields{"list": "Inbox", "fields": "number,title,description"})
	titles := found.Column("title")
	rules := map[string][4]string{"Bug": {"Bug", "Bob", "2026-11-27", "3"}, "Docs": {"Docs", "Cleo", "2026-12-04", "10"},
		"Feature": {"Feature", "Dan", "2026-12-31", "37"}, "": {"Legal", "me", "2026-11-26", "2"}}
	var each []fields
	for i, card := range names(found) {
		kind, subject, ok := strings.Cut(titles[i].(string), ": ")
		if !ok {
			kind, subject = "", kind
		}
		to := rules[kind]
		each = append(each, fields{"cardIds": []string{card}, "addLabels": []string{to[0]}, "addAssignees": []string{to[1]},
			"dueDate": to[2], "comment": fmt.Sprintf("You have %s days for: %s.", to[3], subject)})
	}
	a.onLaunch("update_cards", fields{"cardIds": names(found), "listId": "Backlog", "changes": each})
	inbox := a.must(func(c officeCard) bool { return a.in(c, "Inbox") })
	a.changedOnly("list labels assignees due comments", inbox)
	got := map[string]int{}
	for _, c := range a.cards() {
		if slices.ContainsFunc(inbox, func(was officeCard) bool { return was.ID == c.ID }) && a.in(c, "Backlog") {
			got[fmt.Sprint(c.Labels[0].Name, " ", c.Assignees[0].Name, " ", c.due())]++
		}
	}
	want := map[string]int{"Bug Bob 2026-11-27": 3, "Docs Cleo 2026-12-04": 2,
		"Feature Dan 2026-12-31": 3, "Legal Ada 2026-11-26": 2}
	if !maps.Equal(got, want) {
		a.t.Errorf("got the cards %v, want %v", got, want)
	}
}

func meetingNotes(a *assistant) {
	card := func(title, due string, assignees ...string) fields {
		return fields{"listId": "Sprint", "title": title, "assignees": assignees, "due": fields{"dueDate": due}}
	}
	a.onLaunch("create_cards", fields{"cards": []fields{
		card("Book the hall", "2026-12-02", "Anna"), card("Send the invoice", "2026-11-27", "Bob"),
		card("Compare the printers", "2026-12-04", "Cleo", "Dan"), card("Write the agenda", "tomorrow", "Dan"),
		card("Call the mayor", "next monday", "me"),
	}})
	after := a.cards()
	requireCounts(a.t, changes(a.before, after), map[string]int{"new": 5})
	var got []string
	for _, c := range after {
		if c.Board == "Launch" && c.Number > 1000 && a.in(c, "Sprint") {
			got = append(got, fmt.Sprint(c.Title, " ", len(c.Assignees), " ", c.Assignees[0].Name, " ", c.due()))
		}
	}
	want := []string{"Book the hall 1 Anna 2026-12-02", "Send the invoice 1 Bob 2026-11-27",
		"Compare the printers 2 Cleo 2026-12-04", "Write the agenda 1 Dan 2026-11-26", "Call the mayor 1 Ada 2026-11-30"}
	if !slices.Equal(got, want) {
		a.t.Errorf("got the cards %q, want %q", got, want)
	}
}

func addSteps(a *assistant) {
	found := a.call("search_cards", fields{"q": `board:Launch title:"Plan chairs for Berlin"`})
	steps := []string{"Count the guests", "Ask three suppliers", "Compare the offers", "Order", "Plan the delivery"}
	added := a.call("add_checklist", fields{"cardId": "Launch " + names(found)[0], "title": "Steps", "items": steps})
	a.call("update_checklist_item", fields{"itemId": added.Response.Text("items.0.id"), "done": true})
	card := a.must(func(c officeCard) bool { return c.Board == "Launch" && c.Title == "Plan chairs for Berlin" })
	a.changedOnly("checklist", card)
	got := a.ada.Must("get_card", fields{"cardId": card[0].ID})
	if fmt.Sprint(got.Get("checklistItems")) != "map[done:1 total:5]" || got.Get("checklists.0.items.0.done") != true {
		a.t.Errorf("got the checklists %v, want five items, the first one done", got.Get("checklists"))
	}
}

func newBoard(a *assistant) {
	a.call("list_board_templates", fields{"workspaceId": "Engines"}) // none is for fairs
	made := a.call("create_board", fields{"workspaceId": "Engines", "name": "Winter fair",
		"lists":  []fields{{"name": "Later"}, {"name": "Next"}, {"name": "Doing", "wipLimit": 3}, {"name": "Done"}},
		"labels": []fields{{"name": "Hall", "color": "teal"}, {"name": "Print", "color": "blue"}, {"name": "People", "color": "pink"}}})
	var cards []fields
	for i, task := range [][4]string{
		{"Next", "Reserve a stand", "Hall", "2026-11-29"}, {"Next", "Book the train", "People", "2026-11-29"},
		{"Next", "Order brochures", "Print", "2026-12-10"}, {"Next", "Invite our partners", "People", "2026-12-10"},
		{"Next", "Print badges", "Print", "2026-12-10"}, {"Next", "Hire a van", "Hall", "2026-12-10"},
		{"Next", "Brief the helpers", "People", "2026-12-10"}, {"Next", "Plan the talks", "Hall", "2026-12-10"},
		{"Later", "Write the report", "Print", ""}, {"Later", "Thank the helpers", "People", ""},
	} {
		card := fields{"listId": task[0], "title": task[1], "labels": []string{task[2]}, "assignees": []string{[]string{"Anna", "Bob"}[i%2]}}
		if task[3] != "" {
			card["due"] = fields{"dueDate": task[3]}
		}
		cards = append(cards, card)
	}
	a.call("create_cards", fields{"boardId": "Winter fair", "cards": cards})
	a.changedOnly("", nil)
	b := a.ada.Must("get_board", fields{"boardId": made.ID()})
	if b.Text("lists.3.name") != "Done" || b.Get("lists.2.wipLimit") != 3.0 || b.Text("labels.2.name") != "Print" {
		a.t.Errorf("got the board %s, want four lists and three labels", b.Raw)
	}
	var got []string
	for i, title := range a.ada.All("list_cards", "title", fields{"boardId": made.ID(), "sort": "created"}) {
		if cards[i]["title"] == title {
			got = append(got, title)
		}
	}
	bobs := a.ada.All("list_cards", "id", fields{"boardId": made.ID(), "q": "member:Bob list:Next due:<2026-12-11"})
	if len(got) != 10 || len(bobs) != 4 {
		a.t.Errorf("got the cards %q, of which Bob has %d in Next; want ten and four", got, len(bobs))
	}
}
