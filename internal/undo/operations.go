package undo

import (
	"context"
	"slices"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// AddOperations registers the operations that list the caller's calls and undo them.
func AddOperations(r *op.Registry) *op.Registry {
	r.In("Undo", "The caller's own calls, and how to take their changes back.")
	op.Query(r, "list_my_changes", "GET /my-changes",
		"List the calls with this token that changed boards, newest first.", listMyChanges)
	op.Command(r, "undo_changes", "POST /boards/{boardId}/undo",
		"Take back changes that the caller made to a board, as new changes. What others changed since stays.",
		undoChanges, op.Destructive)
	return r
}

// listMyChangesInput is the input of list_my_changes.
type listMyChangesInput struct {
	TokenInput
	BoardID string         `json:"boardId,omitempty" maxLength:"64" doc:"Only calls that changed this board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Since   *board.Instant `json:"since,omitempty" format:"date-time" doc:"Only calls since then. Defaults to seven days ago." example:"2026-03-02T09:00:00.000Z"`
	op.Paging
}

// TokenInput selects calls by the token that they were made with.
type TokenInput struct {
	TokenID string `json:"tokenId,omitempty" maxLength:"64" doc:"Calls with this API token or connected app of the caller. Defaults to the token of the request; in the web application, to calls without a token." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// token returns the id of the token, or "" for calls without a token.
func (in TokenInput) token(v *store.View) *string {
	if in.TokenID != "" {
		return &in.TokenID
	}
	return new(v.Caller().TokenID)
}

// listedAge is how far back list_my_changes looks by default.
const listedAge = 7 * 24 * 60 * 60 * 1000

func listMyChanges(ctx context.Context, v *store.View, in listMyChangesInput) (op.Page[board.OwnCall], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.OwnCall]{}, err
	}
	f := store.CallFilter{Token: in.token(v), BoardID: in.BoardID, From: v.Now() - listedAge}
	if in.Since != nil {
		f.From = *in.Since
	}
	calls, err := v.OwnCalls(ctx, f, before, in.Size()+1)
	return op.Cut(calls, in.Size(), func(c board.OwnCall) any { return c.ID }), err
}

// undoChangesInput is the input of undo_changes.
type undoChangesInput struct {
	BoardID string `json:"boardId" maxLength:"64" doc:"The id of the board." example:"brd_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	TokenInput
	CallIDs []string       `json:"callIds,omitempty" maxItems:"100" doc:"Calls from list_my_changes. Required without since." example:"[\"aud_01jb2m3n4p5q6r7s8t9v0w1x2y\"]"`
	Since   *board.Instant `json:"since,omitempty" format:"date-time" doc:"All calls since then, except undos." example:"2026-03-02T09:00:00.000Z"`
}

func undoChanges(ctx context.Context, tx *store.Tx, in undoChangesInput) (Undone, error) {
	if _, err := tx.Board(ctx, in.BoardID, board.Discuss); err != nil {
		return Undone{}, err
	}
	f := store.CallFilter{BoardID: in.BoardID, IDs: in.CallIDs}
	switch {
	case len(in.CallIDs) == 0 && in.Since == nil:
		return Undone{}, board.Invalid("callIds or since is required.").In("callIds", board.RuleRequired)
	case len(in.CallIDs) > 0 && in.Since != nil:
		return Undone{}, board.Invalid("callIds and since must not both be given.").In("since", board.RuleValue)
	case in.Since != nil:
		f.Token, f.From, f.Except = in.token(tx.View), *in.Since, "undo_changes"
	}
	calls, err := tx.OwnCalls(ctx, f, "", maxChanges+1)
	if err != nil {
		return Undone{}, err
	}
	for _, id := range in.CallIDs {
		if !slices.ContainsFunc(calls, func(c board.OwnCall) bool { return c.ID == id }) {
			return Undone{}, board.Invalid("callIds must be ids of calls that the caller made and that changed this board; %q is not.", id).
				In("callIds", board.RuleValue)
		}
	}
	h, err := loadHistory(ctx, tx, in.BoardID, calls)
	if err != nil {
		return Undone{}, err
	}
	return h.undo(ctx, tx)
}
