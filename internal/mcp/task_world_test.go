package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cardwall/internal/app"
	"cardwall/internal/apptest"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// newOffice creates an office and lets a week pass.
func newOffice(t *testing.T, database string) *office {
	t.Helper()
	s := apptest.New(t, database, apptest.Options{})
	s.Clock.Stop()
	s.Clock.Advance(officeTime.AddDate(0, 0, -6).Sub(s.Clock.Now()))
	o := &office{Service: s, ada: s.Person("Ada"), boards: map[string]*officeBoard{}}
	o.workspace = o.ada.Workspace("Engines", board.PlanTeam)
	for name, p := range map[string]**apptest.Person{"Anna": &o.anna, "Bob": &o.bob, "Cleo": &o.cleo, "Dan": &o.dan} {
		*p = s.Person(name).Joins(o.workspace, board.WorkspaceMember)
	}
	o.claude = o.ada.Issue(app.NewToken{Name: "Claude", Scopes: board.WorkScopes()})
	o.addBoard("Launch", []string{"Bug", "Docs", "Feature", "Legal", "Marketing", "Urgent"}, []officeList{
		{"Inbox", 0, nil}, {"Backlog", 420, o.backlog}, {"Sprint", 12, o.started}, {"Today", 4, o.started},
		{"Doing", 24, o.started}, {"Review", 20, o.started}, {"Done", 300, o.done}, {"Later", 210, nil},
	})
	o.addBoard("Website", []string{"Bug", "Marketing"},
		[]officeList{{"To do", 20, o.started}, {"Doing", 8, o.started}, {"Done", 12, o.done}})
	o.addBoard("Hiring", []string{"Interview", "Legal"}, []officeList{{"Open", 15, o.started}, {"Hired", 10, o.done}})
	o.lastWeek()
	if s.Clock.Now().After(officeTime) {
		t.Fatalf("the week ends at %s, want at most %s", s.Clock.Now(), officeTime)
	}
	return o
}

// copy returns the office at officeTime on a copy of its database.
func (o *office) copy(t *testing.T) *office {
	t.Helper()
	o.T = t
	other := *o
	other.Service = o.Service.Copy(t.TempDir() + "/cardwall.db")
	other.Clock.Stop()
	other.Clock.Advance(officeTime.Sub(other.Clock.Now()))
	for _, p := range []**apptest.Person{&other.ada, &other.anna, &other.bob, &other.cleo, &other.dan, &other.claude} {
		*p = (*p).At(other.Service)
	}
	return &other
}

// officeList is a list with a number of cards, which shape changes.
type officeList struct {
	name  string
	cards int
	shape func(c *store.WholeCard, i int)
}

// addBoard adds a board with lists and labels.
func (o *office) addBoard(name string, labels []string, lists []officeList) {
	o.T.Helper()
	b := &officeBoard{lists: map[string]string{}, labels: map[string]string{}}
	o.boards[name] = b
	o.Write(board.Person(o.ada.ID), func(ctx context.Context, tx *store.Tx) error {
		in, err := tx.Workspace(ctx, o.workspace, board.ViewWorkspace)
		if err != nil {
			return err
		}
		before := board.InstantOf(officeTime.AddDate(-1, 0, 0))
		made := board.Board{ID: tx.NewID("brd_"), WorkspaceID: o.workspace, Name: name, Visibility: board.VisibleToWorkspace,
			Features: board.NewBoardFeatures(), CreatedAt: before, UpdatedAt: before}
		b.id = made.ID
		o.newID = tx.NewID
		d := tx.NewDraft(in)
		if err := d.Board(ctx, &made); err != nil {
			return err
		}
		for _, name := range labels {
			b.labels[name] = tx.NewID("lbl_")
			if err := d.Label(ctx, &board.Label{ID: b.labels[name], BoardID: b.id, Name: name, Color: colorOf(name),
				CreatedAt: before, UpdatedAt: before}); err != nil {
				return err
			}
		}
		ranks, err := board.RanksAfter("", 500)
		if err != nil {
			return err
		}
		for i, l := range lists {
			id := tx.NewID("lst_")
			b.lists[l.name] = id
			if err := d.List(ctx, &board.List{ID: id, BoardID: b.id, Name: l.name, Rank: ranks[i], WIPMode: "soft",
				CreatedAt: before, UpdatedAt: before}); err != nil {
				return err
			}
			for n := range l.cards {
				if err := d.Card(ctx, o.card(b, l, labels, ranks[n], n)); err != nil {
					return err
				}
			}
		}
		if err := d.EndBoard(ctx, b.id, 1); err != nil {
			return err
		}
		return d.Flush(ctx)
	})
}

