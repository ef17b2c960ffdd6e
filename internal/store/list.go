package store

import (
	"context"
	"database/sql"
	"fmt"

	"cardwall/internal/board"
	"cardwall/internal/sqldb"
	"cardwall/internal/store/search"
)

const (
	listFields = "l.id, l.board_id, l.name, l.rank, l.wip_limit, l.wip_mode, l.archived_at, l.created_at, l.updated_at, "
	listCount  = "CASE WHEN l.archived_at IS NULL THEN (SELECT count(*) FROM cards n WHERE n.list_id = l.id " +
		"AND n.archived_at IS NULL) ELSE 0 END"
	// Cards are counted only for a WIP limit, because counting the cards of a long list
	// costs more than inserting a card.
	listTargetCount = "CASE WHEN l.wip_limit IS NULL THEN 0 ELSE " + listCount + " END"

	listColumns = listFields + listCount
	listFrom    = " FROM lists l JOIN boards b ON b.id = l.board_id" + accessJoins + "WHERE l.id = $1 AND " + search.ShownList
	listLoad    = "SELECT " + accessColumns + ", " + listColumns + listFrom
	listMoving  = ", EXISTS (SELECT 1 FROM list_moves m WHERE m.list_id = l.id)"
	listChange  = "SELECT " + accessColumns + ", " + listColumns + listMoving + listFrom
	listTarget  = "SELECT " + accessColumns + ", " + listFields + listTargetCount + listMoving + listFrom
	listLock    = "SELECT b.id FROM boards b JOIN lists l ON l.board_id = b.id WHERE l.id = $1 FOR UPDATE OF b"
)

func listDest(l *board.List) []any {
	return []any{&l.ID, &l.BoardID, &l.Name, &l.Rank, &l.WIPLimit, &l.WIPMode, &l.ArchivedAt, &l.CreatedAt, &l.UpdatedAt, &l.OpenCards}
}

// List loads the list with the given id. It returns an error unless the caller has the
// capability on the list's board.
func (v *View) List(ctx context.Context, id string, need board.Capability) (board.List, error) {
	var l board.List
	err := v.authorized(ctx, need, listLoad, id, listDest(&l)...)
	return l, err
}

// List locks the list's board and loads the list for a change. It returns an error for a
// list that a job is moving. It returns an archived error for an archived list unless the
// capability is board.Unarchive.
func (tx *Tx) List(ctx context.Context, id string, need board.Capability) (board.List, error) {
	return tx.list(ctx, listChange, id, need)
}

// TargetList is List for a list to which a card will be added. It counts the open cards
// only if the list has a WIP limit.
func (tx *Tx) TargetList(ctx context.Context, id string, need board.Capability) (board.List, error) {
	text, args := lastOf(cardSiblings(), id, "") // most cards are added at the bottom
	return tx.list(ctx, listTarget, id, need, announced{text, args})
}

func (tx *Tx) list(ctx context.Context, text, id string, need board.Capability, then ...announced) (board.List, error) {
	var (
		l      board.List
		moving bool
	)
	if err := tx.lockToLoad(ctx, listLock, text, id, then...); err != nil {
		return l, err
	}
	err := tx.authorized(ctx, need, text, id, append(listDest(&l), &moving)...)
	if err == nil && moving {
		err = board.ListMoving()
	}
	if err == nil && l.ArchivedAt != nil && need != board.Unarchive {
		err = board.Refuse(board.CodeArchived, "The list is archived. Restore it first.")
	}
	if err == nil {
		tx.loadedRecord(l.ID, l.BoardID, l.Name)
	}
	return l, err
}

// Lists returns a page of the lists of a board after the given rank, in order. It includes
// archived lists if archived is true.
func (v *View) Lists(ctx context.Context, boardID string, archived bool, after string, limit int) ([]board.List, error) {
	text := "SELECT " + listColumns + " FROM lists l WHERE l.board_id = $1 AND l.rank > $2"
	if archived {
		text += " AND " + search.ShownList
	} else {
		text += " AND l.archived_at IS NULL"
	}
	out := []board.List{}
	err := v.each(ctx, text+" ORDER BY l.rank, l.id LIMIT $3", []any{boardID, after, limit}, func(rows *sql.Rows) error {
		var l board.List
		err := rows.Scan(listDest(&l)...)
		out = append(out, l)
		return err
	})
	return out, err
}

