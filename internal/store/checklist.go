package store

import (
	"context"
	"database/sql"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/query"
)

const (
	checklistColumns = "k.id, k.card_id, k.title, k.created_at, k.updated_at"
	checklistLoad    = "SELECT " + accessColumns + ", " + checklistColumns + " FROM checklists k JOIN cards c ON c.id = k.card_id " +
		"JOIN boards b ON b.id = c.board_id" + accessJoins + "WHERE k.id = $1"
	checklistLock = "SELECT b.id FROM boards b JOIN cards c ON c.board_id = b.id JOIN checklists k ON k.card_id = c.id " +
		"WHERE k.id = $1 FOR UPDATE OF b"
	checklistsOf = checklistSelect + "k.card_id = $1" + checklistOrder

	checklistSelect = "SELECT " + checklistColumns + " FROM checklists k WHERE "
	checklistOrder  = " ORDER BY k.card_id, k.id"

	itemColumns = "i.id, i.checklist_id, i.title, i.rank, i.done_at, i.created_at, i.updated_at"
	itemLoad    = "SELECT " + accessColumns + ", " + itemColumns + `, k.card_id FROM checklist_items i
		JOIN checklists k ON k.id = i.checklist_id
		JOIN cards c ON c.id = k.card_id JOIN boards b ON b.id = c.board_id` + accessJoins + "WHERE i.id = $1"
	itemLock = `SELECT b.id FROM boards b JOIN cards c ON c.board_id = b.id JOIN checklists k ON k.card_id = c.id
		JOIN checklist_items i ON i.checklist_id = k.id WHERE i.id = $1 FOR UPDATE OF b`
)

func checklistDest(k *board.Checklist) []any {
	return []any{&k.ID, &k.CardID, &k.Title, &k.CreatedAt, &k.UpdatedAt}
}

func itemDest(i *board.ChecklistItem) []any {
	return []any{&i.ID, &i.ChecklistID, &i.Title, &i.Rank, &i.DoneAt, &i.CreatedAt, &i.UpdatedAt}
}

// Checklist loads the checklist with the given id, with its items in order. It returns an
// error unless the caller has the capability on the checklist's board.
func (v *View) Checklist(ctx context.Context, id string, need board.Capability) (board.Checklist, error) {
	var k board.Checklist
	if err := v.authorized(ctx, need, checklistLoad+" AND "+shownCard, id, checklistDest(&k)...); err != nil {
		return k, err
	}
	var err error
	k.Items, err = v.Items(ctx, k.ID)
	return k, err
}

// Checklist locks the board and loads a checklist and its card for a change.
func (tx *Tx) Checklist(ctx context.Context, id string, need board.Capability) (board.Checklist, board.Card, error) {
	var k board.Checklist
	if err := tx.lockToLoad(ctx, checklistLock, checklistLoad, id); err != nil {
		return k, board.Card{}, err
	}
	if err := tx.authorized(ctx, need, checklistLoad, id, checklistDest(&k)...); err != nil {
		return k, board.Card{}, err
	}
	card, err := tx.Card(ctx, k.CardID, need)
	if err != nil {
		return k, card, err
	}
	tx.loadedRecord(k.ID, card.BoardID, k.Title)
	k.Items, err = tx.Items(ctx, k.ID)
	for _, i := range k.Items {
		tx.loadedRecord(i.ID, card.BoardID, i.Title)
	}
	return k, card, err
}

// Item locks the board and loads an item and its card for a change.
func (tx *Tx) Item(ctx context.Context, id string, need board.Capability) (board.ChecklistItem, board.Card, error) {
	var (
		i      board.ChecklistItem
		cardID string
	)
	if err := tx.lockToLoad(ctx, itemLock, itemLoad, id); err != nil {
		return i, board.Card{}, err
	}
	if err := tx.authorized(ctx, need, itemLoad, id, append(itemDest(&i), &cardID)...); err != nil {
		return i, board.Card{}, err
	}
	i.Done = i.DoneAt != nil
	card, err := tx.Card(ctx, cardID, need)
	if err == nil {
		tx.loadedRecord(i.ID, card.BoardID, i.Title)
	}
	return i, card, err
}