func colorOf(label string) board.Color {
	return map[string]board.Color{"Bug": "red", "Docs": "sky", "Feature": "green", "Interview": "blue", "Legal": "gray",
		"Marketing": "purple", "Urgent": "orange"}[label]
}

// card returns card i of a list.
func (o *office) card(b *officeBoard, l officeList, labels []string, rank string, i int) *store.WholeCard {
	b.cards++
	created := officeTime.AddDate(0, 0, -20-i*37%270).Add(time.Duration(b.cards) * time.Minute)
	c := &store.WholeCard{CardDetail: board.CardDetail{Card: board.Card{
		ID: o.newID("crd_"), BoardID: b.id, ListID: b.lists[l.name], Rank: rank, Number: b.cards, Title: officeTitle(b.cards),
		Description: new(strings.Repeat("What is known about it so far, and who asked for it. ", i%4)),
		CreatedAt:   board.InstantOf(created), UpdatedAt: board.InstantOf(created), CreatedBy: &o.ada.ID,
	}}}
	if n := i % (len(labels) + 1); n < len(labels) {
		c.Labels = []board.LabelRef{{ID: b.labels[labels[n]], Name: labels[n], Color: colorOf(labels[n])}}
	}
	if i%10 == 4 {
		c.Comments = 1
		c.CommentList = []board.Comment{{ID: o.newID("cmt_"), CardID: c.ID, BoardID: b.id, Text: "Who can look at this?",
			Author: &board.UserRef{ID: o.dan.ID, Name: "Dan"}, CreatedAt: c.CreatedAt}}
	}
	if i%15 == 2 {
		c.Checklists = []board.Checklist{{ID: o.newID("chk_"), CardID: c.ID, Title: "Steps", Items: []board.ChecklistItem{
			{ID: o.newID("chi_"), Title: "Ask", Rank: rank}}}}
		c.Checklists[0].Items[0].ChecklistID, c.ChecklistItems.Total = c.Checklists[0].ID, 1
	}
	if l.shape != nil {
		l.shape(c, i)
	}
	switch fmt.Sprint(l.name, i) {
	case "Backlog111":
		c.Title = "Renew the TLS certificate"
	case "Later50":
		c.Title = "renew the TLS-certificate!"
	case "Review7":
		c.Title = "Choose the payment provider"
		o.discuss(c)
	}
	return c
}

// officeTitle returns the title of the card with a number. All titles differ.
func officeTitle(n int) string {
	verbs := []string{"Write", "Review", "Order", "Plan", "Check", "Renew", "Translate", "Print", "Test", "Announce",
		"Measure", "Clean up", "Repair", "Replace", "Describe", "Compare", "Discuss", "Approve"}
	objects := []string{"the press release", "login on phones", "chairs", "the autumn event", "help pages",
		"the price list", "backups", "the support contract", "invoices", "the newsletter", "the trade fair stand",
		"error messages", "the data sheet", "the demo video", "search results", "the welcome email", "the sales deck",
		"customer interviews", "the roadmap"}
	places := []string{"Berlin", "Oslo", "Lyon"}
	return fmt.Sprintf("%s %s for %s", verbs[n%18], objects[n%19], places[n/342%3])
}

func (o *office) assign(c *store.WholeCard, p *apptest.Person) {
	c.Assignees = []board.UserRef{{ID: p.ID, Name: p.Name}}
}

func due(c *store.WholeCard, days int) {
	c.DueDate = new(officeTime.AddDate(0, 0, days).Format(board.DateLayout))
}

// backlog assigns some cards. Those of Anna are overdue.
func (o *office) backlog(c *store.WholeCard, i int) {
	switch i % 20 {
	case 0:
		o.assign(c, o.anna)
		due(c, -1-i%30)
	case 5:
		o.assign(c, o.bob)
	case 10:
		o.assign(c, o.cleo)
		due(c, 10+i%50)
	case 15:
		due(c, 3+i%40)
	}
}

