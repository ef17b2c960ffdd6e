package app

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// JSON encoders for the records that responses hold by the thousand. Their
// output is the same as the generic encoder's.

// text is a JSON object under construction. It stops at the first error.
type text struct {
	b   []byte
	err error
}

// name starts a member, and the object itself if the member is the first.
func (t *text) name(name string) {
	t.b = append(t.b, ',', '"')
	t.b = append(append(t.b, name...), '"', ':')
}

func (t *text) quoted(name, is string) {
	t.name(name)
	if t.err == nil {
		t.b, t.err = jsontext.AppendQuote(t.b, is)
	}
}

func (t *text) maybeQuoted(name string, is *string) {
	if is == nil {
		t.null(name)
		return
	}
	t.quoted(name, *is)
}

func (t *text) number(name string, is int) {
	t.name(name)
	t.b = strconv.AppendInt(t.b, int64(is), 10)
}

func (t *text) truth(name string, is bool) {
	t.name(name)
	t.b = strconv.AppendBool(t.b, is)
}

func (t *text) instant(name string, at *board.Instant) {
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

func (t *text) null(name string) {
	t.name(name)
	t.b = append(t.b, "null"...)
}

func (t *text) due(d *board.Due) {
	t.maybeQuoted("dueDate", d.DueDate)
	t.instant("dueAt", d.DueAt)
	t.maybeQuoted("startDate", d.StartDate)
	t.instant("startAt", d.StartAt)
	t.maybeQuoted("timeZone", d.TimeZone)
}

// object writes an object. The function write adds its members.
func (t *text) object(write func()) {
	at := len(t.b)
	write()
	t.b[at] = '{' // replaces the first comma
	t.b = append(t.b, '}')
}

// array writes a member that is an array of n objects.
func (t *text) array(name string, n int, write func(i int)) {
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
	t := text{b: b}
	t.object(func() {
		t.quoted("id", c.ID)
		t.quoted("boardId", c.BoardID)
		t.quoted("listId", c.ListID)
		t.number("number", c.Number)
		t.quoted("title", c.Title)
		if c.Description != nil {
			t.quoted("description", *c.Description)
		}
		t.truth("done", c.Done)
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
	t := text{b: b}
	t.object(func() {
		t.quoted("id", c.ID)
		t.quoted("boardId", c.BoardID)
		t.quoted("listId", c.ListID)
		t.number("number", c.Number)
		t.quoted("title", c.Title)
		t.truth("done", c.Done)
		t.quoted("firstDay", c.FirstDay)
		t.quoted("lastDay", c.LastDay)
		t.due(&c.Due)
	})
	return t.b, t.err
}
