package app

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// The encoders in this file write the JSON of cards without reflection, because a
// response can contain thousands of cards. Their output is identical to that of the
// generic encoder.

// jsonText builds a JSON object. After an error, which stays in err, b is not valid JSON.
type jsonText struct {
	b   []byte
	err error
}

// name appends a comma and the name of a member. object replaces the comma of the
// first member.
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

// object appends an object. It calls write, which must append at least one member.
func (t *jsonText) object(write func()) {
	at := len(t.b)
	write()
	t.b[at] = '{' // replaces the comma of the first member
	t.b = append(t.b, '}')
}

// array appends a member whose value is an array of n objects. It calls write to
// append the members of object i.
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
		t.number("attachments", c.Attachments)
		if c.Cover == nil {
			t.null("cover")
		} else {
			t.name("cover")
			t.object(func() {
				t.quoted("attachmentId", c.Cover.AttachmentID)
				t.number("width", c.Cover.Width)
				t.number("height", c.Cover.Height)
			})
		}
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
