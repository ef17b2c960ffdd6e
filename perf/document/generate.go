package document

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// Generator generates the boards of a document.
type Generator struct {
	random *rand.Rand
	words  *rand.Zipf // a few words are frequent and most are rare, as in a natural language
	now    time.Time
	owner  string
	cards  int      // number of cards on each board
	open   int      // number of cards on each board that are not archived
	people []string // ids of the users
}

// Board generates board number n. About a third of its cards are done, and two thirds are due within half a year before
// or after now. Most have a label and an assignee, and two thirds have been moved.
func (g *Generator) Board(n int) *Board {
	id := "board-" + strconv.Itoa(n+1)
	old := Times{g.ago(400), g.ago(300)}
	b := &Board{
		Format: "cardwall-export/1", ExportedAt: g.now.Format(InstantLayout), Complete: true,
		Board: Head{
			ID: id, Name: "Board " + strconv.Itoa(n+1), Description: Text, Visibility: "workspace",
			Features:   map[string]bool{"statusUpdates": true, "wipLimits": true, "startDates": true, "calendar": true},
			NextNumber: g.cards + 1, Cards: g.cards, CreatedBy: g.owner, Times: old,
		},
		Users: []Name{{g.owner, "Ada"}},
	}
	for i := 1; i < people; i++ {
		b.Users = append(b.Users, Name{"person-" + strconv.Itoa(i), "Person " + strconv.Itoa(i)})
	}
	g.people = g.people[:0]
	for _, u := range b.Users {
		g.people = append(g.people, u.ID)
	}
	for i, name := range labelNames() {
		number := strconv.Itoa(i)
		b.Labels = append(b.Labels, Label{Name{id + "-label-" + number, name}, "red", old})
		b.Lists = append(b.Lists, List{Name{id + "-list-" + number, "List " + number}, 150, "soft", old})
	}
	for i := range g.cards {
		c, created := g.card(b, n*g.cards+i)
		if i >= g.open {
			c.ArchivedAt = &c.UpdatedAt
		}
		b.Cards = append(b.Cards, c)
		b.addEntry("card.created", c.CreatedAt, c)
		if g.random.IntN(3) > 0 {
			b.addEntry("card.moved", g.between(created), c)
		}
	}
	b.BoardVersion = len(b.Activity)
	b.Counts = Counts{
		Users: len(b.Users), Labels: len(b.Labels), Lists: len(b.Lists), Cards: len(b.Cards), Activity: len(b.Activity),
	}
	return b
}

// addEntry adds a change to card c to the activity.
func (b *Board) addEntry(kind, at string, c Card) {
	n := len(b.Activity) + 1
	changes := map[string]any{}
	if kind == "card.moved" {
		changes["listId"] = map[string]string{"from": b.Lists[0].ID, "to": c.ListID}
	}
	b.Activity = append(b.Activity, Entry{
		ID: b.Board.ID + "-entry-" + strconv.Itoa(n), Type: kind, At: at, Actor: Actor{"person", c.CreatedBy},
		ListID: c.ListID, CardID: c.ID, Changes: changes, BoardVersion: n,
	})
}

// card generates the card with the number n, counting over all boards. It also returns the time at which the card was
// created.
func (g *Generator) card(b *Board, n int) (Card, time.Time) {
	created := g.now.Add(-g.within(300))
	number := n%g.cards + 1
	c := Card{
		ID: b.Board.ID + "-card-" + strconv.Itoa(number), Number: number, Title: g.text(3 + g.random.IntN(5)), Description: g.description(n),
		ListID: b.Lists[g.random.IntN(len(b.Lists))].ID, Labels: []string{}, Assignees: []string{}, CreatedBy: g.owner,
		Times: Times{created.Format(InstantLayout), g.between(created)},
	}
	if g.random.IntN(3) == 0 {
		at := g.between(created)
		c.DoneAt = &at
	}
	if g.random.IntN(3) > 0 {
		g.addDates(&c)
	}
	if g.random.IntN(5) > 0 {
		c.Labels = append(c.Labels, b.Labels[g.random.IntN(len(b.Labels))].ID)
	}
	if g.random.IntN(3) > 0 {
		first := g.random.IntN(len(g.people))
		c.Assignees = append(c.Assignees, g.people[first])
		if g.random.IntN(4) == 0 {
			c.Assignees = append(c.Assignees, g.people[(first+1)%len(g.people)])
		}
	}
	return c, created
}

// addDates adds a due date to a card. Half of the cards also get a time of day, and half get a start date.
func (g *Generator) addDates(c *Card) {
	due := g.now.AddDate(0, 0, g.random.IntN(365)-182)
	day, zone := due.Format(time.DateOnly), "Europe/Zurich"
	c.DueDate, c.TimeZone = &day, &zone
	if g.random.IntN(2) == 0 {
		at := day + "T15:00:00.000Z"
		c.DueAt = &at
	}
	if g.random.IntN(2) == 0 {
		start := due.AddDate(0, 0, -g.random.IntN(14)).Format(time.DateOnly)
		c.StartDate = &start
	}
}

// description returns about 140 bytes of text, which may contain words to search for.
func (g *Generator) description(n int) string {
	text := g.text(28)
	if n%RareEvery == 0 {
		all := RareWords()
		text += " " + all[n/RareEvery%len(all)]
	}
	if n%mediumEvery == 0 {
		text += " " + MediumWord
	}
	if n%CommonEvery == 0 {
		text += " " + CommonWord
	}
	return text
}

// text returns the given number of random words.
func (g *Generator) text(words int) string {
	const first, second = "bcdfghklmnprstvw", "aeio"
	var text []byte
	for i := range words {
		if i > 0 {
			text = append(text, ' ')
		}
		for n := g.words.Uint64() + 1; n > 0; n /= 64 {
			text = append(text, first[n%16], second[n/16%4])
		}
		text = append(text, 'n')
	}
	return string(text)
}

// within returns a random duration of at most the given number of days.
func (g *Generator) within(days int) time.Duration {
	return time.Duration(1+g.random.Int64N(int64(days)*24*60*60)) * time.Second
}

// ago returns a random time within the given number of past days.
func (g *Generator) ago(days int) string { return g.now.Add(-g.within(days)).Format(InstantLayout) }

// between returns a random time between from and now.
func (g *Generator) between(from time.Time) string {
	return from.Add(time.Duration(g.random.Int64N(int64(g.now.Sub(from)) + 1))).Format(InstantLayout)
}

// HeavyBoard generates a board whose cards have long descriptions and checklists.
func (g *Generator) HeavyBoard() *Board {
	b := g.Board(0)
	b.Board.Name = "Heavy"
	for i := range b.Cards {
		c := &b.Cards[i]
		c.Description = g.text(heavyWords)
		for n := range 2 {
			list := Checklist{ID: fmt.Sprintf("%s-list-%d", c.ID, n), Title: g.text(3), Times: c.Times}
			for m := range 10 {
				list.Items = append(list.Items, Item{ID: fmt.Sprintf("%s-item-%d", list.ID, m), Title: g.text(5), Times: c.Times})
			}
			c.Checklists = append(c.Checklists, list)
			b.Counts.Checklists++
			b.Counts.Items += len(list.Items)
		}
	}
	return b
}