// started assigns all cards, and gives them due dates around today.
func (o *office) started(c *store.WholeCard, i int) {
	o.assign(c, []*apptest.Person{o.bob, o.cleo, o.dan, o.ada}[i%4])
	if i%3 != 1 {
		due(c, i%14-4)
	}
}

// discuss adds a dozen long comments.
func (o *office) discuss(c *store.WholeCard) {
	c.CommentList = nil
	text := strings.Repeat("I compared the fees, the refunds and the support hours with those of the offer before. ", 16)
	for n, p := range slices.Repeat([]*apptest.Person{o.bob, o.cleo, o.dan, o.anna}, 3) {
		at := officeTime.AddDate(0, 0, n-20)
		c.CommentList = append(c.CommentList, board.Comment{ID: o.newID("cmt_"), CardID: c.ID, BoardID: c.BoardID,
			Author: &board.UserRef{ID: p.ID, Name: p.Name}, CreatedAt: board.InstantOf(at),
			Text: fmt.Sprintf("Offer %d costs %d cents per payment.\n\n%s", n, 20+n, text)})
	}
	c.Comments = len(c.CommentList)
}

// done marks all cards as done within the last 40 days.
func (o *office) done(c *store.WholeCard, i int) {
	o.assign(c, []*apptest.Person{o.bob, o.cleo, o.dan, o.ada, o.anna}[i%5])
	at := board.InstantOf(officeTime.Add(-time.Duration(i+1) * 192 * time.Minute))
	c.Done, c.DoneAt, c.UpdatedAt, c.CreatedAt = true, &at, at, min(c.CreatedAt, at)
	due(c, -30)
}

// lastWeek lets people, a rule and the assistant work during the six days before officeTime. They
// make 210 changes to Launch.
func (o *office) lastWeek() {
	o.T.Helper()
	rule := o.newID("rul_")
	launch := o.boards["Launch"]
	cards := map[string][]string{} // ids by list
	for _, c := range o.cards() {
		cards[c.ListID] = append(cards[c.ListID], c.ID)
	}
	in := func(list string) []string { return cards[launch.lists[list]] }
	must := func(p *apptest.Person, name string, in fields) {
		o.T.Helper()
		p.Must(name, in)
		o.Clock.Advance(35 * time.Minute)
	}
	for i := range 40 {
		must(o.bob, "move_card", fields{"cardId": in("Backlog")[380+i], "listId": launch.lists["Doing"]})
		must(o.cleo, "add_comment", fields{"cardId": in("Backlog")[i*9], "text": "I asked. The answer is in the text."})
		must(o.dan, "update_card", fields{"cardId": in("Later")[i], "description": "They want an offer in spring."})
		must(o.claude, "set_card_due", fields{"cardId": in("Later")[100+i], "dueDate": "2027-03-01"})
	}
	for i, title := range inboxTitles {
		must(o.dan, "create_card", fields{"listId": launch.lists["Inbox"], "title": title, "description": "From a customer."})
		must(o.bob, "move_card", fields{"cardId": in("Doing")[i], "listId": launch.lists["Review"]})
		must(o.cleo, "add_comment", fields{"cardId": in("Review")[i], "text": "I checked it. Two small things are open."})
		must(o.anna, "update_card", fields{"cardId": in("Review")[19-i], "done": true})
		must(o.cleo, "update_card", fields{"cardId": cards[o.boards["Website"].lists["Doing"]][i%8], "done": true})
		o.Write(board.ByRule(rule, o.ada.ID, o.workspace, ""), func(ctx context.Context, tx *store.Tx) error {
			card := app.CardInput{CardID: in("Review")[19-i]}
			_, err := app.MoveCard(ctx, tx, app.MoveCardInput{CardInput: card, ListID: launch.lists["Done"]})
			return err
		})
	}
}

// inboxTitles are the titles of the cards in the list Inbox.
var inboxTitles = []string{"Bug: login fails on Safari", "Docs: explain the import",
	"Feature: dark mode for the calendar", "Bug: emails arrive twice", "Feature: sort boards by name",
	"Invoice shows the wrong address", "Docs: list all shortcuts",
	"Bug: the export stops at 99%", "Feature: cards by voice", "Can we pay by bank transfer?"}
