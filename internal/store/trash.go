package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"cardwall/internal/board"
	"cardwall/internal/store/search"
)

// A deleted list stays in the database for TrashLifetime. It is hidden with its cards, like
// the list of a job. A deleted card is moved to the bin of its board: a hidden list that
// holds nothing else.

// binTime is the value of trashed_at of a bin.
const binTime = 0

const (
	// The columns of a deleted card and of the list that it goes back to: its former list
	// or, if that list is no longer on the board, the first open list.
	trashedCardLoad = "SELECT " + accessColumns + ", " + cardColumns + ", c.description, COALESCE((SELECT f.id FROM lists f WHERE " +
		`f.id = t.from_id AND f.board_id = t.board_id), (SELECT f.id FROM lists f WHERE f.board_id = t.board_id AND f.archived_at IS NULL
		ORDER BY f.rank LIMIT 1), '') FROM trash t JOIN cards c ON c.id = t.id JOIN lists l ON l.id = c.list_id
		JOIN boards b ON b.id = t.board_id` + accessJoins + "WHERE t.id = $1"
	trashedListLoad = "SELECT " + accessColumns + ", " + listColumns + " FROM trash t JOIN lists l ON l.id = t.id " +
		"JOIN boards b ON b.id = t.board_id" + accessJoins + "WHERE t.id = $1"
)

// TrashCard moves a loaded, archived card to the trash.
func (tx *Tx) TrashCard(ctx context.Context, c board.Card) error {
	bin, err := tx.bin(ctx, c.BoardID)
	if err != nil {
		return err
	}
	p, err := tx.findPosition(ctx, cardSiblings(), bin, "", "", board.Position{})
	if err != nil {
		return err
	}
	tx.On(c.BoardID).AllCards--
	return errors.Join(
		tx.exec(ctx, "UPDATE cards SET list_id = $1, rank = $2, updated_at = $3 WHERE id = $4", bin, p.rank, int64(tx.now), c.ID),
		tx.trash(ctx, c.ID, c.BoardID, &c.ListID),
		tx.exec(ctx, "DELETE FROM notifications WHERE card_id = $1", c.ID))
}

// bin returns the id of the bin of a loaded board. It creates the bin for the first deleted card.
func (tx *Tx) bin(ctx context.Context, boardID string) (id string, err error) {
	found, err := tx.one(ctx, "SELECT id FROM lists WHERE board_id = $1 AND trashed_at = $2", []any{boardID, binTime}, &id)
	if err != nil || found {
		return id, err
	}
	l := board.List{ID: tx.NewID("lst_"), BoardID: boardID, Name: "Trash", WIPMode: board.WIPSoft}
	if err := tx.insertArchivedList(ctx, &l, board.Position{}); err != nil {
		return "", err
	}
	return l.ID, tx.exec(ctx, "UPDATE lists SET trashed_at = $1 WHERE id = $2", binTime, l.ID)
}

// TrashList moves a loaded, archived list to the trash, with its cards.
func (tx *Tx) TrashList(ctx context.Context, l board.List) error {
	n, err := tx.CountCards(ctx, l.ID)
	if err != nil {
		return err
	}
	tx.On(l.BoardID).AllCards -= n
	return errors.Join(
		tx.exec(ctx, "UPDATE lists SET trashed_at = $1, updated_at = $1 WHERE id = $2", int64(tx.now), l.ID),
		tx.trash(ctx, l.ID, l.BoardID, nil),
		tx.exec(ctx, "DELETE FROM notifications WHERE card_id IN (SELECT id FROM cards WHERE list_id = $1)", l.ID))
}

func (tx *Tx) trash(ctx context.Context, id, boardID string, from *string) error {
	return tx.exec(ctx, "INSERT INTO trash (id, board_id, from_id, trashed_by, trashed_at) VALUES ($1, $2, $3, $4, $5)",
		id, boardID, from, tx.caller.Person(), int64(tx.now))
}

// TrashedCard locks the board of a card in the trash, and loads the card. It also returns the
// id of the list to restore it to; "" if the board has no open list. It returns a not_found
// error unless the caller is an admin of the board.
func (tx *Tx) TrashedCard(ctx context.Context, id string) (c board.Card, listID string, err error) {
	if err := tx.lockToLoad(ctx, cardLock, trashedCardLoad, id); err != nil {
		return c, "", err
	}
	if err := tx.seesTrash(ctx, trashedCardLoad, id, append(cardDest(&c), &listID)...); err != nil {
		return c, "", err
	}
	tx.loadedRecord(c.ID, c.BoardID, c.Title, *c.Description)
	return c, listID, nil
}

