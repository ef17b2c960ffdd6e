package app

import (
	"context"
	"slices"
	"strings"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// GetPublicPage returns the settings of a board's public page. Only the board's admins
// may read them. They contain the address of the page, and anyone who knows the address
// can open the page.
func GetPublicPage(ctx context.Context, v *store.View, in BoardInput) (board.PublicPageSettings, error) {
	b, err := v.Board(ctx, in.BoardID, board.View) // archived boards can be viewed, too
	if err != nil {
		return board.PublicPageSettings{}, err
	}
	if !b.Role.Can(board.Administer) {
		return board.PublicPageSettings{}, board.Forbidden("Your role on this board is %s. Only its admins can see "+
			"and change its public page.", b.Role)
	}
	return v.PublicPage(ctx, b.ID)
}

// UpdatePublicPageInput holds the fields to change. Absent fields stay
// unchanged.
type UpdatePublicPageInput struct {
	BoardInput
	On          *bool               `json:"on,omitempty" doc:"Whether the page is enabled. Confidential boards cannot have a public page." example:"true"`
	Mode        *board.PublicMode   `json:"mode,omitempty" enum:"read,comment,submit" doc:"What guests may do. read: read the page. comment: read and comment. submit: read, comment and submit cards." example:"submit"`
	ListID      op.Optional[string] `json:"listId,omitzero" maxLength:"64" doc:"The id of the list for cards submitted by guests; null for the first list that the page shows." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	AllLists    *bool               `json:"allLists,omitempty" doc:"Whether the page shows every open list, including future ones." example:"false"`
	Lists       *[]string           `json:"lists,omitempty" maxItems:"500" doc:"The ids of the lists that the page shows if allLists is false." example:"[\"lst_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Comments    *bool               `json:"comments,omitempty" doc:"Whether the page shows comments. In the comment and submit modes, it also accepts them." example:"true"`
	Names       *bool               `json:"names,omitempty" doc:"Whether the page shows the names of assignees and of members who comment." example:"false"`
	Attachments *bool               `json:"attachments,omitempty" doc:"Whether the page shows covers, files and links of cards." example:"false"`
	Welcome     *string             `json:"welcome,omitempty" maxLength:"4000" doc:"The introduction at the top of the page, in Markdown." example:"Tell us what is missing."`
}

// UpdatePublicPage changes, enables or disables the public page of a board. The
// page keeps its address while it is disabled.
func UpdatePublicPage(ctx context.Context, tx *store.Tx, in UpdatePublicPageInput) (board.PublicPageSettings, error) {
	b, err := tx.Board(ctx, in.BoardID, board.Administer)
	if err != nil {
		return board.PublicPageSettings{}, err
	}
	before, err := tx.PublicPage(ctx, b.ID)
	if err != nil {
		return before, err
	}
	p := before
	if err := in.apply(ctx, tx, &p); err != nil {
		return before, err
	}
	if p.On && b.Visibility == board.Confidential {
		return before, confidentialPage("on")
	}
	changes := pageChanges(before, p)
	if len(changes) == 0 {
		return before, nil
	}
	if err := tx.SetPublicPage(ctx, &p, false); err != nil {
		return before, err
	}
	tx.Note(b.ID, changes)
	if p.On == b.Features.PublicPage {
		return p, nil
	}
	features := b.Features
	b.Features.PublicPage = p.On
	return p, changeBoard(ctx, tx, &b, board.BoardEvent(board.KindBoardUpdated, board.Changes{"features": {From: features, To: b.Features}}))
}

func (in *UpdatePublicPageInput) apply(ctx context.Context, tx *store.Tx, p *board.PublicPageSettings) error {
	set(in.On, &p.On)
	set(in.Mode, &p.Mode)
	set(in.AllLists, &p.AllLists)
	set(in.Comments, &p.Comments)
	set(in.Names, &p.Names)
	set(in.Attachments, &p.Attachments)
	set(in.Welcome, &p.Welcome)
	if in.ListID.Set {
		p.ListID = in.ListID.Value
		if p.ListID != nil {
			if err := checkLists(ctx, tx, p.BoardID, "listId", *p.ListID); err != nil {
				return err
			}
		}
	}
	if in.Lists != nil {
		if err := checkLists(ctx, tx, p.BoardID, "lists", *in.Lists...); err != nil {
			return err
		}
		p.Lists = slices.Compact(slices.Sorted(slices.Values(*in.Lists)))
	}
	if p.Mode == board.PublicComment && !p.Comments {
		return board.Invalid("comments must be true if the mode is comment. Choose another mode, or show comments.").
			In("comments", board.RuleValue)
	}
	return nil
}

func set[T any](from *T, to *T) {
	if from != nil {
		*to = *from
	}
}

// checkLists returns an error unless all ids belong to lists of the board. Archived
// lists are accepted.
func checkLists(ctx context.Context, tx *store.Tx, boardID, field string, ids ...string) error {
	lists, err := tx.Lists(ctx, boardID, true, "", maxCollapsed)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(lists, func(l board.List) bool { return l.ID == id }) {
			return board.Invalid("%s must be a list of this board; %q is not.", field, id).
				In(field, board.RuleValue)
		}
	}
	return nil
}

func pageChanges(from, to board.PublicPageSettings) board.Changes {
	c := board.Changes{}
	board.Set(c, "on", from.On, to.On)
	board.Set(c, "mode", from.Mode, to.Mode)
	board.SetPtr(c, "listId", from.ListID, to.ListID)
	board.Set(c, "allLists", from.AllLists, to.AllLists)
	board.Set(c, "lists", strings.Join(from.Lists, ","), strings.Join(to.Lists, ","))
	board.Set(c, "comments", from.Comments, to.Comments)
	board.Set(c, "names", from.Names, to.Names)
	board.Set(c, "attachments", from.Attachments, to.Attachments)
	board.Set(c, "welcome", from.Welcome, to.Welcome)
	return c
}

// RenewPublicPage gives the public page of a board a new address. The old
// address stops working immediately.
func RenewPublicPage(ctx context.Context, tx *store.Tx, in BoardInput) (board.PublicPageSettings, error) {
	b, err := tx.Board(ctx, in.BoardID, board.Administer)
	if err != nil {
		return board.PublicPageSettings{}, err
	}
	p, err := tx.PublicPage(ctx, b.ID)
	if err != nil {
		return p, err
	}
	return p, tx.SetPublicPage(ctx, &p, true)
}

// publish gives a board an address for its public page unless it has one.
func publish(ctx context.Context, tx *store.Tx, boardID string) error {
	p, err := tx.PublicPage(ctx, boardID)
	if err != nil || p.URL != nil {
		return err
	}
	return tx.SetPublicPage(ctx, &p, false)
}

func confidentialPage(field string) error {
	return board.Invalid("%s: the board is confidential and cannot have a public page. Change its "+
		"visibility first.", field).In(field, board.RuleValue)
}
