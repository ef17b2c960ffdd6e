package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListListsInput is the input of ListLists.
type ListListsInput struct {
	BoardInput
	IncludeArchived bool `json:"includeArchived,omitempty" doc:"Whether to include archived lists. Defaults to false." example:"false"`
	op.Paging
}

// ListLists returns the lists of a board in order.
func ListLists(ctx context.Context, v *store.View, in ListListsInput) (op.Page[board.List], error) {
	var at store.RankCursor
	if err := in.After(&at); err != nil {
		return op.Page[board.List]{}, err
	}
	if err := v.CheckBoard(ctx, in.BoardID, board.View); err != nil {
		return op.Page[board.List]{}, err
	}
	at, err := v.CurrentCursor(ctx, in.BoardID, at)
	if err != nil {
		return op.Page[board.List]{}, err
	}
	lists, err := v.Lists(ctx, in.BoardID, in.IncludeArchived, at.Rank, in.Size()+1)
	return op.Cut(lists, in.Size(), func(l board.List) any { return store.RankCursor{Rank: l.Rank, Epoch: at.Epoch} }), err
}

// ListInput identifies a list.
type ListInput struct {
	ListID string `json:"listId" maxLength:"64" doc:"The id of the list." example:"lst_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetList returns a list. An archived list stays readable.
func GetList(ctx context.Context, v *store.View, in ListInput) (board.List, error) {
	return v.List(ctx, in.ListID, board.View)
}

// CreateListInput holds the fields of a new list.
type CreateListInput struct {
	BoardInput
	NewList
	Position board.Position `json:"position,omitzero" doc:"The position on the board. Defaults to the bottom, which is the right end."`
}

// NewList holds the name and the WIP limit of a new list.
type NewList struct {
	Name     string        `json:"name" maxLength:"512" doc:"The list's name." example:"In progress"`
	WIPLimit *int          `json:"wipLimit,omitempty" minimum:"1" maximum:"200000" doc:"The maximum number of open cards that the list should hold. If it is absent, there is no limit." example:"5"`
	WIPMode  board.WIPMode `json:"wipMode,omitempty" enum:"soft,hard" doc:"What happens at the WIP limit: soft shows a warning, hard rejects further cards. Defaults to soft." example:"soft"`
}

// CreateList creates a list at a position on its board.
func CreateList(ctx context.Context, tx *store.Tx, in CreateListInput) (board.List, error) {
	if _, err := tx.Board(ctx, in.BoardID, board.Edit); err != nil {
		return board.List{}, err
	}
	a := tx.On(in.BoardID)
	name, err := title("name", in.Name)
	if err != nil {
		return board.List{}, err
	}
	if in.WIPMode == "" {
		in.WIPMode = board.WIPSoft
	}
	if in.WIPLimit != nil {
		if err := a.Needs(board.WIPLimits); err != nil {
			return board.List{}, err
		}
	}
	if err := board.CheckLimit("open lists on a board", a.OpenLists, 1, tx.Limits().OpenLists); err != nil {
		return board.List{}, err
	}
	l := board.List{ID: tx.NewID("lst_"), BoardID: in.BoardID, Name: name, WIPLimit: in.WIPLimit, WIPMode: in.WIPMode}
	after, err := tx.InsertList(ctx, &l, in.Position)
	if err != nil {
		return board.List{}, err
	}
	tx.Emit(l.BoardID, board.ListCreated(l, after))
	return l, nil
}

// UpdateListInput holds the fields to change. Absent fields stay unchanged.
type UpdateListInput struct {
	ListInput
	Name     *string          `json:"name,omitempty" maxLength:"512" doc:"The new name." example:"Doing"`
	WIPLimit op.Optional[int] `json:"wipLimit,omitzero" minimum:"1" maximum:"200000" doc:"The new WIP limit; null removes the limit." example:"5"`
	WIPMode  *board.WIPMode   `json:"wipMode,omitempty" enum:"soft,hard" doc:"What happens at the WIP limit: soft shows a warning, hard rejects further cards." example:"hard"`
}

// UpdateList changes a list's name or WIP limit.
func UpdateList(ctx context.Context, tx *store.Tx, in UpdateListInput) (board.List, error) {
	l, err := tx.List(ctx, in.ListID, board.Edit)
	if err != nil {
		return l, err
	}
	changes := board.Changes{}
	if in.Name != nil {
		name, err := title("name", *in.Name)
		if err != nil {
			return l, err
		}
		board.Set(changes, "name", l.Name, name)
		l.Name = name
	}
	if in.WIPLimit.Set {
		board.SetPtr(changes, "wipLimit", l.WIPLimit, in.WIPLimit.Value)
		l.WIPLimit = in.WIPLimit.Value
	}
	if in.WIPMode != nil {
		board.Set(changes, "wipMode", l.WIPMode, *in.WIPMode)
		l.WIPMode = *in.WIPMode
	}
	if len(changes) == 0 {
		return l, nil
	}
	if in.WIPLimit.Set || in.WIPMode != nil {
		if err := tx.On(l.BoardID).Needs(board.WIPLimits); err != nil {
			return l, err
		}
	}
	tx.Emit(l.BoardID, board.ListUpdated(l, changes))
	return l, tx.UpdateList(ctx, &l)
}

// MoveListInput is the input of MoveList.
type MoveListInput struct {
	ListInput
	Position board.Position `json:"position,omitzero" doc:"The position on the board. Defaults to the bottom, which is the right end."`
}

// MoveList moves a list to another position on its board.
func MoveList(ctx context.Context, tx *store.Tx, in MoveListInput) (board.List, error) {
	l, err := tx.List(ctx, in.ListID, board.Edit)
	if err != nil {
		return l, err
	}
	p, err := tx.PlaceList(ctx, &l, in.Position)
	if err == nil && p.Moved {
		tx.Emit(l.BoardID, board.ListMoved(l, p.From, p.To))
	}
	return l, err
}

// ArchiveList archives a list together with its cards. The cards that were open are
// open again when the list is restored.
func ArchiveList(ctx context.Context, tx *store.Tx, in ListInput) (board.List, error) {
	l, err := tx.List(ctx, in.ListID, board.Edit)
	if err != nil {
		return l, err
	}
	now := tx.Now()
	l.ArchivedAt = &now
	tx.On(l.BoardID).OpenLists--
	l.OpenCards = 0
	tx.Emit(l.BoardID, board.ListArchived(l))
	if err := tx.UpdateList(ctx, &l); err != nil {
		return l, err
	}
	return l, tx.RecountOpenCards(ctx, l.BoardID)
}

// RestoreList restores an archived or deleted list to its former position. An open list
// stays unchanged.
func RestoreList(ctx context.Context, tx *store.Tx, in ListInput) (board.List, error) {
	l, err := tx.List(ctx, in.ListID, board.Unarchive)
	if board.IsCode(err, board.CodeNotFound) {
		l, err = untrashList(ctx, tx, in.ListID)
	}
	if err != nil || l.ArchivedAt == nil {
		return l, err
	}
	a := tx.On(l.BoardID)
	if err := board.CheckLimit("open lists on a board", a.OpenLists, 1, tx.Limits().OpenLists); err != nil {
		return l, err
	}
	if l.OpenCards, err = tx.CountOpenCards(ctx, l.ID); err != nil {
		return l, err
	}
	if err := board.CheckLimit(openCardsOfBoard, a.OpenCards, l.OpenCards, tx.Limits().OpenCards); err != nil {
		return l, err
	}
	since := l.ArchivedAt
	l.ArchivedAt = nil
	a.OpenLists++
	if err := tx.UpdateList(ctx, &l); err != nil {
		return l, err
	}
	if err := tx.RecountOpenCards(ctx, l.BoardID); err != nil {
		return l, err
	}
	after, err := tx.ListBefore(ctx, l)
	tx.Emit(l.BoardID, board.ListRestored(l, since, after))
	return l, err
}