// UntrashCard takes a card out of the trash. It becomes the last open card of a loaded list,
// without assignees who can no longer see the board. UntrashCard returns the id of the open
// card before it.
func (tx *Tx) UntrashCard(ctx context.Context, c *board.Card, listID string) (after string, err error) {
	p, err := tx.findPosition(ctx, cardSiblings(), listID, c.ID, "", board.Position{})
	if err != nil {
		return "", err
	}
	c.ListID, c.Rank, c.UpdatedAt, c.ArchivedAt, c.ListArchivedAt = listID, p.rank, tx.now, nil, nil
	a := tx.On(c.BoardID)
	a.AllCards++
	a.CountOpen(*c, 1)
	if err := errors.Join(
		tx.exec(ctx, "UPDATE cards SET list_id = $1, rank = $2, archived_at = NULL, updated_at = $3 WHERE id = $4",
			listID, p.rank, int64(tx.now), c.ID),
		tx.exec(ctx, "DELETE FROM trash WHERE id = $1", c.ID),
		tx.unassignWithoutAccess(ctx, c.BoardID, "c.id = $1", c.ID)); err != nil {
		return "", err
	}
	cards := []board.Card{*c}
	err = tx.hydrate(ctx, cards)
	*c = cards[0]
	return p.after, err
}

// TrashedList locks the board of a list in the trash, and loads the list. It returns a
// not_found error unless the caller is an admin of the board.
func (tx *Tx) TrashedList(ctx context.Context, id string) (board.List, error) {
	var l board.List
	if err := tx.lockToLoad(ctx, listLock, trashedListLoad, id); err != nil {
		return l, err
	}
	err := tx.seesTrash(ctx, trashedListLoad, id, listDest(&l)...)
	if err == nil {
		tx.loadedRecord(l.ID, l.BoardID, l.Name)
	}
	return l, err
}

// seesTrash is authorized for something in the trash, which only admins of its board see.
func (tx *Tx) seesTrash(ctx context.Context, text, id string, dest ...any) error {
	err := tx.authorized(ctx, board.Administer, text, id, dest...)
	if board.IsCode(err, board.CodeForbidden) {
		return board.NotFound()
	}
	return err
}

// UntrashList takes a list with its cards out of the trash. The list stays archived. Its cards
// lose the assignees who can no longer see the board.
func (tx *Tx) UntrashList(ctx context.Context, l board.List, cards int) error {
	tx.On(l.BoardID).AllCards += cards
	return errors.Join(
		tx.exec(ctx, "UPDATE lists SET trashed_at = NULL WHERE id = $1", l.ID),
		tx.exec(ctx, "DELETE FROM trash WHERE id = $1", l.ID),
		tx.unassignWithoutAccess(ctx, l.BoardID, "c.list_id = $1", l.ID))
}

// unassignWithoutAccess unassigns people who can no longer see a loaded board from the cards
// that satisfy a condition on id. It keeps imported people, who never could.
func (tx *Tx) unassignWithoutAccess(ctx context.Context, boardID, condition, id string) error {
	assigned, err := tx.texts(ctx, "SELECT DISTINCT u.id FROM cards c JOIN card_assignees k ON k.card_id = c.id JOIN users u ON "+
		"u.id = k.user_id WHERE "+condition+" AND (u.email IS NOT NULL OR u.deleted_at IS NOT NULL)", id)
	if err != nil {
		return err
	}
	people, err := tx.PeopleOf(ctx, boardID, assigned)
	if err != nil {
		return err
	}
	for _, userID := range assigned {
		if _, ok := people[userID]; ok {
			continue
		}
		if err := tx.exec(ctx, "DELETE FROM card_assignees WHERE user_id = $2 AND card_id IN (SELECT c.id FROM cards c WHERE "+
			condition+")", id, userID); err != nil {
			return err
		}
	}
	return nil
}

// TrashCursor is the position after a page of the trash.
type TrashCursor struct {
	At board.Instant `json:"t"`
	ID string        `json:"i"`
}

