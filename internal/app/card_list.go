package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/query"
	"cardwall/internal/store"
)

// CardFilter is the filter vocabulary with the choice of a view.
type CardFilter struct {
	query.Filter
	View string `json:"view,omitempty" enum:"compact,full" doc:"compact omits descriptions; full when absent." example:"compact"`
}

// parse resolves the filter for the caller: relative words count in the
// filter's time zone, else in the caller's own.
func (f CardFilter) parse(ctx context.Context, v *store.View, in store.CardPage) (query.Query, error) {
	if f.Filter == (query.Filter{Sort: f.Sort}) {
		return f.Filter.Parse(query.Env{}) // nothing in it depends on who asks or when
	}
	env, err := environment(ctx, v, f.TimeZone, in)
	if err != nil {
		return query.Query{}, err
	}
	return f.Filter.Parse(env)
}

// environment is what a query of the caller on a page of cards is resolved
// against, in a time zone or the caller's own.
func environment(ctx context.Context, v *store.View, timeZone string, in store.CardPage) (query.Env, error) {
	if timeZone == "" {
		me, err := v.User(ctx)
		if err != nil {
			return query.Env{}, err
		}
		timeZone = me.TimeZone
	}
	zone, err := board.LoadZone("timeZone", timeZone)
	return query.Env{
		Now: v.Time(), Zone: zone, Me: v.Caller().UserID, People: v.People(ctx, in), Named: v.Named(ctx, in),
	}, err
}

// cards reads the page of an operation that lists cards.
func (f CardFilter) cards(ctx context.Context, v *store.View, page op.Paging, p store.CardPage) (op.Page[board.Card], error) {
	if err := page.After(&p.Mark); err != nil {
		return op.Page[board.Card]{}, err
	}
	p.Compact, p.Limit = f.View == "compact", page.Size()+1
	cards, marks, err := v.Cards(ctx, p)
	if err != nil || len(cards) <= page.Size() {
		return op.Page[board.Card]{Items: cards}, err
	}
	return op.Page[board.Card]{Items: cards[:page.Size()], Next: marks[page.Size()-1]}, nil
}

// ListCardsInput says which cards of a board.
type ListCardsInput struct {
	BoardInput
	CardFilter
	op.Paging
}

// ListCards lists the cards of a board, in the order of its lists unless
// another is asked for.
func ListCards(ctx context.Context, v *store.View, in ListCardsInput) (op.Page[board.Card], error) {
	if _, err := v.Board(ctx, in.BoardID, board.View); err != nil {
		return op.Page[board.Card]{}, err
	}
	page := store.CardPage{BoardID: in.BoardID}
	q, err := in.parse(ctx, v, page)
	if err != nil {
		return op.Page[board.Card]{}, err
	}
	page.Query = q
	return in.cards(ctx, v, in.Paging, page)
}

// ListMyCardsInput says which of the caller's cards.
type ListMyCardsInput struct {
	WorkspaceID string `json:"workspaceId,omitempty" maxLength:"64" doc:"Only cards on boards of this workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	CardFilter
	op.Paging
}

// ListMyCards lists the cards assigned to the caller on every open board that
// the caller sees, by due date unless another order is asked for.
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
