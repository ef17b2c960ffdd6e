package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// unassignSlice is from how many cards per transaction a person is unassigned.
const unassignSlice = 200

// takeOffCards unassigns a person from all cards of a locked board.
func takeOffCards(ctx context.Context, tx *store.Tx, boardID, userID string) error {
	ids, err := tx.UnassignFromBoard(ctx, boardID, userID)
	if err != nil {
		return err
	}
	return emitUnassigned(ctx, tx, boardID, userID, ids)
}

// emitUnassigned emits the events of cards that a person was unassigned from.
func emitUnassigned(ctx context.Context, tx *store.Tx, boardID, userID string, cardIDs []string) error {
	for _, id := range cardIDs {
		card, err := tx.View.Card(ctx, id, board.Reopen)
		if err != nil {
			return err
		}
		before := append([]board.UserRef{{ID: userID}}, card.Assignees...)
		tx.Emit(boardID, board.CardAssigneesChanged(card, before, []string{}, []string{userID}))
	}
	return nil
}

// unassigning unassigns a person who is to lose boards from most of their cards before
// the transaction of the operation. Thousands of changes in one transaction would block
// other writers. If it is interrupted, its changes so far are valid and recorded, and
// the next attempt continues.
type unassigning struct {
	operation string
	userID    string

	// loses checks that the operation is allowed, and reports whether the person then
	// loses a board.
	loses func(ctx context.Context, tx *store.Tx, b store.AssignedBoard) (bool, error)
}

