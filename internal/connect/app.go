package connect

import (
	"context"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListConnectedAppsInput selects a page of the caller's connected apps.
type ListConnectedAppsInput struct {
	op.Paging
}

// ListConnectedApps lists the caller's connected apps, newest first.
func ListConnectedApps(ctx context.Context, v *store.View, in ListConnectedAppsInput) (op.Page[board.ConnectedApp], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.ConnectedApp]{}, err
	}
	all, err := v.ConnectedApps(ctx, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(a board.ConnectedApp) any { return a.ID }), err
}

// DisconnectAppInput is the input of DisconnectApp.
type DisconnectAppInput struct {
	AppID string `json:"appId" maxLength:"64" doc:"Id of one of the caller's connected apps." example:"tok_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// DisconnectApp revokes the token of one of the caller's connected apps. It
// returns a not_found error if the caller has no connected app with the id.
func DisconnectApp(ctx context.Context, tx *store.Tx, in DisconnectAppInput) (app.Deleted, error) {
	connected, err := tx.IsConnectedApp(ctx, in.AppID)
	if err == nil && !connected {
		err = board.NotFound()
	}
	if err != nil {
		return app.Deleted{}, err
	}
	return app.Deleted{ID: in.AppID}, tx.RevokeOwnToken(ctx, in.AppID)
}
