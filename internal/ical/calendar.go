package ical

import (
	"strings"
	"time"
	"unicode"

	ics "github.com/arran4/golang-ical"

	"cardwall/internal/board"
)

const (
	product   = "-//Cardwall//Due dates//EN"
	refreshed = "PT1H" // how often programs should look again (RFC 7986, 5.7)
	textMost  = 2000   // characters of a description
)

// Write makes the calendar of cards. The same cards make the same bytes: nothing
// in it is of the moment of writing. Host makes the ids of events unique in the
// world, links begins the address of a card.
func Write(cards []board.FeedCard, host, links string) string {
	c := ics.NewCalendar()
	c.CalendarProperties = nil // its own are not ours
	c.SetProductId(product)
	c.SetVersion("2.0")
	c.SetCalscale("GREGORIAN")
	c.SetXWRCalName("Cardwall")
	c.SetRefreshInterval(refreshed) // with VALUE=DURATION, which the library has in the name
	c.SetXPublishedTTL(refreshed)
	for _, card := range cards {
		event(c, card, host, links)
	}
	return c.Serialize(ics.WithNewLineWindows)
}

// event adds one event. Without METHOD, DTSTAMP is when what it says last
// changed (RFC 5545, 3.8.7.2); the number of its revision grows with that.
func event(c *ics.Calendar, card board.FeedCard, host, links string) {
	e := c.AddEvent(card.ID + "@" + host)
	changed := card.UpdatedAt.Time()
	e.SetDtStampTime(changed)
	e.SetCreatedTime(card.CreatedAt.Time())
	e.SetModifiedAt(changed)
	e.SetSequence(int((card.UpdatedAt - card.CreatedAt) / board.Instant(time.Second.Milliseconds())))
	if card.DueAt != nil {
		e.SetProperty(ics.ComponentPropertyDtStart, card.DueAt.Time().Format("20060102T150405Z"))
	} else {
		day, err := time.Parse(board.DateLayout, *card.DueDate)
		if err != nil {
			day = changed // a date in the database is one
		}
		e.SetProperty(ics.ComponentPropertyDtStart, day.Format("20060102"), ics.WithValue("DATE"))
		e.SetProperty(ics.ComponentPropertyDtEnd, day.AddDate(0, 0, 1).Format("20060102"), ics.WithValue("DATE"))
	}
	e.SetSummary(plain(card.Title))
	e.SetDescription(plain(description(card, links)))
	e.SetURL(links + card.ID)
	e.SetProperty(ics.ComponentPropertyTransp, "TRANSPARENT") // nobody is busy because something is due
}

// description is where the card stands, how its own begins, and where to find it.
func description(card board.FeedCard, links string) string {
	text := card.Board + " › " + card.List
	if d := strings.TrimSpace(card.Description); d != "" {
		runes := []rune(d)
		if len(runes) > textMost {
			d = string(runes[:textMost]) + "…"
		}
		text += "\n\n" + d
	}
	return text + "\n\n" + links + card.ID
}

// plain takes out what no text of a calendar may hold: control characters but
// for the tab and the end of a line, which is one character (RFC 5545, 3.3.11).
func plain(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return -1
		}
		return r
	}, s)
}
