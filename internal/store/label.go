package store

import (
	"context"
	"database/sql"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
)

const (
	labelColumns = "a.id, a.board_id, a.name, a.color, a.created_at, a.updated_at"
	labelLoad    = "SELECT " + accessColumns + ", " + labelColumns + " FROM labels a JOIN boards b ON b.id = a.board_id" +
		accessJoins + "WHERE a.id = $1"
	labelLock = "SELECT b.id FROM boards b JOIN labels a ON a.board_id = b.id WHERE a.id = $1 FOR UPDATE OF b"
)

func labelDest(l *board.Label) []any {
	return []any{&l.ID, &l.BoardID, &l.Name, &l.Color, &l.CreatedAt, &l.UpdatedAt}
}

// Label loads the label with the given id. It returns an error unless the caller has the
// capability on the label's board.
func (v *View) Label(ctx context.Context, id string, need board.Capability) (board.Label, error) {
	var l board.Label
	err := v.authorized(ctx, need, labelLoad, id, labelDest(&l)...)
	return l, err
}

// Label locks the label's board and loads the label for a change.
func (tx *Tx) Label(ctx context.Context, id string, need board.Capability) (board.Label, error) {
	var l board.Label
	if err := tx.lockToLoad(ctx, labelLock, labelLoad, id); err != nil {
		return l, err
	}
	err := tx.authorized(ctx, need, labelLoad, id, labelDest(&l)...)
	if err == nil {
		tx.loadedRecord(l.ID, l.BoardID, l.Name)
	}
	return l, err
}

// Labels returns a page of the labels of a board, ordered by name and id, starting after
// the given name and id.
func (v *View) Labels(ctx context.Context, boardID string, afterName, afterID string, limit int) ([]board.Label, error) {
	out := []board.Label{}
	err := v.each(ctx, "SELECT "+labelColumns+" FROM labels a WHERE a.board_id = $1 AND (a.name, a.id) > ($2, $3) "+
		"ORDER BY a.name, a.id LIMIT $4",
		[]any{boardID, afterName, afterID, limit}, func(rows *sql.Rows) error {
			var l board.Label
			err := rows.Scan(labelDest(&l)...)
			out = append(out, l)
			return err
		})
	return out, err
}

// CountLabels returns the number of labels of a board.
func (v *View) CountLabels(ctx context.Context, boardID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM labels WHERE board_id = $1", boardID)
}

// InsertLabel writes a new label.
func (tx *Tx) InsertLabel(ctx context.Context, l *board.Label) error {
	l.CreatedAt, l.UpdatedAt = tx.now, tx.now
	tx.storedRecord(l.ID, l.BoardID, l.Name)
	return tx.exec(ctx, "INSERT INTO labels (id, board_id, name, color, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6)",
		l.ID, l.BoardID, l.Name, string(l.Color), int64(l.CreatedAt), int64(l.UpdatedAt))
}

// UpdateLabel writes all fields of a label.
func (tx *Tx) UpdateLabel(ctx context.Context, l *board.Label) error {
	l.UpdatedAt = tx.now
	tx.storedRecord(l.ID, l.BoardID, l.Name)
	return tx.exec(ctx, "UPDATE labels SET name = $1, color = $2, updated_at = $3 WHERE id = $4", l.Name, string(l.Color),
		int64(l.UpdatedAt), l.ID)
}

// LabelledCards returns at most limit open cards with the given label, ordered by id. It
// sets only their ids, boards, lists and labels. A card in an archived list is not open.
func (v *View) LabelledCards(ctx context.Context, labelID string, limit int) ([]board.Card, error) {
	var out []board.Card
	err := v.each(ctx, `SELECT c.id, c.board_id, c.list_id, a.id, a.name, a.color FROM (
			SELECT c.id, c.board_id, c.list_id FROM card_labels k
			JOIN cards c ON c.id = k.card_id JOIN lists l ON l.id = c.list_id
			WHERE k.label_id = $1 AND c.archived_at IS NULL AND l.archived_at IS NULL ORDER BY c.id LIMIT $2
		) c JOIN card_labels o ON o.card_id = c.id JOIN labels a ON a.id = o.label_id ORDER BY c.id, a.name, a.id`,
		[]any{labelID, limit}, func(rows *sql.Rows) error {
			var (
				c board.Card
				l board.LabelRef
			)
			if err := rows.Scan(&c.ID, &c.BoardID, &c.ListID, &l.ID, &l.Name, &l.Color); err != nil {
				return err
			}
			if n := len(out); n == 0 || out[n-1].ID != c.ID {
				out = append(out, c)
			}
			last := &out[len(out)-1]
			last.Labels = append(last.Labels, l)
			return nil
		})
	return out, err
}

// RemoveLabel removes a label from cards and sets their update times to now.
func (tx *Tx) RemoveLabel(ctx context.Context, labelID string, cards []board.Card) error {
	ids := make([]string, len(cards))
	for i, c := range cards {
		ids[i] = c.ID
	}
	return sqldb.InChunks(ids, func(in string, args []any) error {
		n := len(args) + 1
		remove := fmt.Sprintf("DELETE FROM card_labels WHERE card_id IN (%s) AND label_id = $%d", in, n)
		if err := tx.exec(ctx, remove, append(args, labelID)...); err != nil {
			return err
		}
		touch := fmt.Sprintf("UPDATE cards SET updated_at = $%d WHERE id IN (%s)", n, in)
		return tx.exec(ctx, touch, append(args, int64(tx.now))...)
	})
}

// DeleteLabel deletes a label from its board and its cards.
func (tx *Tx) DeleteLabel(ctx context.Context, id string) error {
	tx.deletedRecord(id)
	return tx.exec(ctx, "DELETE FROM labels WHERE id = $1", id)
}