// InsertList writes a new list on a loaded board. It returns the id of the open list
// before it, or "" if it is the first.
func (tx *Tx) InsertList(ctx context.Context, l *board.List, at board.Position) (after string, err error) {
	p, err := tx.findPosition(ctx, listSiblings(), l.BoardID, "", "", at)
	if err != nil {
		return "", err
	}
	l.Rank, l.CreatedAt, l.UpdatedAt = p.rank, tx.now, tx.now
	tx.On(l.BoardID).OpenLists++
	tx.storedRecord(l.ID, l.BoardID, l.Name)
	if err := tx.exec(ctx, `INSERT INTO lists (id, board_id, name, rank, wip_limit, wip_mode, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		l.ID, l.BoardID, l.Name, l.Rank, l.WIPLimit, string(l.WIPMode), int64(l.CreatedAt), int64(l.UpdatedAt)); err != nil {
		return "", fmt.Errorf("insert list: %w", err)
	}
	return p.after, nil
}

// insertArchivedList writes a new list that is archived, at a position on a loaded board.
func (tx *Tx) insertArchivedList(ctx context.Context, l *board.List, at board.Position) error {
	p, err := tx.findPosition(ctx, listSiblings(), l.BoardID, "", "", at)
	if err != nil {
		return err
	}
	l.Rank, l.CreatedAt, l.UpdatedAt = p.rank, tx.now, tx.now
	tx.storedRecord(l.ID, l.BoardID, l.Name)
	if err := tx.exec(ctx, `INSERT INTO lists (id, board_id, name, rank, wip_limit, wip_mode, archived_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $7)`,
		l.ID, l.BoardID, l.Name, l.Rank, l.WIPLimit, string(l.WIPMode), int64(tx.now)); err != nil {
		return fmt.Errorf("insert list: %w", err)
	}
	return nil
}

// PlaceList moves a list to a position on its board.
func (tx *Tx) PlaceList(ctx context.Context, l *board.List, at board.Position) (Placement, error) {
	p, rank, err := tx.place(ctx, listSiblings(), row{l.ID, l.BoardID, l.Rank}, l.BoardID, at)
	if err != nil || !p.Moved {
		return p, err
	}
	l.Rank = rank
	return p, tx.UpdateList(ctx, l)
}

// UpdateList writes all fields of a list.
func (tx *Tx) UpdateList(ctx context.Context, l *board.List) error {
	l.UpdatedAt = tx.now
	tx.storedRecord(l.ID, l.BoardID, l.Name)
	return tx.exec(ctx, "UPDATE lists SET name = $1, rank = $2, wip_limit = $3, wip_mode = $4, archived_at = $5, updated_at "+
		"= $6 WHERE id = $7",
		l.Name, l.Rank, l.WIPLimit, string(l.WIPMode), null(l.ArchivedAt), int64(l.UpdatedAt), l.ID)
}

// RecountOpenCards recounts the open cards of a loaded board after one of its lists was
// archived or restored.
func (tx *Tx) RecountOpenCards(ctx context.Context, boardID string) error {
	a := tx.On(boardID)
	_, err := tx.one(ctx, "SELECT count(*), count(c.done_at)"+openCards+"$1", []any{boardID}, &a.OpenCards, &a.DoneCards)
	return err
}

// ListBefore returns the id of the open list before a list, or "" if there is none.
func (tx *Tx) ListBefore(ctx context.Context, l board.List) (string, error) {
	return tx.before(ctx, listSiblings(), l.BoardID, l.Rank)
}

// NamedList has the names of a list and of its board.
type NamedList struct{ Name, Board string }

// NamesOfLists returns the names of those lists that are on boards that the caller can see, by
// id.
func (v *View) NamesOfLists(ctx context.Context, ids []string) (map[string]NamedList, error) {
	out := map[string]NamedList{}
	err := sqldb.InChunks(ids, func(in string, args []any) error {
		a := sqldb.Args(args)
		text := "SELECT l.id, l.name, lb.name FROM lists l JOIN boards lb ON lb.id = l.board_id WHERE l.id IN (" + in +
			") AND l.board_id IN (" + v.boardsOf(CardPage{IncludeArchived: true}, &a) + ")"
		return v.each(ctx, text, a, func(rows *sql.Rows) error {
			var (
				id   string
				list NamedList
			)
			err := rows.Scan(&id, &list.Name, &list.Board)
			out[id] = list
			return err
		})
	})
	return out, err
}