// Items returns the items of a checklist in order.
func (v *View) Items(ctx context.Context, checklistID string) ([]board.ChecklistItem, error) {
	return v.items(ctx, "SELECT "+itemColumns+" FROM checklist_items i WHERE i.checklist_id = $1 ORDER BY i.rank, i.id", checklistID)
}

func (v *View) items(ctx context.Context, text string, args ...any) ([]board.ChecklistItem, error) {
	out := []board.ChecklistItem{}
	err := v.each(ctx, text, args, func(rows *sql.Rows) error {
		var i board.ChecklistItem
		err := rows.Scan(itemDest(&i)...)
		i.Done = i.DoneAt != nil
		out = append(out, i)
		return err
	})
	return out, err
}

// Checklists returns the checklists of a loaded card, oldest first, with their items in
// order.
func (v *View) Checklists(ctx context.Context, cardID string) ([]board.Checklist, error) {
	return v.checklists(ctx, "k.card_id = $1", cardID)
}

// ChecklistsOn returns the checklists of loaded cards, grouped by card and oldest first, with their items in order.
func (v *View) ChecklistsOn(ctx context.Context, cardIDs []string) ([]board.Checklist, error) {
	return onCards(cardIDs, func(in string, args []any) ([]board.Checklist, error) {
		return v.checklists(ctx, "k.card_id IN ("+in+")", args...)
	})
}

func (v *View) checklists(ctx context.Context, where string, args ...any) ([]board.Checklist, error) {
	out := []board.Checklist{}
	index := map[string]int{}
	err := v.each(ctx, checklistSelect+where+checklistOrder, args, func(rows *sql.Rows) error {
		k := board.Checklist{Items: []board.ChecklistItem{}}
		err := rows.Scan(checklistDest(&k)...)
		index[k.ID] = len(out)
		out = append(out, k)
		return err
	})
	if err != nil || len(out) == 0 {
		return out, err
	}
	items, err := v.items(ctx, "SELECT "+itemColumns+" FROM checklist_items i JOIN checklists k ON k.id = i.checklist_id "+
		"WHERE "+where+" ORDER BY i.checklist_id, i.rank, i.id", args...)
	for _, i := range items {
		k := &out[index[i.ChecklistID]]
		k.Items = append(k.Items, i)
	}
	return out, err
}

