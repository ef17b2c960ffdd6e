package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

// StatusUpdateMark is where a page of status updates ended.
type StatusUpdateMark struct {
	At board.Instant `json:"at"`
	ID string        `json:"id"`
}

// StatusUpdates are what was said of a board, which a loader has loaded, newest
// first from behind the mark on.
func (v *View) StatusUpdates(ctx context.Context, boardID string, mark StatusUpdateMark, limit int) ([]board.StatusUpdate, error) {
	out := []board.StatusUpdate{}
	err := v.each(ctx, `SELECT s.id, s.board_id, s.status, s.title, s.text, s.start_date, s.target_date, s.author_id, u.name, s.created_at, s.figures
		FROM status_updates s LEFT JOIN users u ON u.id = s.author_id
		WHERE s.board_id = $1 AND (s.created_at, s.id) < ($2, $3) ORDER BY s.created_at DESC, s.id DESC LIMIT $4`,
		[]any{boardID, int64(mark.At), mark.ID, limit}, func(rows *sql.Rows) error {
			var (
				s            board.StatusUpdate
				author, name sql.NullString
				figures      []byte
			)
			if err := rows.Scan(&s.ID, &s.BoardID, &s.Status, &s.Title, &s.Text, &s.StartDate, &s.TargetDate, &author, &name, &s.CreatedAt, &figures); err != nil {
				return err
			}
			if author.Valid {
				s.Author = &board.UserRef{ID: author.String, Name: name.String}
			}
			if err := json.Unmarshal(figures, &s.Snapshot); err != nil {
				return fmt.Errorf("figures of %s: %w", s.ID, err)
			}
			out = append(out, s)
			return nil
		})
	return out, err
}

// InsertStatusUpdate writes what somebody says of a board, which a loader has
// loaded.
func (tx *Tx) InsertStatusUpdate(ctx context.Context, s *board.StatusUpdate) error {
	s.CreatedAt = tx.now
	return tx.TransferStatusUpdate(ctx, s)
}

// Figures sum up one board, which a loader has loaded.
func (v *View) Figures(ctx context.Context, boardID string, cut ReportCut) (board.Figures, error) {
	var (
		a arguments
		f board.Figures
	)
	text := "SELECT " + cut.state(&a) + `, EXISTS (SELECT 1 FROM card_assignees k WHERE k.card_id = c.id), count(*)
		FROM lists l JOIN cards c ON c.list_id = l.id WHERE l.board_id = ` + a.add(boardID) + ` AND l.archived_at IS NULL AND c.archived_at IS NULL GROUP BY 1, 2`
	err := v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			state    string
			assigned bool
			n        int
		)
		err := rows.Scan(&state, &assigned, &n)
		f.Count(standing(state[0]), assigned, n)
		return err
	})
	return f, err
}
