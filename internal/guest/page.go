package guest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

// GetPageInput is the input of GetPage.
type GetPageInput struct {
	KeyInput
	Tag string `json:"tag,omitempty" maxLength:"64" doc:"Tag of an earlier response. If the page has not changed since, board is null." example:"5f0c7d3a9e1b4c2d8f6a7b90"`

	tickets tickets
}

// SharedPage is a public page as guests see it.
type SharedPage struct {
	Tag    string       `json:"tag" doc:"Identifies this version of the page. Send it with the next request to find out whether the page has changed." example:"5f0c7d3a9e1b4c2d8f6a7b90"`
	Ticket string       `json:"ticket" doc:"Required to add a comment or submit a card. Valid from three seconds to one day after this response." example:"AAABnK5mQAB7h2Wc0vJt3sYq1LxP8dEo"`
	Board  *SharedBoard `json:"board" doc:"Content of the page; null if it has not changed since the given tag."`
}

// SharedBoard is the part of a board that guests see.
type SharedBoard struct {
	Name       string       `json:"name" doc:"Name of the board." example:"Launch"`
	Color      *board.Color `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"Color of the board; null if it has none." example:"teal"`
	Background *string      `json:"background" doc:"The version of the picture behind the lists, for get_guest_background; null if there is none." example:"9f86d081884c7d65"`
	Welcome    string       `json:"welcome" doc:"Introduction at the top of the page, in Markdown." example:"Tell us what is missing."`
	Closed     *Closed      `json:"closed" enum:"archived,readOnly" doc:"Why the page currently accepts no comments or cards; null if it is not closed." example:"archived"`
	Comments   bool         `json:"comments" doc:"Whether the page shows comments." example:"true"`
	MayComment bool         `json:"mayComment" doc:"Whether the page accepts comments." example:"true"`
	MaySubmit  bool         `json:"maySubmit" doc:"Whether the page accepts cards." example:"true"`
	Lists      []SharedList `json:"lists" doc:"The lists that the page shows, in order."`
}

// Closed is the reason why a page accepts no comments or cards.
type Closed string

// The reasons why a page can be closed.
const (
	ClosedArchived Closed = "archived"
	ClosedReadOnly Closed = "readOnly"
)

// SharedList is a list with its cards that are not archived.
type SharedList struct {
	Name  string       `json:"name" doc:"Name of the list." example:"Ideas"`
	Cards []SharedCard `json:"cards" doc:"The cards that are not archived, in order."`
}

// SharedCard is the part of a card that guests see. Its number identifies it.
type SharedCard struct {
	Number         int             `json:"number" doc:"Number of the card on its board." example:"12"`
	Title          string          `json:"title" doc:"Title of the card." example:"Write the press release"`
	Done           bool            `json:"done" doc:"Whether the card is done." example:"false"`
	Labels         []SharedLabel   `json:"labels" doc:"Labels of the card."`
	DueDate        *string         `json:"dueDate" format:"date" doc:"Due date; null if there is none." example:"2026-03-14"`
	DueAt          *board.Instant  `json:"dueAt" format:"date-time" doc:"Due time; null if the card is due all day or has no due date." example:"2026-03-14T08:30:00.000Z"`
	ChecklistItems board.ItemCount `json:"checklistItems" doc:"Progress of the checklists."`
	Comments       *int            `json:"comments" doc:"Number of comments; null if the page does not show comments." example:"3"`
	Attachments    *int            `json:"attachments" doc:"Number of files and links; null if the page does not show attachments." example:"2"`
	Cover          *SharedCover    `json:"cover" doc:"The picture on the card's tile; null if there is none, or if the page does not show attachments."`
	Assignees      []string        `json:"assignees" doc:"Names of the assignees; empty if the page does not show names." example:"[\"Ada Lovelace\"]"`
}

// SharedLabel is a label without its id.
type SharedLabel struct {
	Name  string      `json:"name" doc:"Name of the label; empty if the label has only a color." example:"Bug"`
	Color board.Color `json:"color" enum:"gray,red,orange,yellow,lime,green,teal,sky,blue,purple,pink,brown" doc:"Color of the label." example:"red"`
}

// GetPage returns the content of a public page. If the page has not changed since the
// tag in the input, it returns only the tag and a ticket.
func GetPage(ctx context.Context, v *store.View, in GetPageInput) (SharedPage, error) {
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
	shown := &SharedBoard{
		Name: b.Name, Color: b.Color, Background: b.Background, Welcome: p.Welcome, Closed: closed(v, b),
		Comments: p.Comments, Lists: []SharedList{},
	}
	_, hasTarget := submissionList(p, lists)
	shown.MayComment = shown.Closed == nil && p.Comments && p.Mode != board.PublicRead
	shown.MaySubmit = shown.Closed == nil && p.Mode == board.PublicSubmit && hasTarget
	position := map[string]int{} // of the lists in shown, by id
	for _, l := range lists {
		if p.Shows(l) {
			position[l.ID] = len(shown.Lists)
			shown.Lists = append(shown.Lists, SharedList{l.Name, []SharedCard{}})
		}
	}
	cards, _, err := v.Cards(ctx, store.CardPage{BoardID: b.ID, Compact: true, Limit: v.Limits().AllCards})
	if err != nil {
		return out, err
	}
	for _, c := range cards {
		if i, ok := position[c.ListID]; ok {
			shown.Lists[i].Cards = append(shown.Lists[i].Cards, sharedCard(v, c, p))
		}
	}
	out.Board = shown
	return out, nil
}

// GetBackgroundInput is the input of GetBackground.
type GetBackgroundInput struct {
	KeyInput
	Version string `json:"version,omitempty" maxLength:"64" doc:"The version of the picture, from the background field of the page. If it is the current one, the response may be cached for a year." example:"9f86d081884c7d65"`
}

// GetBackground returns the picture behind the lists of a public page. It returns a not_found
// error if there is none.
func GetBackground(ctx context.Context, v *store.View, in GetBackgroundInput) (board.Content, error) {
	b, _, err := v.GuestPage(ctx)
	if err != nil {
		return board.Content{}, err
	}
	return app.BackgroundOf(ctx, v, b, in.Version)
}

// tagOf returns a tag for the state of a page, without reading the page's cards. If a
// person's name changes, the tag stays the same, so the page shows the new name only
// after the next change to the board or to the page's settings.
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

// submissionList returns the list for cards from guests: the configured list if it is
// open, or else the first list that the page shows. It returns false if there is neither.
func submissionList(p board.PublicPageSettings, lists []board.List) (board.List, bool) {
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

// sharedCard returns the part of a card that guests see.
func sharedCard(v *store.View, c board.Card, p board.PublicPageSettings) SharedCard {
	out := SharedCard{
		Number: c.Number, Title: c.Title, Done: c.Done, DueDate: c.DueDate, DueAt: c.DueAt,
		ChecklistItems: c.ChecklistItems, Labels: make([]SharedLabel, len(c.Labels)), Assignees: []string{},
	}
	for i, l := range c.Labels {
		out.Labels[i] = SharedLabel{l.Name, l.Color}
	}
	if p.Comments {
		out.Comments = &c.Comments
	}
	if p.Attachments {
		out.Attachments = &c.Attachments
		if c.Cover != nil {
			out.Cover = &SharedCover{fileOnPage(v, c.Cover.AttachmentID), c.Cover.Width, c.Cover.Height}
		}
	}
	if p.Names {
		for _, u := range c.Assignees {
			out.Assignees = append(out.Assignees, u.Name)
		}
	}
	return out
}
