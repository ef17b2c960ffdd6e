package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

const entryColumns = "id, type, at, actor_type, actor_id, board_id, list_id, card_id, changes, version, client"

// Changes returns a page of the changes of a board that a loader has loaded, in the
// order of their versions, after a version. It ends before versions whose entries a
// job is still writing.
func (v *View) Changes(ctx context.Context, boardID string, since int64, limit int) ([]board.Entry, error) {
	return v.entries(ctx, "WHERE board_id = $1 AND version > $2 AND "+recorded+" ORDER BY version LIMIT $3", boardID, since, limit)
}

// RecordedChanges is Changes without the versions whose entries a job is still
// writing.
func (v *View) RecordedChanges(ctx context.Context, boardID string, since int64, limit int) ([]board.Entry, error) {
	return v.entries(ctx, "WHERE board_id = $1 AND version > $2 ORDER BY version LIMIT $3", boardID, since, limit)
}

// recorded is the condition that a version of the board $1 can be read in order after
// version $2: no version between them is pending.
const recorded = "version < COALESCE((SELECT min(p.first) FROM pending_activity p WHERE p.board_id = $1 AND p.last > $2), 9007199254740991)"

// RecordedTo returns up to which version the changes of a board that a loader has
// loaded can be read in order after a version.
func (v *View) RecordedTo(ctx context.Context, boardID string, since int64) (int64, error) {
	var first sql.NullInt64
	_, err := v.one(ctx, "SELECT min(p.first) FROM pending_activity p WHERE p.board_id = $1 AND p.last > $2", []any{boardID, since}, &first)
	if !first.Valid {
		return v.On(boardID).Version, err
	}
	return max(since, first.Int64-1), err
}

// Activity returns a page of the changes of a board that a loader has loaded, newest
// first, before a version.
func (v *View) Activity(ctx context.Context, boardID string, before int64, limit int) ([]board.Entry, error) {
	return v.entries(ctx, "WHERE board_id = $1 AND version < $2 ORDER BY version DESC LIMIT $3", boardID, before, limit)
}

// CardActivity is Activity for the changes of one card.
func (v *View) CardActivity(ctx context.Context, boardID, cardID string, before int64, limit int) ([]board.Entry, error) {
	return v.entries(ctx, "WHERE card_id = $1 AND board_id = $2 AND version < $3 ORDER BY version DESC LIMIT $4", cardID,
		boardID, before, limit)
}

func (v *View) entries(ctx context.Context, where string, args ...any) ([]board.Entry, error) {
	out := []board.Entry{}
	err := v.each(ctx, "SELECT "+entryColumns+" FROM activity "+where, args, func(rows *sql.Rows) error {
		var (
			e       board.Entry
			changes []byte
		)
		if err := rows.Scan(&e.ID, &e.Type, &e.At, &e.Actor.Type, &e.Actor.ID, &e.BoardID, &e.ListID, &e.CardID, &changes,
			&e.BoardVersion, &e.Client); err != nil {
			return err
		}
		if err := json.Unmarshal(changes, &e.Changes); err != nil {
			return fmt.Errorf("decode changes of %s: %w", e.ID, err)
		}
		out = append(out, e)
		return nil
	})
	return out, err
}