// run unassigns the person in slices, until few of the cards on the boards are left. It
// calls check once before the first one.
func (u unassigning) run(ctx context.Context, db *store.DB, caller board.Caller, boards []store.AssignedBoard,
	check func(*store.Tx) error) error {
	left := 0
	for _, b := range boards {
		left += b.Cards
	}
	if left <= unassignSlice {
		return nil
	}
	if err := db.Write(ctx, caller, check); err != nil {
		return err
	}
	for _, b := range boards {
		for n := unassignSlice; n == unassignSlice && left > unassignSlice; left -= n {
			if _, err := db.WriteSliceFor(ctx, caller, func(tx *store.Tx) (err error) {
				n, err = u.slice(ctx, tx, b)
				return err
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// slice unassigns the person from some cards of a board, and returns from how many.
func (u unassigning) slice(ctx context.Context, tx *store.Tx, b store.AssignedBoard) (n int, err error) {
	loses, err := u.loses(ctx, tx, b)
	if err != nil || !loses {
		return 0, err
	}
	if err := tx.AsSystem(func() error {
		if _, err := tx.Board(ctx, b.ID, board.Reopen); err != nil { // includes archived and trashed boards
			return err
		}
		ids, err := tx.UnassignSome(ctx, b.ID, u.userID, unassignSlice)
		if err != nil {
			return err
		}
		n = len(ids)
		return emitUnassigned(ctx, tx, b.ID, u.userID, ids)
	}); board.IsCode(err, board.CodeNotFound) { // the board was deleted
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	return n, tx.Audit(ctx, u.operation, u.userID)
}

// assignedBoards returns the boards within a workspace, or the board itself, on which a
// person has assigned cards.
func assignedBoards(ctx context.Context, db *store.DB, within []string, userID string) (all []store.AssignedBoard, err error) {
	err = db.Read(ctx, board.System(), func(v *store.View) error {
		all = nil
		for _, id := range within {
			some, err := v.AssignedBoards(ctx, id, userID)
			if err != nil {
				return err
			}
			all = append(all, some...)
		}
		return nil
	})
	return all, err
}

// unassignRemoved unassigns a person whom RemoveBoardMember is to remove.
func unassignRemoved(ctx context.Context, db *store.DB, caller board.Caller, in *RemoveBoardMemberInput) error {
	boards, err := assignedBoards(ctx, db, []string{in.BoardID}, in.UserID)
	if err != nil {
		return err
	}
	u := unassigning{operation: "remove_board_member", userID: in.UserID}
	u.loses = func(ctx context.Context, tx *store.Tx, b store.AssignedBoard) (bool, error) {
		if _, err := boardMemberToRemove(ctx, tx, *in); err != nil {
			return false, err
		}
		m, err := tx.Member(ctx, b.WorkspaceID, in.UserID)
		return board.RoleOn(m.Role, board.RoleNone, tx.On(in.BoardID).Visibility) == board.RoleNone, err
	}
	return u.run(ctx, db, caller, boards, func(tx *store.Tx) error {
		_, err := boardMemberToRemove(ctx, tx, *in)
		return err
	})
}

// unassignChanged unassigns a person from the boards that are lost by ChangeMember.
func unassignChanged(ctx context.Context, db *store.DB, caller board.Caller, in *ChangeMemberInput) error {
	if in.Role != board.WorkspaceGuest {
		return nil
	}
	boards, err := assignedBoards(ctx, db, []string{in.WorkspaceID}, in.UserID)
	if err != nil {
		return err
	}
	u := unassigning{operation: "change_member", userID: in.UserID}
	u.loses = func(ctx context.Context, tx *store.Tx, b store.AssignedBoard) (loses bool, err error) {
		_, m, err := memberToChange(ctx, tx, *in)
		if err != nil || m.Role == in.Role {
			return false, err
		}
		err = tx.AsSystem(func() error {
			if _, err := tx.Board(ctx, b.ID, board.Reopen); err != nil {
				return err
			}
			on, err := tx.BoardMember(ctx, b.ID, in.UserID)
			given := board.RoleNone
			if on.Given != nil {
				given = *on.Given
			}
			loses = board.RoleOn(in.Role, given, tx.On(b.ID).Visibility) == board.RoleNone
			return err
		})
		if board.IsCode(err, board.CodeNotFound) { // the board was deleted
			return false, nil
		}
		return loses, err
	}
	return u.run(ctx, db, caller, boards, func(tx *store.Tx) error {
		_, _, err := memberToChange(ctx, tx, *in)
		return err
	})
}

// unassignLeaving unassigns a person whom RemoveMember is to remove.
func unassignLeaving(ctx context.Context, db *store.DB, caller board.Caller, in *RemoveMemberInput) error {
	return unassignFrom(ctx, db, caller, "remove_member", in.UserID, []string{in.WorkspaceID})
}

// UnassignLeaving unassigns the caller, who is to be removed from workspaces by an
// operation.
func UnassignLeaving(ctx context.Context, db *store.DB, caller board.Caller, operation string, workspaceIDs []string) error {
	return unassignFrom(ctx, db, caller, operation, caller.UserID, workspaceIDs)
}

func unassignFrom(ctx context.Context, db *store.DB, caller board.Caller, operation, userID string, workspaceIDs []string) error {
	boards, err := assignedBoards(ctx, db, workspaceIDs, userID)
	if err != nil {
		return err
	}
	u := unassigning{operation: operation, userID: userID}
	u.loses = func(ctx context.Context, tx *store.Tx, b store.AssignedBoard) (bool, error) {
		in := RemoveMemberInput{WorkspaceInput: WorkspaceInput{WorkspaceID: b.WorkspaceID}, UserID: userID}
		_, _, _, err := memberToRemove(ctx, tx, in)
		return err == nil, err
	}
	return u.run(ctx, db, caller, boards, func(tx *store.Tx) error {
		for _, id := range workspaceIDs {
			in := RemoveMemberInput{WorkspaceInput: WorkspaceInput{WorkspaceID: id}, UserID: userID}
			w, m, leaving, err := memberToRemove(ctx, tx, in)
			if err != nil {
				return err
			}
			if err := eachBoard(ctx, tx, w.ID, m.ID, func(boardID string, on board.BoardMember) error {
				_, err := needsHeir(ctx, tx, boardID, on, leaving)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
}
