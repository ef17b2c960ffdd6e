package ical

import (
	"strings"
	"time"
	"unicode"

	ics "github.com/arran4/golang-ical"

	"cardwall/internal/board"
)

const (
	product = "-//Cardwall//Due dates//EN"
	refresh = "PT1H" // refresh interval for programs (RFC 7986, 5.7)
	maxText = 2000   // maximum number of characters of a card's description
)

// Write returns a calendar of cards. The same cards always produce the same bytes,
// so the entity tag changes only with the content. host makes the ids of events
// globally unique, and links is the prefix of the card URLs.
func Write(cards []board.FeedCard, host, links string) string {
	c := ics.NewCalendar()
	c.CalendarProperties = nil // drop the defaults of the library
	c.SetProductId(product)
	c.SetVersion("2.0")
	c.SetCalscale("GREGORIAN")
	c.SetXWRCalName("Cardwall")
	c.SetRefreshInterval(refresh) // the library adds VALUE=DURATION
	c.SetXPublishedTTL(refresh)
	for _, card := range cards {
		event(c, card, host, links)
	}
	return c.Serialize(ics.WithNewLineWindows)
}

// event adds one event. In a calendar without METHOD, DTSTAMP is the time of the last
// change (RFC 5545, 3.8.7.2). SEQUENCE increases with it.
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
			day = changed // cannot happen, because dates in the database are valid
		}
		e.SetProperty(ics.ComponentPropertyDtStart, day.Format("20060102"), ics.WithValue("DATE"))
		e.SetProperty(ics.ComponentPropertyDtEnd, day.AddDate(0, 0, 1).Format("20060102"), ics.WithValue("DATE"))
	}
	e.SetSummary(plain(card.Title))
	e.SetDescription(plain(description(card, links)))
	e.SetURL(links + card.ID)
	e.SetProperty(ics.ComponentPropertyTransp, "TRANSPARENT") // a due date does not make a person busy
}

// description returns the card's board and list, the beginning of its description
// and its URL.
func description(card board.FeedCard, links string) string {
	text := card.Board + " › " + card.List
	if d := strings.TrimSpace(card.Description); d != "" {
		runes := []rune(d)
		if len(runes) > maxText {
			d = string(runes[:maxText]) + "…"
		}
		text += "\n\n" + d
	}
	return text + "\n\n" + links + card.ID
}

// plain removes the control characters that a calendar must not contain (RFC 5545,
// 3.3.11): all except tab and line feed. It also normalizes line breaks to line feeds
// and replaces invalid UTF-8.
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
