package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// CardFilter is a query.Filter, with a field that selects how much of each card is
// returned.
type CardFilter struct {
	query.Filter
	View string `json:"view,omitempty" enum:"compact,full" doc:"Use compact to omit descriptions. Defaults to full." example:"compact"`
}

// parse resolves the filter for the caller. Relative days are resolved in the
// filter's time zone, or in the caller's own if the filter has none.
func (f CardFilter) parse(ctx context.Context, v *store.View, in store.CardPage) (query.Query, error) {
	if f.Filter == (query.Filter{Sort: f.Sort}) {
		return f.Filter.Parse(query.Env{}) // the result does not depend on the caller or the time
	}
	zone := f.TimeZone
	if zone == "" && !f.UsesZone() {
		zone = "UTC" // any zone gives the same result, so the caller's own need not be read
	}
	env, err := environment(ctx, v, zone, in)
	if err != nil {
		return query.Query{}, err
	}
	return f.Filter.Parse(env)
}

// environment returns the values that a query of the caller depends on, such as the
// current time. An empty time zone means the caller's own.
func environment(ctx context.Context, v *store.View, timeZone string, in store.CardPage) (query.Env, error) {
	if timeZone == "" {
		me, err := v.User(ctx)
		if err != nil {
			return query.Env{}, err
		}
		timeZone = me.TimeZone
	}
	zone, err := board.LoadZone("timeZone", timeZone)
	env := query.Env{
		Now: v.Time(), Zone: zone, Me: v.Caller().UserID, People: v.People(ctx, in), Named: v.Named(ctx, in),
	}
	if v.Caller().Assistant {
		env.Names = v.Names(ctx, in)
	}
	return env, err
}

// cards returns one page of cards for an operation that lists cards.
func (f CardFilter) cards(ctx context.Context, v *store.View, page op.Paging, p store.CardPage) (op.Page[board.Card], error) {
	if err := page.After(&p.Cursor); err != nil {
		return op.Page[board.Card]{}, err
	}
	p.Compact, p.Limit = f.View == "compact", page.Size()+1
	cards, cursors, err := v.Cards(ctx, p)
	if err != nil || len(cards) <= page.Size() {
		return op.Page[board.Card]{Items: cards}, err
	}
	return op.Page[board.Card]{Items: cards[:page.Size()], Next: cursors[page.Size()-1]}, nil
}

// ListCardsInput is the input of ListCards.
type ListCardsInput struct {
	BoardInput
	CardFilter
	op.Paging
}

// page returns the page of the board's cards that the input selects, before paging.
func (in ListCardsInput) page(ctx context.Context, v *store.View) (p store.CardPage, err error) {
	if err = v.CheckBoard(ctx, in.BoardID, board.View); err != nil {
		return p, err
	}
	p.BoardID = in.BoardID
	p.Query, err = in.parse(ctx, v, p)
	return p, err
}

// basisOfCards returns the board whose cards are listed, and what the filter means for the caller on
// this day.
func basisOfCards(ctx context.Context, v *store.View, in ListCardsInput) (op.Basis, error) {
	page, err := in.page(ctx, v)
	if err != nil {
		return op.Basis{}, err
	}
	values, ok := page.Query.Resolved()
	if !ok {
		return op.Basis{}, nil
	}
	return op.Basis{BoardID: in.BoardID, Values: values}, nil
}

// ListCards returns the cards of a board. The default order is the order of the
// lists and of the cards in them.
func ListCards(ctx context.Context, v *store.View, in ListCardsInput) (op.Page[board.Card], error) {
	page, err := in.page(ctx, v)
	if err != nil {
		return op.Page[board.Card]{}, err
	}
	return in.cards(ctx, v, in.Paging, page)
}

// ListMyCardsInput is the input of ListMyCards.
type ListMyCardsInput struct {
	WorkspaceID string `json:"workspaceId,omitempty" maxLength:"64" doc:"Only cards on boards of the workspace with this id." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardFilter
	op.Paging
}

// ListMyCards returns the cards assigned to the caller on every open board that
// the caller can see. The default order is by due date.
func ListMyCards(ctx context.Context, v *store.View, in ListMyCardsInput) (op.Page[board.Card], error) {
	if in.WorkspaceID != "" {
		if _, err := v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace); err != nil {
			return op.Page[board.Card]{}, err
		}
	}
	page := store.CardPage{WorkspaceID: in.WorkspaceID, Assigned: true}
	q, err := in.parse(ctx, v, page)
	if err != nil {
		return op.Page[board.Card]{}, err
	}
	if q.Sort.By == query.SortNone {
		q.Sort.By = query.SortDue
	}
	page.Query = q
	return in.cards(ctx, v, in.Paging, page)
}
