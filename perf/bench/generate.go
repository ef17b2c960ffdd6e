package main

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// generator generates the boards of a document.
type generator struct {
	random *rand.Rand
	words  *rand.Zipf // a few words are frequent, most are rare, as in any language
	now    time.Time
	owner  string
	cards  int // on each board
	open   int // of these; the others are archived
	people []string
}

// board generates board number n. A third of its cards are done, two thirds are due within half a year before or after
// now, most have a label and an assignee, and two thirds have been moved.
func (g *generator) board(n int) *docBoard {
	id := "board-" + strconv.Itoa(n+1)
	old := docTimes{g.ago(400), g.ago(300)}
	b := &docBoard{
		Format: "cardwall-export/1", ExportedAt: g.now.Format(instantLayout), Complete: true,
		Board: docHead{
			ID: id, Name: "Board " + strconv.Itoa(n+1), Description: cardDescription, Visibility: "workspace",
			Features:   map[string]bool{"statusUpdates": true, "wipLimits": true, "startDates": true, "calendar": true},
			NextNumber: g.cards + 1, Cards: g.cards, CreatedBy: g.owner, docTimes: old,
		},
		Users: []docName{{g.owner, "Ada"}},
	}
	for i := 1; i < reportPeople; i++ {
		b.Users = append(b.Users, docName{"person-" + strconv.Itoa(i), "Person " + strconv.Itoa(i)})
	}
	g.people = g.people[:0]
	for _, u := range b.Users {
		g.people = append(g.people, u.ID)
	}
	for i, name := range labelNames() {
		at := strconv.Itoa(i)
		b.Labels = append(b.Labels, docLabel{docName{id + "-label-" + at, name}, "red", old})
		b.Lists = append(b.Lists, docList{docName{id + "-list-" + at, "List " + at}, 150, "soft", old})
	}
	for i := range g.cards {
		c, created := g.card(b, n*g.cards+i)
		if i >= g.open {
			c.ArchivedAt = &c.UpdatedAt
		}
		b.Cards = append(b.Cards, c)
		b.enter("card.created", c.CreatedAt, c)
		if g.random.IntN(3) > 0 {
			b.enter("card.moved", g.between(created), c)
		}
	}
	b.BoardVersion = len(b.Activity)
	b.Counts = docCounts{
		Users: len(b.Users), Labels: len(b.Labels), Lists: len(b.Lists), Cards: len(b.Cards), Activity: len(b.Activity),
	}
	return b
}

// enter adds a change of a card to the activity.
func (b *docBoard) enter(kind, at string, c docCard) {
	n := len(b.Activity) + 1
	changes := map[string]any{}
	if kind == "card.moved" {
		changes["listId"] = map[string]string{"from": b.Lists[0].ID, "to": c.ListID}
	}
	b.Activity = append(b.Activity, docEntry{
		ID: b.Board.ID + "-entry-" + strconv.Itoa(n), Type: kind, At: at, Actor: docActor{"person", c.CreatedBy},
		ListID: c.ListID, CardID: c.ID, Changes: changes, BoardVersion: n,
	})
}

// card generates card number n of all boards and returns when it was created.
func (g *generator) card(b *docBoard, n int) (docCard, time.Time) {
	created := g.now.Add(-g.within(300))
	number := n%g.cards + 1
	c := docCard{
		ID: b.Board.ID + "-card-" + strconv.Itoa(number), Number: number, Title: g.text(3 + g.random.IntN(5)), Description: g.description(n),
		ListID: b.Lists[g.random.IntN(len(b.Lists))].ID, Labels: []string{}, Assignees: []string{}, CreatedBy: g.owner,
		docTimes: docTimes{created.Format(instantLayout), g.between(created)},
	}
	if g.random.IntN(3) == 0 {
		at := g.between(created)
		c.DoneAt = &at
	}
	if g.random.IntN(3) > 0 {
		g.date(&c)
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

// date adds a due date, to half of the cards with a time of day, and to half with a start date.
func (g *generator) date(c *docCard) {
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

// description returns a text of about 200 bytes with the words that are searched for.
func (g *generator) description(n int) string {
	text := g.text(28)
	if n%rareEvery == 0 {
		all := rareWords()
		text += " " + all[n/rareEvery%len(all)]
	}
	if n%mediumEvery == 0 {
		text += " " + mediumWord
	}
	if n%commonEvery == 0 {
		text += " " + commonWord
	}
	return text
}

// text returns a text of invented words.
func (g *generator) text(words int) string {
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
func (g *generator) within(days int) time.Duration {
	return time.Duration(1+g.random.Int64N(int64(days)*24*60*60)) * time.Second
}

// ago returns a random time within the last days.
func (g *generator) ago(days int) string { return g.now.Add(-g.within(days)).Format(instantLayout) }

// between returns a random time from then until now.
func (g *generator) between(from time.Time) string {
	return from.Add(time.Duration(g.random.Int64N(int64(g.now.Sub(from)) + 1))).Format(instantLayout)
}
