package mcp_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// changeTasks change cards and labels that exist.
var changeTasks = []task{
	{"move all overdue cards of Anna to Today with a comment",
		"On the board Launch, move all overdue cards of Anna to Today, with the comment: Please look at it today.",
		moveOverdue},
	{"undo all of what I just did", "Undo everything that you did on the board Launch since 8:58.", undoAll},
	{"set the due dates of a label's cards to next Friday",
		"All open cards with the label Legal on the board Launch are due on Friday of next week.", setDueDates},
	{"archive what was done more than 14 days ago",
		"On the board Launch, archive the cards in Done that were done more than 14 days ago.", archiveDone},
	{"hand over all open cards of Bob to Cleo", "Bob leaves. Give all of his open cards in Engines to Cleo.", handOver},
	{"move a card with its content to another board",
		`Move the card "Choose the payment provider" from Launch to the list To do of the board Website.`, moveToBoard},
	{"rename a label on all boards", "Rename the label Marketing to Growth on all boards in Engines.", renameLabel},
	{"find duplicates and archive one",
		"Which cards on the board Launch have the same title, apart from case and punctuation? Archive the newer one, " +
			"with a comment that links to the other.", findDuplicates},
}

func moveOverdue(a *assistant) {
	found := a.onLaunch("list_cards", fields{"assignee": "Anna", "done": "false", "due": "overdue", "limit": 100,
		"fields": "number,title,list,due"})
	a.onLaunch("update_cards", fields{"cardIds": names(found), "listId": "Today", "comment": "Please look at it today."})
	overdue := a.must(func(c officeCard) bool { return c.Board == "Launch" && c.overdue() && c.isOf("Anna") })
	a.changedOnly("list comments", overdue)
	for _, c := range a.cards() {
		if c.isOf("Anna") && c.overdue() && !a.in(c, "Today") {
			a.t.Errorf("%s is not in Today", c.name())
		}
	}
}

// undoAll takes back four calls. The assistant's changes of last week stay.
func undoAll(a *assistant) {
	for name, in := range map[string]fields{
		"update_cards": {"boardId": "Launch", "cardIds": []string{"#40", "#50", "#60"}, "listId": "Sprint",
			"dueDate": "2026-12-01", "addAssignees": []string{"Dan"}, "comment": "For the next sprint."},
		"create_card": {"listId": "Launch / Sprint", "title": "Prepare the review"},
		"update_card": {"cardId": "Launch #70", "title": "Something else", "description": "", "done": true},
		"add_comment": {"cardId": "Launch #80", "text": "Done?"},
	} {
		if done := a.claude.Tool(name, in); done.Failed {
			a.t.Fatal(done.Text)
		}
	}
	made := a.cards()
	requireCounts(a.t, changes(a.before, made),
		map[string]int{"list assignees due comments": 3, "new": 1, "text done": 1, "comments": 1})

	mine := a.onLaunch("list_my_changes", fields{"since": "2026-11-25T08:58:00Z"})
	undone := a.onLaunch("undo_changes", fields{"callIds": mine.Each("id")})
	if undone.Get("refused") != 0.0 || len(mine.Each("id")) != 4 {
		a.t.Errorf("got %d calls and the undo %s, want four calls and no refusal", len(mine.Each("id")), undone.Text)
	}
	after := a.cards()
	requireCounts(a.t, changes(a.before, after), map[string]int{"new": 1})
	for i, c := range after {
		if c.Title == "Prepare the review" && c.ArchivedAt == nil {
			a.t.Errorf("card %d: the new card is not archived", i)
		}
	}
}

func setDueDates(a *assistant) {
	found := a.onLaunch("list_cards", fields{"label": "Legal", "done": "false", "limit": 200, "fields": "number,due"})
	for some := range slices.Chunk(names(found), 100) {
		a.onLaunch("update_cards", fields{"cardIds": some, "dueDate": "2026-12-04"})
	}
	a.changedOnly("due", a.must(func(c officeCard) bool {
		return c.Board == "Launch" && c.open() && c.has("Legal") && c.due() != "2026-12-04"
	}))
}