// Trash returns a page of what was deleted on a loaded board, newest first. The zero cursor is the start.
func (v *View) Trash(ctx context.Context, boardID string, cursor TrashCursor, limit int) ([]board.TrashItem, error) {
	if cursor == (TrashCursor{}) {
		cursor.At = math.MaxInt64
	}
	out := []board.TrashItem{}
	err := v.each(ctx, `SELECT t.id, t.from_id, t.trashed_at, c.number, COALESCE(c.title, l.name),
		CASE WHEN l.id IS NULL THEN 1 ELSE (SELECT count(*) FROM cards n WHERE n.list_id = l.id) END, u.id, u.name
		FROM trash t LEFT JOIN cards c ON c.id = t.id LEFT JOIN lists l ON l.id = t.id LEFT JOIN users u ON u.id = t.trashed_by
		WHERE t.board_id = $1 AND (t.trashed_at, t.id) < ($2, $3) ORDER BY t.trashed_at DESC, t.id DESC LIMIT $4`,
		[]any{boardID, int64(cursor.At), cursor.ID, limit}, func(rows *sql.Rows) error {
			var (
				i              board.TrashItem
				userID, person sql.NullString
			)
			err := rows.Scan(&i.ID, &i.ListID, &i.TrashedAt, &i.Number, &i.Title, &i.Cards, &userID, &person)
			i.Type = board.TrashedList
			if i.Number != nil {
				i.Type = board.TrashedCard
			}
			if userID.Valid {
				i.TrashedBy = &board.UserRef{ID: userID.String, Name: person.String}
			}
			i.PurgedAt = i.TrashedAt + board.Instant(TrashLifetime.Milliseconds())
			out = append(out, i)
			return err
		})
	return out, err
}

// ExpiredTrash returns the id of a card or list that has been in the trash for longer than
// TrashLifetime, or "" if there is none.
func (v *View) ExpiredTrash(ctx context.Context) (id string, err error) {
	_, err = v.one(ctx, "SELECT id FROM trash WHERE trashed_at < $1 ORDER BY trashed_at, id LIMIT 1",
		[]any{int64(v.now) - TrashLifetime.Milliseconds()}, &id)
	return id, err
}

// PurgeTrash permanently deletes a card in the trash or, as PurgeHiddenList does, a part of a
// list in the trash. It reports whether nothing is left.
func (tx *Tx) PurgeTrash(ctx context.Context, id string, limit int) (deleted bool, err error) {
	var boardID string
	found, err := tx.one(ctx, "SELECT board_id FROM trash WHERE id = $1", []any{id}, &boardID)
	if err != nil || !found {
		return true, err
	}
	if err := tx.loadJobBoard(ctx, boardID); err != nil {
		return false, err
	}
	// A restore may have preceded the lock.
	if found, err = tx.one(ctx, "SELECT board_id FROM trash WHERE id = $1", []any{id}, &boardID); err != nil || !found {
		return true, err
	}
	if err := tx.purgeCards(ctx, boardID, "c.id = $1", id); err != nil {
		return false, err
	}
	if deleted, err = tx.PurgeHiddenList(ctx, id, limit); err != nil || !deleted {
		return false, err
	}
	return true, tx.exec(ctx, "DELETE FROM trash WHERE id = $1", id)
}

// PurgeHiddenList deletes at most limit cards of a hidden list or, if it has no cards,
// the list itself, and reports whether nothing is left. The caller calls it in one
// transaction after another until it returns true.
func (tx *Tx) PurgeHiddenList(ctx context.Context, listID string, limit int) (deleted bool, err error) {
	var boardID, name string
	found, err := tx.one(ctx, "SELECT l.board_id, l.name FROM lists l WHERE l.id = $1 AND NOT ("+search.ShownList+")",
		[]any{listID}, &boardID, &name)
	if err != nil || !found {
		return true, err
	}
	if err := tx.loadJobBoard(ctx, boardID); err != nil {
		return false, err
	}
	cards, err := tx.texts(ctx, "SELECT id FROM cards WHERE list_id = $1 ORDER BY id LIMIT $2", listID, limit)
	if err != nil {
		return false, err
	}
	if len(cards) > 0 {
		return false, tx.purgeCards(ctx, boardID, "c.list_id = $1 AND c.id <= $2", listID, cards[len(cards)-1])
	}
	tx.grow(boardID, -sizeOf(name), 0)
	if err := tx.exec(ctx, "DELETE FROM reranks WHERE parent_id = $1", listID); err != nil {
		return false, err
	}
	return true, tx.exec(ctx, "DELETE FROM lists WHERE id = $1", listID)
}

// purgeCards permanently deletes the cards of a loaded board that satisfy a condition.
func (tx *Tx) purgeCards(ctx context.Context, boardID, condition string, args ...any) error {
	var n int64
	if _, err := tx.one(ctx, "SELECT "+cardBytes(condition), args, &n); err != nil {
		return err
	}
	tx.grow(boardID, -n, 0)
	if err := tx.exec(ctx, "DELETE FROM cards AS c WHERE "+condition, args...); err != nil {
		return fmt.Errorf("purge cards: %w", err)
	}
	return nil
}
