package account

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// SetAvatarInput is the input of SetAvatar.
type SetAvatarInput struct{ picture *board.Picture }

// TakePicture sets the picture of the request.
func (in *SetAvatarInput) TakePicture(p *board.Picture) { in.picture = p }

// SetAvatar sets the caller's picture.
func SetAvatar(ctx context.Context, tx *store.Tx, in SetAvatarInput) (board.Profile, error) {
	if in.picture == nil {
		return board.Profile{}, board.Invalid("The request is empty. Its body must be a picture.")
	}
	p, err := tx.Profile(ctx)
	if err != nil {
		return p, err
	}
	version, err := tx.SetAvatar(ctx, *in.picture)
	p.Avatar = &version
	return p, err
}

// DeleteAvatar removes the caller's picture. It does nothing if the caller has none.
func DeleteAvatar(ctx context.Context, tx *store.Tx, _ Nothing) (board.Profile, error) {
	p, err := tx.Profile(ctx)
	if err != nil {
		return p, err
	}
	p.Avatar = nil
	return p, tx.DeleteAvatar(ctx)
}