// InsertChecklist writes a new checklist with its items in order. The caller must
// update the card's counts.
func (tx *Tx) InsertChecklist(ctx context.Context, k *board.Checklist) error {
	k.CreatedAt, k.UpdatedAt = tx.now, tx.now
	tx.storedRecord(k.ID, tx.boardOf(k.CardID), k.Title)
	if err := tx.exec(ctx, "INSERT INTO checklists (id, card_id, title, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)",
		k.ID, k.CardID, k.Title, int64(tx.now), int64(tx.now)); err != nil {
		return fmt.Errorf("insert checklist: %w", err)
	}
	if err := tx.addText(ctx, k.CardID, query.InChecklist, k.ID, k.Title); err != nil {
		return err
	}
	ranks, err := board.RanksAfter("", len(k.Items))
	if err != nil {
		return err
	}
	for n := range k.Items {
		i := &k.Items[n]
		i.ChecklistID, i.Rank, i.CreatedAt, i.UpdatedAt = k.ID, ranks[n], tx.now, tx.now
		if err := tx.insertItem(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// UpdateChecklist writes the checklist's own fields.
func (tx *Tx) UpdateChecklist(ctx context.Context, k *board.Checklist) error {
	k.UpdatedAt = tx.now
	tx.storedRecord(k.ID, tx.boardOf(k.ID), k.Title)
	if err := tx.exec(ctx, "UPDATE checklists SET title = $1, updated_at = $2 WHERE id = $3", k.Title, int64(tx.now), k.ID); err != nil {
		return err
	}
	return tx.indexText(ctx, k.CardID, query.InChecklist, k.ID, k.Title)
}

// DeleteChecklist deletes a checklist and its items. The checklist must have been loaded
// by Tx.Checklist. The caller must update the card's counts.
func (tx *Tx) DeleteChecklist(ctx context.Context, k board.Checklist) error {
	id := k.ID
	tx.deletedRecord(id)
	for _, i := range k.Items {
		tx.deletedRecord(i.ID)
	}
	if err := tx.exec(ctx, `DELETE FROM texts WHERE card_id = (SELECT card_id FROM checklists WHERE id = $1) AND place = 'checklist'
		AND (ref = $1 OR ref IN (SELECT id FROM checklist_items WHERE checklist_id = $1))`, id); err != nil {
		return err
	}
	return tx.exec(ctx, "DELETE FROM checklists WHERE id = $1", id)
}

// CountChecklists returns the number of checklists of a card.
func (v *View) CountChecklists(ctx context.Context, cardID string) (int, error) {
	return v.count(ctx, "SELECT count(*) FROM checklists WHERE card_id = $1", cardID)
}

// InsertItem writes a new item and returns the id of the item before it, or "" if it is
// the first. The caller must update the card's counts.
func (tx *Tx) InsertItem(ctx context.Context, i *board.ChecklistItem, at board.Position) (after string, err error) {
	p, err := tx.findPosition(ctx, itemSiblings(), i.ChecklistID, "", "", at)
	if err != nil {
		return "", err
	}
	i.Rank, i.CreatedAt, i.UpdatedAt = p.rank, tx.now, tx.now
	return p.after, tx.insertItem(ctx, i)
}

func (tx *Tx) insertItem(ctx context.Context, i *board.ChecklistItem) error {
	tx.storedRecord(i.ID, tx.boardOf(i.ChecklistID), i.Title)
	if err := tx.exec(ctx, "INSERT INTO checklist_items (id, checklist_id, title, rank, done_at, created_at, updated_at) "+
		"VALUES ($1, $2, $3, $4, $5, $6, $7)",
		i.ID, i.ChecklistID, i.Title, i.Rank, null(i.DoneAt), int64(i.CreatedAt), int64(i.UpdatedAt)); err != nil {
		return err
	}
	return tx.indexItem(ctx, i)
}

func (tx *Tx) indexItem(ctx context.Context, i *board.ChecklistItem) error {
	var cardID string
	if _, err := tx.one(ctx, "SELECT card_id FROM checklists WHERE id = $1", []any{i.ChecklistID}, &cardID); err != nil {
		return err
	}
	return tx.indexText(ctx, cardID, query.InChecklist, i.ID, i.Title)
}

// PlaceItem moves an item within its checklist.
func (tx *Tx) PlaceItem(ctx context.Context, i *board.ChecklistItem, at board.Position) (Placement, error) {
	p, rank, err := tx.place(ctx, itemSiblings(), row{i.ID, i.ChecklistID, i.Rank}, i.ChecklistID, at)
	if err != nil || !p.Moved {
		return p, err
	}
	i.Rank = rank
	return p, tx.UpdateItem(ctx, i)
}

// ItemBefore returns the id of the item before an item, or "" if there is none.
func (tx *Tx) ItemBefore(ctx context.Context, i board.ChecklistItem) (string, error) {
	return tx.before(ctx, itemSiblings(), i.ChecklistID, i.Rank)
}

// UpdateItem writes all fields of an item and the update time of its checklist.
func (tx *Tx) UpdateItem(ctx context.Context, i *board.ChecklistItem) error {
	i.UpdatedAt = tx.now
	i.Done = i.DoneAt != nil
	tx.storedRecord(i.ID, tx.boardOf(i.ID), i.Title)
	if err := tx.exec(ctx, "UPDATE checklist_items SET title = $1, rank = $2, done_at = $3, updated_at = $4 WHERE id = $5",
		i.Title, i.Rank, null(i.DoneAt), int64(tx.now), i.ID); err != nil {
		return err
	}
	if err := tx.indexItem(ctx, i); err != nil {
		return err
	}
	return tx.exec(ctx, "UPDATE checklists SET updated_at = $1 WHERE id = $2", int64(tx.now), i.ChecklistID)
}

// DeleteItem deletes an item. The caller must update the card's counts.
func (tx *Tx) DeleteItem(ctx context.Context, id string) error {
	tx.deletedRecord(id)
	if err := tx.exec(ctx, `DELETE FROM texts WHERE card_id = (SELECT k.card_id FROM checklists k
		JOIN checklist_items i ON i.checklist_id = k.id WHERE i.id = $1)
		AND place = 'checklist' AND ref = $1`, id); err != nil {
		return err
	}
	return tx.exec(ctx, "DELETE FROM checklist_items WHERE id = $1", id)
}
