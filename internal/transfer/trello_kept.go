package transfer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"cardwall/internal/board"
)

// Values that have no field here are kept as text: those of a card in its description, those
// of a checklist item in its title.

// trelloField is the definition of a custom field.
type trelloField struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Options []struct {
		ID    string           `json:"id"`
		Value trelloFieldValue `json:"value"`
	} `json:"options"`
}

// trelloFieldItem is the value of a custom field of a card. A value chosen from a list has
// the id of an option.
type trelloFieldItem struct {
	IDField string           `json:"idCustomField"`
	IDValue string           `json:"idValue"`
	Value   trelloFieldValue `json:"value"`
}

// trelloFieldValue is a value, in the field that corresponds to its type.
type trelloFieldValue struct {
	Text    string         `json:"text"`
	Number  jsontext.Value `json:"number"` // a string or a number
	Date    string         `json:"date"`
	Checked string         `json:"checked"` // "true" or "false"
}

// keptText returns the values of a card that have no field, as a list in Markdown, or "" if
// there are none.
func (p *plan) keptText(in *trelloCard) string {
	var b strings.Builder
	keep := func(what, name, value string) {
		if value = board.CleanLine(value); value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", board.CleanLine(name), value)
			p.report.note(what+", kept in the description", in.Name)
		}
	}
	for _, item := range in.CustomFieldItems.value {
		name, value := p.fieldText(item.value)
		keep("Custom field values", name, value)
	}
	keep("Card locations", "Location", p.place(in))
	for _, attachment := range in.Attachments.value {
		a := attachment.value
		switch {
		case a.isLink():
		case a.URL == "" && board.Blank(a.Name):
			p.report.note("Attachments without a name and a URL", in.Name)
		case a.URL == "":
			keep("Attachments without a URL", "Attachment", a.Name)
		default: // in a code span, the address does not become a link
			keep("Attachments without a valid URL", "Attachment", a.Name+" `"+strings.ReplaceAll(a.URL, "`", "'")+"`")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "**From Trello**\n\n" + b.String()
}

// fieldText returns the name and the value of a custom field.
func (p *plan) fieldText(item trelloFieldItem) (name, value string) {
	v := item.Value
	for i := range p.file.CustomFields {
		field := &p.file.CustomFields[i]
		if field.ID != item.IDField {
			continue
		}
		name = field.Name
		for _, option := range field.Options {
			if item.IDValue != "" && option.ID == item.IDValue {
				v = option.Value
			}
		}
	}
	name = cmp.Or(board.CleanLine(name), "Custom field")
	switch {
	case v.Date != "":
		return name, p.moment(v.Date)
	case v.Checked != "":
		return name, map[bool]string{true: "yes", false: "no"}[v.Checked == "true"]
	}
	return name, cmp.Or(v.Text, strings.Trim(strings.TrimPrefix(string(v.Number), "null"), `"`))
}

// place returns the location of a card on one line.
func (p *plan) place(in *trelloCard) string {
	var parts []string
	for _, text := range []string{in.LocationName.value, in.Address.value} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if at := in.Coordinates.value; at.Latitude != 0 || at.Longitude != 0 {
		parts = append(parts, fmt.Sprintf("%s, %s", degrees(at.Latitude), degrees(at.Longitude)))
	}
	return strings.Join(parts, "; ")
}

func degrees(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// moment returns a time of the file for people, or the text itself if it is not a time.
func (p *plan) moment(s string) string {
	at, ok := p.instant(s)
	if !ok {
		return s
	}
	return at.Time().UTC().Format("2006-01-02 15:04") + " UTC"
}

// keepText adds text to the description of a card, or to a new comment if the description
// would become too long.
func (p *plan) keepText(c *plannedCard, text string) {
	if text == "" {
		return
	}
	joined := *c.Description + "\n\n" + text
	if *c.Description == "" {
		joined = text
	}
	if _, tooLong := truncate(joined, p.limits.Text); !tooLong {
		c.Description = &joined
		return
	}
	c.comments = append(c.comments, board.Comment{CardID: c.ID, BoardID: c.BoardID, Text: p.text(c.Title, text), CreatedAt: c.CreatedAt})
	c.Card.Comments++
}

// itemTitle returns the title of a checklist item, with its due time and its assignee.
func (p *plan) itemTitle(i *checkItem) string {
	var kept []string
	if due := i.Due.value; due != "" {
		kept = append(kept, "due "+p.moment(due))
		p.report.note("Checklist item due dates, kept in the title", i.Name)
	}
	if id := i.IDMember.value; id != "" {
		name := p.people.name(id)
		if u := p.people.member(id); u != nil {
			name = u.Name
		}
		kept = append(kept, name)
		p.report.note("Checklist item assignees, kept in the title", i.Name)
	}
	if len(kept) == 0 {
		return p.title("checklist item", i.Name)
	}
	suffix := " (" + strings.Join(kept, ", ") + ")"
	name, _ := truncate(p.title("checklist item", i.Name), max(0, p.limits.Title-len([]rune(suffix))))
	return p.title("checklist item", name+suffix)
}
