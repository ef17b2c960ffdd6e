package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// DeleteCard moves an archived card to the trash of its board. The caller must be an admin
// of the board.
func DeleteCard(ctx context.Context, tx *store.Tx, in CardInput) (Deleted, error) {
	card, err := tx.Card(ctx, in.CardID, board.Unarchive)
	if err == nil {
		err = tx.On(card.BoardID).Allow(tx.Caller(), board.Administer)
	}
	if err == nil && card.ArchivedAt == nil {
		err = board.Invalid("cardId: only an archived card can be deleted. Archive it first.").In("cardId", board.RuleValue)
	}
	if err != nil {
		return Deleted{}, err
	}
	tx.Emit(card.BoardID, board.CardDeleted(card, tx.Now()))
	return Deleted{card.ID}, tx.TrashCard(ctx, card)
}

// DeleteList moves an archived list with all its cards to the trash of its board. The caller
// must be an admin of the board.
func DeleteList(ctx context.Context, tx *store.Tx, in ListInput) (Deleted, error) {
	l, err := tx.List(ctx, in.ListID, board.Unarchive)
	if err == nil {
		err = tx.On(l.BoardID).Allow(tx.Caller(), board.Administer)
	}
	if err == nil && l.ArchivedAt == nil {
		err = board.Invalid("listId: only an archived list can be deleted. Archive it first.").In("listId", board.RuleValue)
	}
	if err != nil {
		return Deleted{}, err
	}
	tx.Emit(l.BoardID, board.ListDeleted(l, tx.Now()))
	return Deleted{l.ID}, tx.TrashList(ctx, l)
}

// ListTrashInput is the input of ListTrash.
type ListTrashInput struct {
	BoardInput
	op.Paging
}

// ListTrash returns the deleted cards and lists of a board, newest first. The caller must be
// an admin of the board.
func ListTrash(ctx context.Context, v *store.View, in ListTrashInput) (op.Page[board.TrashItem], error) {
	var cursor store.TrashCursor
	if err := in.After(&cursor); err != nil {
		return op.Page[board.TrashItem]{}, err
	}
	b, err := v.Board(ctx, in.BoardID, board.View) // archived boards can be viewed, too
	if err == nil && !b.Role.Can(board.Administer) {
		err = board.Forbidden("Your role on this board is %s. Only its admins can see its trash.", b.Role)
	}
	if err != nil {
		return op.Page[board.TrashItem]{}, err
	}
	items, err := v.Trash(ctx, in.BoardID, cursor, in.Size()+1)
	return op.Cut(items, in.Size(), func(i board.TrashItem) any { return store.TrashCursor{At: i.TrashedAt, ID: i.ID} }), err
}

// restoreDeletedCard restores a card from the trash to the bottom of its list.
func restoreDeletedCard(ctx context.Context, tx *store.Tx, id string) (board.Card, error) {
	card, listID, err := tx.TrashedCard(ctx, id)
	if err == nil {
		err = tx.Caller().Needs(board.ScopeAdmin, "cardId: restoring a deleted card")
	}
	if err == nil && listID == "" {
		err = board.Refuse(board.CodeArchived, "The card's list is no longer on the board, and the board has no open list. "+
			"Create or restore a list first.")
	}
	if err != nil {
		return card, err
	}
	list, err := tx.TargetList(ctx, listID, board.Edit)
	if board.IsCode(err, board.CodeNotFound) {
		err = board.Refuse(board.CodeArchived, "The card's list was deleted. Restore the list first.")
	}
	if err == nil {
		err = roomForCard(tx, list, 1)
	}
	if err != nil {
		return card, err
	}
	archived := card.ArchivedAt
	after, err := tx.UntrashCard(ctx, &card, listID)
	if err == nil {
		tx.Emit(card.BoardID, board.CardRestored(card, archived, after))
	}
	return card, err
}

// untrashList takes a list out of the trash. It stays archived.
func untrashList(ctx context.Context, tx *store.Tx, id string) (board.List, error) {
	l, err := tx.TrashedList(ctx, id)
	if err == nil {
		err = tx.Caller().Needs(board.ScopeAdmin, "listId: restoring a deleted list")
	}
	if err != nil {
		return l, err
	}
	cards, err := tx.CountCards(ctx, l.ID)
	if err == nil {
		err = roomForCards(tx.On(l.BoardID), tx.Limits(), 0, cards)
	}
	if err != nil {
		return l, err
	}
	return l, tx.UntrashList(ctx, l, cards)
}
