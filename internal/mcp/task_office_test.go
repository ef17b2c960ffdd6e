package mcp_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"cardwall/internal/apptest"
	"cardwall/internal/board"
)

// officeTime is when the tasks begin, which is a Wednesday.
var officeTime = time.Date(2026, time.November, 25, 9, 0, 0, 0, time.UTC)

// office is a workspace in which five people and an assistant work. The board Launch has 1,000
// cards, and two other boards have a few.
type office struct {
	*apptest.Service
	ada, anna, bob, cleo, dan *apptest.Person
	claude                    *apptest.Person // the program that acts for Ada
	workspace                 string
	boards                    map[string]*officeBoard // by name
	newID                     func(prefix string) string
}

type officeBoard struct {
	id            string
	lists, labels map[string]string // ids by name
	cards         int
}

// officeCard is a card as REST returns it, with what the tasks change.
type officeCard struct {
	board.Card
	Board string // the name of the board
}

// cards returns the cards of all boards over REST, also archived ones, by board and number.
func (o *office) cards() (all []officeCard) {
	o.T.Helper()
	for _, name := range []string{"Launch", "Website", "Hiring"} {
		in := fields{"boardId": o.boards[name].id, "q": "is:open,done,archived", "view": "full", "limit": 200}
		for next := "start"; next != ""; {
			a := o.ada.Must("list_cards", in)
			var page struct {
				Data []board.Card `json:"data"`
			}
			if err := json.Unmarshal(a.Raw, &page); err != nil {
				o.T.Fatal(err)
			}
			for _, c := range page.Data {
				all = append(all, officeCard{c, name})
			}
			next = a.Next
			in["cursor"] = next
		}
	}
	slices.SortStableFunc(all, func(a, b officeCard) int {
		return cmp.Or(cmp.Compare(a.Board, b.Board), cmp.Compare(a.Number, b.Number))
	})
	return all
}

// name returns the name by which tools find the card.
func (c officeCard) name() string { return fmt.Sprintf("%s #%d", c.Board, c.Number) }

func (c officeCard) open() bool { return !c.Done && c.ArchivedAt == nil }

// due returns the due date, or "" if there is none.
func (c officeCard) due() string {
	if c.DueDate == nil {
		return ""
	}
	return *c.DueDate
}

func (c officeCard) overdue() bool {
	return c.open() && c.due() != "" && c.due() < officeTime.Format(board.DateLayout)
}

func (c officeCard) has(label string) bool {
	return slices.ContainsFunc(c.Labels, func(l board.LabelRef) bool { return l.Name == label })
}

func (c officeCard) isOf(person string) bool {
	return slices.ContainsFunc(c.Assignees, func(p board.UserRef) bool { return p.Name == person })
}

// in reports whether the card is in a list of its board.
func (o *office) in(c officeCard, list string) bool { return c.ListID == o.boards[c.Board].lists[list] }

// changed returns the fields that differ between two states of a card.
func (c officeCard) changed(to officeCard) string {
	var names []string
	note := func(name string, before, after any) {
		x, _ := json.Marshal(before, json.Deterministic(true))
		y, _ := json.Marshal(after, json.Deterministic(true))
		if string(x) != string(y) {
			names = append(names, name)
		}
	}
	note("board", c.Board, to.Board)
	note("list", c.ListID, to.ListID)
	note("text", []any{c.Title, c.Description}, []any{to.Title, to.Description})
	note("done", c.Done, to.Done)
	note("archived", c.ArchivedAt, to.ArchivedAt)
	note("labels", labelsOf(c), labelsOf(to))
	note("assignees", c.Assignees, to.Assignees)
	note("due", c.Due, to.Due)
	note("comments", c.Comments, to.Comments)
	note("checklist", c.ChecklistItems, to.ChecklistItems)
	return strings.Join(names, " ")
}

func labelsOf(c officeCard) (names []string) {
	for _, l := range c.Labels {
		names = append(names, l.Name)
	}
	return names
}

// changes returns the differences between two states of the cards: the changed fields, or "new",
// by the id of the card.
func changes(before, after []officeCard) map[string]string {
	old, out := map[string]officeCard{}, map[string]string{}
	for _, c := range before {
		old[c.ID] = c
	}
	for _, c := range after {
		was, ok := old[c.ID]
		delete(old, c.ID)
		if !ok {
			out[c.ID] = "new"
		} else if what := was.changed(c); what != "" {
			out[c.ID] = what
		}
	}
	for id := range old {
		out[id] = "missing"
	}
	return out
}

// requireCounts fails the test unless exactly the given numbers of cards changed in the given way.
func requireCounts(t *testing.T, got map[string]string, want map[string]int) {
	t.Helper()
	counts := map[string]int{}
	for _, what := range got {
		counts[what]++
	}
	maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
	if !maps.Equal(counts, want) {
		t.Errorf("got the changes %v, want %v", counts, want)
	}
}
