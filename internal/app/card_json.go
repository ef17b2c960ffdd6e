package app

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// The JSON encoders in this file are for records of which one response can hold
// thousands. Their output is the same as the generic encoder's.

// jsonText builds a JSON object. It stops at the first error.
type jsonText struct {
	b   []byte
	err error
}

// name starts a member with a comma, even if it is the first one; see object.
func (t *jsonText) name(name string) {
	t.b = append(t.b, ',', '"')
	t.b = append(append(t.b, name...), '"', ':')
}

func (t *jsonText) quoted(name, value string) {
	t.name(name)
	if t.err == nil {
		t.b, t.err = jsontext.AppendQuote(t.b, value)
	}
}

func (t *jsonText) maybeQuoted(name string, value *string) {
	if value == nil {
		t.null(name)
		return
	}
	t.quoted(name, *value)
}

func (t *jsonText) number(name string, value int) {
	t.name(name)
	t.b = strconv.AppendInt(t.b, int64(value), 10)
}

func (t *jsonText) boolean(name string, value bool) {
	t.name(name)
	t.b = strconv.AppendBool(t.b, value)
}

func (t *jsonText) instant(name string, at *board.Instant) {
	if at == nil {
		t.null(name)
		return
	}
	t.name(name)
	if t.err == nil {
		t.b, t.err = at.AppendText(append(t.b, '"'))
		t.b = append(t.b, '"')
	}
}

func (t *jsonText) null(name string) {
	t.name(name)
	t.b = append(t.b, "null"...)
}

func (t *jsonText) due(d *board.Due) {
	t.maybeQuoted("dueDate", d.DueDate)
	t.instant("dueAt", d.DueAt)
	t.maybeQuoted("startDate", d.StartDate)
	t.instant("startAt", d.StartAt)
	t.maybeQuoted("timeZone", d.TimeZone)
}

// object writes an object, whose members are added by write.
func (t *jsonText) object(write func()) {
	at := len(t.b)
	write()
	t.b[at] = '{' // replaces the comma of the first member
	t.b = append(t.b, '}')
}

// array writes a member that is an array of n objects.
func (t *jsonText) array(name string, n int, write func(i int)) {
	t.name(name)
	t.b = append(t.b, '[')
	for i := range n {
		if i > 0 {
			t.b = append(t.b, ',')
		}
		t.object(func() { write(i) })
	}
	t.b = append(t.b, ']')
}

// appendCard appends the JSON of a card.
func appendCard(b []byte, c *board.Card) ([]byte, error) {
	t := jsonText{b: b}
	t.object(func() {
		t.quoted("id", c.ID)
		t.quoted("boardId", c.BoardID)
		t.quoted("listId", c.ListID)
		t.number("number", c.Number)
		t.quoted("title", c.Title)
		if c.Description != nil {
			t.quoted("description", *c.Description)
		}
		t.boolean("done", c.Done)
		t.instant("doneAt", c.DoneAt)
		t.instant("archivedAt", c.ArchivedAt)
		t.maybeQuoted("archivedBy", (*string)(c.ArchivedBy))
		t.array("labels", len(c.Labels), func(i int) {
			t.quoted("id", c.Labels[i].ID)
			t.quoted("name", c.Labels[i].Name)
			t.quoted("color", string(c.Labels[i].Color))
		})
		t.array("assignees", len(c.Assignees), func(i int) {
			t.quoted("id", c.Assignees[i].ID)
			t.quoted("name", c.Assignees[i].Name)
		})
		t.due(&c.Due)
		t.name("checklistItems")
		t.object(func() {
			t.number("done", c.ChecklistItems.Done)
			t.number("total", c.ChecklistItems.Total)
		})
		t.number("comments", c.Comments)
		t.maybeQuoted("createdBy", c.CreatedBy)
		t.instant("createdAt", &c.CreatedAt)
		t.instant("updatedAt", &c.UpdatedAt)
		t.quoted("url", c.URL)
	})
	return t.b, t.err
}

// appendCalendarCard appends the JSON of a card in a calendar.
func appendCalendarCard(b []byte, c *board.CalendarCard) ([]byte, error) {
	t := jsonText{b: b}
	t.object(func() {
		t.quoted("id", c.ID)
		t.quoted("boardId", c.BoardID)
		t.quoted("listId", c.ListID)
		t.number("number", c.Number)
		t.quoted("title", c.Title)
		t.boolean("done", c.Done)
		t.quoted("firstDay", c.FirstDay)
		t.quoted("lastDay", c.LastDay)
		t.due(&c.Due)
	})
	return t.b, t.err
}