func archiveDone(a *assistant) {
	found := a.onLaunch("list_cards", fields{"list": "Done", "q": "completed:<2026-11-11", "limit": 200,
		"fields": "number"})
	if found.Next != "" {
		a.t.Fatal("the world has too many cards in Done")
	}
	for some := range slices.Chunk(names(found), 100) {
		a.onLaunch("update_cards", fields{"cardIds": some, "archived": true})
	}
	a.changedOnly("archived", a.must(func(c officeCard) bool {
		return c.Board == "Launch" && a.in(c, "Done") && c.Done && c.DoneAt.String() < "2026-11-11"
	}))
}

func handOver(a *assistant) {
	found := a.call("search_cards", fields{"q": "is:open member:Bob", "workspaceId": "Engines", "limit": 200,
		"fields": "board,number"})
	byBoard := map[string][]string{}
	numbers := names(found)
	for i, name := range found.Column("board") {
		byBoard[name.(string)] = append(byBoard[name.(string)], numbers[i])
	}
	for _, name := range slices.Sorted(maps.Keys(byBoard)) {
		a.call("update_cards", fields{"boardId": name, "cardIds": byBoard[name],
			"addAssignees": []string{"Cleo"}, "removeAssignees": []string{"Bob"}})
	}
	a.changedOnly("assignees", a.must(func(c officeCard) bool { return c.open() && c.isOf("Bob") }))
	for _, c := range a.cards() {
		if c.open() && c.isOf("Bob") {
			a.t.Errorf("%s is still assigned to Bob", c.name())
		}
	}
}

func moveToBoard(a *assistant) {
	found := a.call("search_cards", fields{"q": `board:Launch title:"Choose the payment provider"`, "limit": 5})
	a.call("move_card_to_board", fields{"cardId": "Launch " + names(found)[0], "listId": "Website / To do"})
	card := a.must(func(c officeCard) bool { return c.Title == "Choose the payment provider" })
	got := changes(a.before, a.cards())[card[0].ID]
	if got != "board list" {
		a.t.Errorf("got the changes %q, want board list", got)
	}
	if n := len(a.ada.All("list_comments", "id", fields{"cardId": card[0].ID})); n != card[0].Comments {
		a.t.Errorf("got %d comments, want %d", n, card[0].Comments)
	}
}

func renameLabel(a *assistant) {
	boards := a.call("list_boards", fields{"workspaceId": "Engines"})
	for _, name := range boards.Each("name") {
		if labels := a.call("list_labels", fields{"boardId": name}); slices.Contains(labels.Each("name"), "Marketing") {
			a.call("update_label", fields{"labelId": name + " / Marketing", "name": "Growth"})
		}
	}
	a.changedOnly("labels", a.must(func(c officeCard) bool { return c.has("Marketing") }))
	for _, c := range a.cards() {
		if c.has("Marketing") {
			a.t.Errorf("%s has the old label", c.name())
		}
	}
}

func findDuplicates(a *assistant) {
	numbers := map[string][]string{} // by title without case and punctuation, the oldest card first
	in := fields{"sort": "created", "limit": 200, "fields": "number,title"}
	for next := "start"; next != ""; {
		page := a.onLaunch("list_cards", in)
		titles := page.Column("title")
		for i, number := range names(page) {
			title := punctuation.ReplaceAllString(strings.ToLower(titles[i].(string)), " ")
			numbers[strings.TrimSpace(title)] = append(numbers[strings.TrimSpace(title)], number)
		}
		next = page.Next
		in["cursor"] = next
	}
	found := numbers["renew the tls certificate"]
	if len(found) != 2 || len(numbers) != 999 {
		a.t.Fatalf("got the duplicates %q among %d titles, want two among 999", found, len(numbers))
	}
	both := a.onLaunch("list_cards", fields{"q": `title:"renew the TLS"`, "fields": "number,createdAt,url"})
	url := both.Column("url")[slices.Index(names(both), found[0])]
	a.onLaunch("update_cards", fields{"cardIds": found[1:], "archived": true, "comment": fmt.Sprint("Duplicate of ", url)})
	newer := a.must(func(c officeCard) bool { return c.name() == "Launch "+found[1] })
	a.changedOnly("archived comments", newer)
	text := a.ada.All("list_comments", "text", fields{"cardId": newer[0].ID})
	first := a.must(func(c officeCard) bool { return c.name() == "Launch "+found[0] })
	if !strings.HasSuffix(text[len(text)-1], first[0].URL) {
		a.t.Errorf("got the comments %q, want a link to %s", text, first[0].URL)
	}
}

var punctuation = regexp.MustCompile(`\W+`)
