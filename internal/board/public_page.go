package board

import (
	"encoding/hex"
	"strings"
)

// PublicPath is the path of public pages; the key follows it.
const PublicPath = "/p/"

// PublicPageSettings determines what the public page of a board shows, and what guests
// may do on it. Guests are people without an account. Confidential boards have no
// public page.
type PublicPageSettings struct {
	BoardID     string     `json:"boardId" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	On          bool       `json:"on" doc:"Whether the page is enabled, as in the board's publicPage feature." example:"true"`
	URL         *string    `json:"url" format:"uri" doc:"The URL of the page; null until the page is first enabled. Anyone who has the URL can open the page." example:"https://cardwall.example.com/p/MFRGGZDFMZTWQ2LKNNWG23TPOA"`
	Mode        PublicMode `json:"mode" enum:"read,comment,submit" doc:"What guests may do. read: read the page. comment: read and comment. submit: read, comment and submit cards." example:"submit"`
	ListID      *string    `json:"listId" doc:"The id of the list for cards submitted by guests; null for the first list that the page shows." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	AllLists    bool       `json:"allLists" doc:"Whether the page shows every open list, including future ones." example:"false"`
	Lists       []string   `json:"lists" doc:"The ids of the lists that the page shows if allLists is false." example:"[\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Comments    bool       `json:"comments" doc:"Whether the page shows comments. In the comment and submit modes, it also accepts them." example:"true"`
	Names       bool       `json:"names" doc:"Whether the page shows the names of assignees and of members who comment." example:"false"`
	Attachments bool       `json:"attachments" doc:"Whether the page shows covers, files and links of cards." example:"false"`
	Welcome     string     `json:"welcome" doc:"The introduction at the top of the page, in Markdown." example:"Tell us what is missing."`
	UpdatedAt   *Instant   `json:"updatedAt" format:"date-time" doc:"When the page's settings last changed; null if they never have." example:"2026-03-02T09:00:00.000Z"`
}

// NewPublicPage returns the default settings: all lists are shown, and guests
// can only read.
func NewPublicPage(boardID string) PublicPageSettings {
	return PublicPageSettings{BoardID: boardID, Mode: PublicRead, AllLists: true, Lists: []string{}}
}

// Shows reports whether the page shows a list of its board.
func (p PublicPageSettings) Shows(l List) bool {
	if l.ArchivedAt != nil || p.AllLists {
		return l.ArchivedAt == nil
	}
	for _, id := range p.Lists {
		if id == l.ID {
			return true
		}
	}
	return false
}

// PublicMode is what guests may do on the public page of a board.
type PublicMode string

// The modes. Each includes the ones before it.
const (
	PublicRead    PublicMode = "read"
	PublicComment PublicMode = "comment"
	PublicSubmit  PublicMode = "submit"
)

// Maximum lengths, in characters, of text from guests.
const (
	GuestNameLength = 60
	GuestTextLength = 4_000
)

// Guest is a caller with the key of a public page. Until the store has found the page,
// only Key and Name can be set, and the guest has no permissions.
type Guest struct {
	Key      []byte // hash of the key
	Name     string // as entered by the guest, shown to readers; "" for none
	BoardID  string // the page's board
	Mode     PublicMode
	Comments bool // whether comments are shown
}

// can reports whether a guest has a capability on a board. Guests have no role. They
// can at most add comments and cards. They cannot change existing ones.
func (g *Guest) can(a *Access, need Capability) bool {
	if g.BoardID != a.BoardID || !a.Features.PublicPage || a.Visibility == Confidential {
		return false
	}
	switch need {
	case View:
		return true
	case Discuss:
		return g.Comments && g.Mode != PublicRead
	case AddCards:
		return g.Mode == PublicSubmit
	case Edit, Unarchive, Administer, Reopen:
	}
	return false
}

// keyOwner returns the owner of a guest's idempotency keys. All guests of a page share
// one owner.
func (g *Guest) keyOwner() string { return "guest:" + hex.EncodeToString(g.Key) }

// GuestName validates the name that a guest entered, which must be one line, and
// collapses white space. The schema checks the length.
func GuestName(field, s string) (string, error) {
	if Blank(s) {
		return "", Invalid("%s must not be empty. Enter the name to show with your text.", field).
			In(field, RuleEmpty)
	}
	s, err := Line(field, s)
	return strings.Join(strings.Fields(s), " "), err
}
