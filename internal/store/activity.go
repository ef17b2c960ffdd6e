package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/go-json-experiment/json"

	"cardwall/internal/board"
)

const entryColumns = "id, type, at, actor_type, actor_id, board_id, list_id, card_id, changes, version, client, program"

const entryAccess = "SELECT " + accessColumns + " FROM activity a JOIN boards b ON b.id = a.board_id" + accessJoins + "WHERE a.id = $1"

// entryFields returns the destinations of entryColumns.
func entryFields(e *board.Entry, changes *[]byte) []any {
	return []any{&e.ID, &e.Type, &e.At, &e.Actor.Type, &e.Actor.ID, &e.BoardID, &e.ListID, &e.CardID, changes, &e.BoardVersion,
		&e.Client, &e.Actor.Client}
}

// Changes returns a page of the changes to a loaded board after the given version, ordered
// by version. It ends before the first version whose entry a job has yet to write.
func (v *View) Changes(ctx context.Context, boardID string, since int64, limit int) ([]board.Entry, error) {
	return v.entries(ctx, "WHERE board_id = $1 AND version > $2 AND "+recorded+" ORDER BY version LIMIT $3", boardID, since, limit)
}

// RecordedChanges is like Changes, but skips versions whose entries a job has yet to
// write.
func (v *View) RecordedChanges(ctx context.Context, boardID string, since int64, limit int) ([]board.Entry, error) {
	return v.entries(ctx, "WHERE board_id = $1 AND version > $2 ORDER BY version LIMIT $3", boardID, since, limit)
}

// recorded is an SQL condition on a row of the board $1. It is true if none of the
// versions after $2, up to and including the row's version, is pending.
const recorded = "version < COALESCE((SELECT min(p.first) FROM pending_activity p WHERE p.board_id = $1 AND p.last > $2), 9007199254740991)"

// RecordedTo returns the last version of a loaded board that Changes returns, over all
// pages, if the first page starts after the given version.
func (v *View) RecordedTo(ctx context.Context, boardID string, since int64) (int64, error) {
	var first sql.NullInt64
	_, err := v.one(ctx, "SELECT min(p.first) FROM pending_activity p WHERE p.board_id = $1 AND p.last > $2", []any{boardID, since}, &first)
	if !first.Valid {
		return v.On(boardID).Version, err
	}
	return max(since, first.Int64-1), err
}

// Activity returns a page of the changes to a loaded board before the given version,
// newest first.
func (v *View) Activity(ctx context.Context, boardID string, before int64, limit int) ([]board.Entry, error) {
	return v.entries(ctx, "WHERE board_id = $1 AND version < $2 ORDER BY version DESC LIMIT $3", boardID, before, limit)
}

// CardActivity is like Activity, but returns only the changes to one card.
func (v *View) CardActivity(ctx context.Context, boardID, cardID string, before int64, limit int) ([]board.Entry, error) {
	return v.entries(ctx, "WHERE card_id = $1 AND board_id = $2 AND version < $3 ORDER BY version DESC LIMIT $4", cardID,
		boardID, before, limit)
}

// ActivityOn returns the activity of loaded cards on their present boards, grouped by card and newest first. It returns
// at most limit entries for 256 cards.
func (v *View) ActivityOn(ctx context.Context, cardIDs []string, limit int) ([]board.Entry, error) {
	return onCards(cardIDs, func(in string, args []any) ([]board.Entry, error) {
		return v.entries(ctx, "WHERE card_id IN ("+in+") AND board_id = (SELECT c.board_id FROM cards c WHERE c.id = activity.card_id) "+
			fmt.Sprintf("ORDER BY card_id DESC, version DESC LIMIT $%d", len(args)+1), append(args, limit)...)
	})
}

// Entry loads the activity entry with the given id. It returns an error unless the caller has
// the capability on the entry's board.
func (v *View) Entry(ctx context.Context, id string, need board.Capability) (board.Entry, error) {
	boardID, err := v.authorize(ctx, need, entryAccess, id)
	if err != nil {
		return board.Entry{}, err
	}
	found, err := v.entries(ctx, "WHERE id = $1 AND board_id = $2", id, boardID)
	if err != nil {
		return board.Entry{}, err
	}
	if len(found) == 0 {
		return board.Entry{}, board.NotFound()
	}
	return found[0], nil
}

func (v *View) entries(ctx context.Context, where string, args ...any) ([]board.Entry, error) {
	out := []board.Entry{}
	err := v.each(ctx, "SELECT "+entryColumns+" FROM activity "+where, args, func(rows *sql.Rows) error {
		var (
			e       board.Entry
			changes []byte
		)
		if err := rows.Scan(entryFields(&e, &changes)...); err != nil {
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
