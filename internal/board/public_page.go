package board

import (
	"encoding/hex"
	"strings"
)

// PublicPath is where public pages stand: behind it comes the key.
const PublicPath = "/p/"

// PublicPageSettings say what a board shows to people without an account, its guests,
// and what it takes from them. Of a confidential board nothing is public.
type PublicPageSettings struct {
	BoardID   string     `json:"boardId" doc:"The board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	On        bool       `json:"on" doc:"Whether the page can be opened. This is the board's feature publicPage." example:"true"`
	URL       *string    `json:"url" format:"uri" doc:"The page's address. Anyone who has it can open the page. null until the page is first switched on." example:"https://cardwall.example.com/p/MFRGGZDFMZTWQ2LKNNWG23TPOA"`
	Mode      PublicMode `json:"mode" enum:"read,comment,submit" doc:"What guests may do: read; read and comment; or read, comment and submit cards." example:"submit"`
	ListID    *string    `json:"listId" doc:"The list for cards submitted by guests; null for the first list that the page shows." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	AllLists  bool       `json:"allLists" doc:"Whether the page shows every open list, including future ones." example:"false"`
	Lists     []string   `json:"lists" doc:"The lists that the page shows if allLists is false." example:"[\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Comments  bool       `json:"comments" doc:"Whether comments are shown, and accepted in the modes comment and submit." example:"true"`
	Names     bool       `json:"names" doc:"Whether the names of assignees and of members who comment are shown." example:"false"`
	Welcome   string     `json:"welcome" doc:"The introduction at the top of the page, in Markdown." example:"Tell us what is missing."`
	UpdatedAt *Instant   `json:"updatedAt" format:"date-time" doc:"When its settings last changed; null for never." example:"2026-03-02T09:00:00.000Z"`
}

// NewPublicPage is a page that nobody has changed yet: it shows all lists and
// takes nothing.
func NewPublicPage(boardID string) PublicPageSettings {
	return PublicPageSettings{BoardID: boardID, Mode: PublicRead, AllLists: true, Lists: []string{}}
}

// Shows tells whether the page shows a list of its board.
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

// PublicMode is what the public page of a board lets its guests do.
type PublicMode string

// The modes, each with what the one before allows.
const (
	PublicRead    PublicMode = "read"
	PublicComment PublicMode = "comment"
	PublicSubmit  PublicMode = "submit"
)

// The most characters of what a guest gives.
const (
	GuestNameLength = 60
	GuestTextLength = 4_000
)

// Guest is who came by the key of a public page. Until the store has found the
// page it says nothing but the key, and may nothing.
type Guest struct {
	Key      []byte // its fingerprint
	Name     string // as the guest gave it, for who reads; "" for none
	BoardID  string // the page's board
	Mode     PublicMode
	Comments bool // comments are shown
}

// can tells whether a guest has a capability on a board. A guest has no role:
// what is allowed is adding a comment or a card, never changing one.
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

// keyOwner is whose the idempotency keys of a guest are: everybody's who has
// the page's key.
func (g *Guest) keyOwner() string { return "guest:" + hex.EncodeToString(g.Key) }

// GuestName reads the name that a guest gave: one line of 1 to 60 characters.
func GuestName(field, s string) (string, error) {
	if Blank(s) {
		return "", Invalid("%s must not be empty: say what you would like to be called.", field)
	}
	s, err := Line(field, s)
	return strings.Join(strings.Fields(s), " "), err
}
