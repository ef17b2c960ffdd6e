package store

import (
	"context"

	"cardwall/internal/board"
)

// keptBackgrounds is the number of pictures that are kept for a board, including the one
// that is shown.
const keptBackgrounds = 5

// AddBackground stores a picture for a loaded board, which does not show it yet. It returns
// the version of the picture. It deletes the pictures that were chosen longest ago if there are too many.
func (tx *Tx) AddBackground(ctx context.Context, boardID string, p board.Picture) (version string, err error) {
	version = p.Version()
	if err := tx.exec(ctx, `INSERT INTO backgrounds (board_id, version, media_type, picture, used_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (board_id, version) DO UPDATE SET used_at = excluded.used_at`,
		boardID, version, p.MediaType, p.Content, int64(tx.now)); err != nil {
		return "", err
	}
	return version, tx.exec(ctx, `DELETE FROM backgrounds WHERE board_id = $1 AND version NOT IN (
		SELECT k.version FROM backgrounds k WHERE k.board_id = $1 ORDER BY k.used_at DESC, k.version LIMIT $2)`,
		boardID, keptBackgrounds)
}

// Background returns a picture of a loaded board. It returns a not_found error if the picture
// does not exist.
func (v *View) Background(ctx context.Context, boardID, version string) (b board.Background, err error) {
	found, err := v.one(ctx, "SELECT media_type, picture, used_at FROM backgrounds WHERE board_id = $1 AND version = $2",
		[]any{boardID, version}, &b.MediaType, &b.Content, &b.At)
	if err == nil && !found {
		err = board.NotFound()
	}
	return b, err
}

// UseBackground records that a picture of a loaded board is chosen again. It reports whether
// the picture exists.
func (tx *Tx) UseBackground(ctx context.Context, boardID, version string) (bool, error) {
	n, err := tx.affected(ctx, "UPDATE backgrounds SET used_at = $1 WHERE board_id = $2 AND version = $3", int64(tx.now), boardID, version)
	return n > 0, err
}

// backgroundRow is a new row of backgrounds.
type backgroundRow struct {
	BoardID   string `json:"boardId"`
	MediaType string `json:"mediaType"`
	Content   []byte `json:"content"`
}
