package app

import (
	"cmp"
	"context"
	"math"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListRecentActivityInput is the input of ListRecentActivity.
type ListRecentActivityInput struct {
	PeriodInput
	op.Paging
}

// ListRecentActivity returns the activity on every board that the caller can
// see, including archived ones, newest first.
func ListRecentActivity(ctx context.Context, v *store.View, in ListRecentActivityInput) (op.Page[board.Entry], error) {
	from, until, err := in.bounds()
	if err != nil {
		return op.Page[board.Entry]{}, err
	}
	before := store.ActivityCursor{At: cmp.Or(until, math.MaxInt64)}
	if err := in.After(&before); err != nil {
		return op.Page[board.Entry]{}, err
	}
	entries, err := v.RecentActivity(ctx, from, before, in.Size()+1)
	return op.Cut(entries, in.Size(), func(e board.Entry) any {
		return store.ActivityCursor{At: e.At, BoardID: e.BoardID, Version: e.BoardVersion}
	}), err
}
