package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// SetBackgroundInput is the input of SetBackground.
type SetBackgroundInput struct {
	BoardInput
	picture *board.Picture
}

// TakePicture sets the picture of the request.
func (in *SetBackgroundInput) TakePicture(p *board.Picture) { in.picture = p }

// SetBackground shows a picture behind the lists of a board.
func SetBackground(ctx context.Context, tx *store.Tx, in SetBackgroundInput) (board.BoardDetail, error) {
	if in.picture == nil {
		return board.BoardDetail{}, board.Invalid("The request is empty. Its body must be a picture.")
	}
	if _, err := tx.Board(ctx, in.BoardID, board.Edit); err != nil {
		return board.BoardDetail{}, err
	}
	version, err := tx.AddBackground(ctx, in.BoardID, *in.picture)
	if err != nil {
		return board.BoardDetail{}, err
	}
	return UpdateBoard(ctx, tx, UpdateBoardInput{BoardInput: in.BoardInput, Background: op.Optional[string]{Set: true, Value: &version}})
}

// DownloadBackgroundInput is the input of DownloadBackground.
type DownloadBackgroundInput struct {
	BoardInput
	Version string `json:"version,omitempty" maxLength:"64" doc:"The version of the picture, from the background field of the board. If it is the current one, the response may be cached for a year." example:"9f86d081884c7d65"`
}

// DownloadBackground returns the picture behind the lists of a board. It returns a not_found
// error if there is none.
func DownloadBackground(ctx context.Context, v *store.View, in DownloadBackgroundInput) (board.Content, error) {
	b, err := v.Board(ctx, in.BoardID, board.View)
	if err != nil {
		return board.Content{}, err
	}
	return BackgroundOf(ctx, v, b, in.Version)
}

// BackgroundOf returns the picture behind the lists of a loaded board, for a request that names
// a version. It returns a not_found error if there is none.
func BackgroundOf(ctx context.Context, v *store.View, b board.Board, version string) (board.Content, error) {
	if b.Background == nil {
		return board.Content{}, board.NotFound()
	}
	p, err := v.Background(ctx, b.ID, *b.Background)
	return board.Content{Name: "background", At: p.At, Picture: &p.Picture, Kept: version == *b.Background}, err
}

// chooseBackground returns the version of the picture that a loaded board shows if the caller
// chooses a version: nil for no picture.
func chooseBackground(ctx context.Context, tx *store.Tx, b board.Board, version *string) (*string, error) {
	if version == nil {
		return nil, nil
	}
	exists, err := tx.UseBackground(ctx, b.ID, *version)
	if err == nil && !exists {
		err = board.Invalid("background must be the version of one of the last five pictures of the board.")
	}
	return version, err
}
