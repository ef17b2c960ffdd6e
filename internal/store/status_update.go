package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

// StatusUpdateCursor is the position after a page of status updates.
type StatusUpdateCursor struct {
	At board.Instant `json:"at"`
	ID string        `json:"id"`
}

// MovedCard is a card that was moved to another list.
type MovedCard struct {
	Title, URL, List string
}

// MovedCards returns the open cards of a board that were created before an instant and
// moved to another list since then, with their current lists, most recently moved first.
// It omits cards that were completed since then. The board must already be loaded.
func (v *View) MovedCards(ctx context.Context, boardID string, since board.Instant, limit int) ([]MovedCard, error) {
	out := []MovedCard{}
	err := v.each(ctx, `SELECT c.id, c.title, l.name FROM cards c JOIN lists l ON l.id = c.list_id
		JOIN (SELECT a.card_id, max(a.version) AS version FROM activity a WHERE a.board_id = $1 AND a.at >= $2
			AND a.type = '`+string(board.KindCardMoved)+`' GROUP BY a.card_id) m ON m.card_id = c.id
		WHERE c.board_id = $1 AND `+search.OpenCard+` AND c.created_at < $2 AND (c.done_at IS NULL OR c.done_at < $2)
		ORDER BY m.version DESC, c.id LIMIT $3`, []any{boardID, int64(since), limit}, func(rows *sql.Rows) error {
		var (
			id string
			m  MovedCard
		)
		err := rows.Scan(&id, &m.Title, &m.List)
		m.URL = v.Link("/cards/" + id)
		out = append(out, m)
		return err
	})
	return out, err
}

const (
	statusUpdateColumns = "s.id, s.board_id, s.status, s.title, s.text, s.start_date, s.target_date, s.author_id, u.name, " +
		"s.created_at, s.figures"
	statusUpdateLoad = "SELECT " + accessColumns + ", " + statusUpdateColumns + ` FROM status_updates s
		JOIN boards b ON b.id = s.board_id LEFT JOIN users u ON u.id = s.author_id` + accessJoins + "WHERE s.id = $1"
)

// statusUpdateScan collects the columns of a status update, which may have no author.
type statusUpdateScan struct {
	update               board.StatusUpdate
	authorID, authorName sql.NullString
	figures              []byte
}

func (s *statusUpdateScan) dest() []any {
	u := &s.update
	return []any{&u.ID, &u.BoardID, &u.Status, &u.Title, &u.Text, &u.StartDate, &u.TargetDate, &s.authorID, &s.authorName,
		&u.CreatedAt, &s.figures}
}

func (s *statusUpdateScan) result() (board.StatusUpdate, error) {
	u := s.update
	if s.authorID.Valid {
		u.Author = &board.UserRef{ID: s.authorID.String, Name: s.authorName.String}
	}
	if err := json.Unmarshal(s.figures, &u.Snapshot); err != nil {
		return u, fmt.Errorf("decode figures of %s: %w", u.ID, err)
	}
	return u, nil
}

// StatusUpdate loads the status update with the given id. It returns an error unless the caller
// has the capability on its board.
func (v *View) StatusUpdate(ctx context.Context, id string, need board.Capability) (board.StatusUpdate, error) {
	var s statusUpdateScan
	if err := v.authorized(ctx, need, statusUpdateLoad, id, s.dest()...); err != nil {
		return board.StatusUpdate{}, err
	}
	return s.result()
}

// StatusUpdates returns a page of the status updates of a board, newest first, after the
// cursor. The board must already be loaded.
func (v *View) StatusUpdates(ctx context.Context, boardID string, cursor StatusUpdateCursor, limit int) ([]board.StatusUpdate, error) {
	out := []board.StatusUpdate{}
	err := v.each(ctx, "SELECT "+statusUpdateColumns+` FROM status_updates s LEFT JOIN users u ON u.id = s.author_id
		WHERE s.board_id = $1 AND (s.created_at, s.id) < ($2, $3) ORDER BY s.created_at DESC, s.id DESC LIMIT $4`,
		[]any{boardID, int64(cursor.At), cursor.ID, limit}, func(rows *sql.Rows) error {
			var s statusUpdateScan
			if err := rows.Scan(s.dest()...); err != nil {
				return err
			}
			update, err := s.result()
			out = append(out, update)
			return err
		})
	return out, err
}

// InsertStatusUpdate stores a new status update of a board. The board must already be
// loaded.
func (tx *Tx) InsertStatusUpdate(ctx context.Context, s *board.StatusUpdate) error {
	s.CreatedAt = tx.now
	var r rows
	if err := r.statusUpdate(s); err != nil {
		return err
	}
	tx.storedRecord(s.ID, s.BoardID, s.Title, s.Text)
	return tx.writeRows(ctx, &r)
}

// Figures returns the figures of a new status update of a board. The board must already
// be loaded.
func (v *View) Figures(ctx context.Context, boardID string, cut ReportCut) (board.Figures, error) {
	var (
		a sqldb.Args
		f board.Figures
	)
	text := "SELECT " + cut.state(&a) + `, EXISTS (SELECT 1 FROM card_assignees k WHERE k.card_id = c.id), count(*)
		FROM lists l JOIN cards c ON c.list_id = l.id WHERE l.board_id = ` + a.Add(boardID) + ` AND ` + search.OpenCard + ` GROUP BY 1, 2`
	err := v.each(ctx, text, a, func(rows *sql.Rows) error {
		var (
			state    string
			assigned bool
			n        int
		)
		err := rows.Scan(&state, &assigned, &n)
		f.Count(cardState(state[0]), assigned, n)
		return err
	})
	return f, err
}
