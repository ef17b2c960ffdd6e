package app

import (
	"cmp"
	"context"
	"math"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListBoardActivityInput is the input of ListBoardActivity.
type ListBoardActivityInput struct {
	BoardInput
	CardID string `json:"cardId,omitempty" maxLength:"64" doc:"Only changes to the card with this id while it was on the board." example:"crd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	ActivityFilterInput
	op.Paging
}

// ListBoardActivity returns the activity of a board, newest first. With filters, a page may
// have fewer entries than its size although there are more.
func ListBoardActivity(ctx context.Context, v *store.View, in ListBoardActivityInput) (op.Page[board.Entry], error) {
	before := int64(math.MaxInt64)
	if err := in.After(&before); err != nil {
		return op.Page[board.Entry]{}, err
	}
	if err := v.CheckBoard(ctx, in.BoardID, board.View); err != nil {
		return op.Page[board.Entry]{}, err
	}
	if !in.empty() {
		return filteredActivity(ctx, v, in, before)
	}
	var (
		entries []board.Entry
		err     error
	)
	if in.CardID == "" {
		entries, err = v.Activity(ctx, in.BoardID, before, in.Size()+1)
	} else {
		entries, err = v.CardActivity(ctx, in.BoardID, in.CardID, before, in.Size()+1)
	}
	return op.Cut(entries, in.Size(), func(e board.Entry) any { return e.BoardVersion }), err
}

func filteredActivity(ctx context.Context, v *store.View, in ListBoardActivityInput, before int64) (op.Page[board.Entry], error) {
	f, err := in.filter(v)
	if err != nil {
		return op.Page[board.Entry]{}, err
	}
	f.CardID = in.CardID
	entries, next, err := v.FilteredActivity(ctx, in.BoardID, f, before, in.Size())
	return pageTo(entries, next), err
}

// pageTo returns a page that ends at a version, or the last page if the version is 0.
func pageTo(entries []board.Entry, next int64) op.Page[board.Entry] {
	page := op.Page[board.Entry]{Items: entries}
	if next != 0 {
		page.Next = next
	}
	return page
}

// ActivityInput identifies an activity entry.
type ActivityInput struct {
	ActivityID string `json:"activityId" maxLength:"64" doc:"The id of the entry." example:"act_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetActivity returns an entry of the activity of a board.
func GetActivity(ctx context.Context, v *store.View, in ActivityInput) (board.Entry, error) {
	return v.Entry(ctx, in.ActivityID, board.View)
}

// ListBoardChangesInput is the input of ListBoardChanges.
type ListBoardChangesInput struct {
	BoardInput
	Since int64 `json:"since,omitempty" minimum:"0" doc:"Return the changes after this boardVersion. Defaults to all changes. If some of the changes are no longer kept, the request fails with the reason changes_removed. In that case, read the board again." example:"41"`
	ActivityFilterInput
	op.Paging
}

// ListBoardChanges returns the changes after a version, in order. The versions of
// consecutive changes have no gaps: if retention has removed one of them, the request
// is refused. While a job is recording its changes, ListBoardChanges returns neither
// these nor any later changes. With filters, the versions of the result have gaps, and a page
// may have fewer changes than its size although there are more. The version of the page is
// the one up to which it is complete.
func ListBoardChanges(ctx context.Context, v *store.View, in ListBoardChangesInput) (op.Page[board.Entry], error) {
	since := in.Since
	if err := in.After(&since); err != nil {
		return op.Page[board.Entry]{}, err
	}
	b, err := v.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return op.Page[board.Entry]{}, err
	}
	if since > b.Version {
		return op.Page[board.Entry]{}, board.Invalid("since must not be greater than the board's version, "+
			"which is %d.", b.Version).In("since", board.RuleValue)
	}
	last, err := v.RecordedTo(ctx, in.BoardID, since)
	if err != nil {
		return op.Page[board.Entry]{}, err
	}
	if !in.empty() {
		f, err := in.filter(v)
		if err != nil {
			return op.Page[board.Entry]{}, err
		}
		entries, next, kept, err := v.FilteredChanges(ctx, in.BoardID, f, since, last, in.Size())
		if err == nil && !kept {
			err = changesRemoved(since, b.Version)
		}
		page := pageTo(entries, next)
		page.BoardVersion = cmp.Or(next, last)
		return page, err
	}
	entries, err := v.Changes(ctx, in.BoardID, since, in.Size()+1)
	if err == nil && !contiguous(entries, since, last, in.Size()) {
		err = changesRemoved(since, b.Version)
	}
	if err != nil {
		return op.Page[board.Entry]{}, err
	}
	page := op.Cut(entries, in.Size(), func(e board.Entry) any { return e.BoardVersion })
	if page.BoardVersion = last; page.Next != nil {
		page.BoardVersion = page.Items[len(page.Items)-1].BoardVersion
	}
	return page, nil
}

func changesRemoved(since, version int64) error {
	fault := board.Invalid("since: some changes after version %d are no longer kept. Read the board again, and continue "+
		"from its version, which is %d.", since, version).In("since", board.RuleValue)
	fault.Reason = board.ReasonChangesRemoved
	return fault
}

// contiguous reports whether entries has no gap after version since. Entries that fit
// on a page must also reach the last recorded version.
func contiguous(entries []board.Entry, since, last int64, size int) bool {
	for _, e := range entries {
		if since++; e.BoardVersion != since {
			return false
		}
	}
	return len(entries) > size || since == last
}
