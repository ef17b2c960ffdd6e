package guest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// LookInput names a page, and what is known of it.
type LookInput struct {
	KeyInput
	Tag string `json:"tag,omitempty" maxLength:"64" doc:"That of the answer before; absent for all of the page." example:"5f0c7d3a9e1b4c2d8f6a7b90"`

	tickets tickets
}

// SharedPage is a public page, as often as somebody looks.
type SharedPage struct {
	Tag    string       `json:"tag" doc:"What of the page the answer shows; another one when anything has changed." example:"5f0c7d3a9e1b4c2d8f6a7b90"`
	Ticket string       `json:"ticket" doc:"What a comment or a card is sent with, from three seconds until a day later." example:"AAABnK5mQAB7h2Wc0vJt3sYq1LxP8dEo"`
	Board  *SharedBoard `json:"board" doc:"What the page shows; null when that is what the given tag stands for."`
}

// SharedBoard is what guests see of a board.
type SharedBoard struct {
	Name       string       `json:"name" doc:"The board's name." example:"Launch"`
	Color      *board.Color `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"The board's colour; null for none." example:"teal"`
	Welcome    string       `json:"welcome" doc:"What the page says first, in Markdown." example:"Tell us what is missing."`
	Closed     *Closed      `json:"closed" enum:"archived,readOnly" doc:"Why the page takes nothing for now, whatever it takes otherwise; null when it does." example:"archived"`
	Comments   bool         `json:"comments" doc:"Whether comments are shown." example:"true"`
	MayComment bool         `json:"mayComment" doc:"Whether the page takes comments." example:"true"`
	MaySubmit  bool         `json:"maySubmit" doc:"Whether the page takes cards." example:"true"`
	Lists      []SharedList `json:"lists" doc:"The lists that are shown, in their order."`
}

// Closed is why a page takes nothing.
type Closed string

// The reasons.
const (
	ClosedArchived Closed = "archived"
	ClosedReadOnly Closed = "readOnly"
)

// SharedList is a list with its open cards.
type SharedList struct {
	Name  string       `json:"name" doc:"The list's name." example:"Ideas"`
	Cards []SharedCard `json:"cards" doc:"Its open cards, in their order."`
}

// SharedCard is what guests see of a card. Its number is what they name it by.
type SharedCard struct {
	Number         int             `json:"number" doc:"The card's number on its board." example:"12"`
	Title          string          `json:"title" doc:"What is to be done." example:"Write the press release"`
	Done           bool            `json:"done" doc:"Whether the work is done." example:"false"`
	Labels         []SharedLabel   `json:"labels" doc:"The labels it carries."`
	DueDate        *string         `json:"dueDate" format:"date" doc:"The calendar date it is due; null for none." example:"2026-03-14"`
	DueAt          *board.Instant  `json:"dueAt" format:"date-time" doc:"The instant it is due; null for the whole day." example:"2026-03-14T08:30:00.000Z"`
	ChecklistItems board.ItemCount `json:"checklistItems" doc:"How far its checklists are."`
	Comments       *int            `json:"comments" doc:"How many comments it has; null where comments are not shown." example:"3"`
	Assignees      []string        `json:"assignees" doc:"The names of who works on it; empty where names are not shown." example:"[\"Ada Lovelace\"]"`
}

// SharedLabel is a label, without its id.
type SharedLabel struct {
	Name  string      `json:"name" doc:"Its name, which may be empty." example:"Bug"`
	Color board.Color `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"Its colour." example:"red"`
}

// Look answers what a public page shows, or that it is what it was.
func Look(ctx context.Context, v *store.View, in LookInput) (SharedPage, error) {
	b, p, err := v.GuestPage(ctx)
	if err != nil {
		return SharedPage{}, err
	}
	out := SharedPage{Tag: tagOf(v, b, p), Ticket: in.tickets.issue(v.Time())}
	if out.Tag == in.Tag {
		return out, nil
	}
	lists, err := v.Lists(ctx, b.ID, false, "", v.Limits().OpenLists)
	if err != nil {
		return out, err
	}
	shown := &SharedBoard{Name: b.Name, Color: b.Color, Welcome: p.Welcome, Closed: closed(v, b), Comments: p.Comments, Lists: []SharedList{}}
	_, lands := landing(p, lists)
	shown.MayComment = shown.Closed == nil && p.Comments && p.Mode != board.PublicRead
	shown.MaySubmit = shown.Closed == nil && p.Mode == board.PublicSubmit && lands
	at := map[string]int{}
	for _, l := range lists {
		if p.Shows(l) {
			at[l.ID] = len(shown.Lists)
			shown.Lists = append(shown.Lists, SharedList{l.Name, []SharedCard{}})
		}
	}
	cards, _, err := v.Cards(ctx, store.CardPage{BoardID: b.ID, Compact: true, Limit: v.Limits().AllCards})
	if err != nil {
		return out, err
	}
	for _, c := range cards {
		if i, ok := at[c.ListID]; ok {
			shown.Lists[i].Cards = append(shown.Lists[i].Cards, shared(c, p))
		}
	}
	out.Board = shown
	return out, nil
}

// tagOf tells two states of a page apart without reading its cards. The name of
// a person that changes shows with the next change of the board.
func tagOf(v *store.View, b board.Board, p board.PublicPageSettings) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %v", b.ID, b.Version, *p.UpdatedAt, v.On(b.ID).ReadOnly))
	return hex.EncodeToString(sum[:12])
}

func closed(v *store.View, b board.Board) *Closed {
	switch {
	case b.ArchivedAt != nil:
		return new(ClosedArchived)
	case v.On(b.ID).ReadOnly:
		return new(ClosedReadOnly)
	}
	return nil
}

// landing is the list where cards of guests go: the one that was chosen while it
// is open, or else the first that the page shows.
func landing(p board.PublicPageSettings, lists []board.List) (board.List, bool) {
	var first *board.List
	for i, l := range lists {
		if p.ListID != nil && l.ID == *p.ListID && l.ArchivedAt == nil {
			return l, true
		}
		if first == nil && p.Shows(l) {
			first = &lists[i]
		}
	}
	if first == nil {
		return board.List{}, false
	}
	return *first, true
}

// shared is what guests see of a card: nothing that is not named here.
func shared(c board.Card, p board.PublicPageSettings) SharedCard {
	out := SharedCard{
		Number: c.Number, Title: c.Title, Done: c.Done, DueDate: c.DueDate, DueAt: c.DueAt, ChecklistItems: c.ChecklistItems,
		Labels: make([]SharedLabel, len(c.Labels)), Assignees: []string{},
	}
	for i, l := range c.Labels {
		out.Labels[i] = SharedLabel{l.Name, l.Color}
	}
	if p.Comments {
		out.Comments = &c.Comments
	}
	if p.Names {
		for _, u := range c.Assignees {
			out.Assignees = append(out.Assignees, u.Name)
		}
	}
	return out
}
