package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// unassignSlice is the maximum number of cards from which one transaction unassigns a
// person.
const unassignSlice = 200

// unassignFromBoard unassigns a person from all cards of a locked board.
func unassignFromBoard(ctx context.Context, tx *store.Tx, boardID, userID string) error {
	ids, err := tx.UnassignFromBoard(ctx, boardID, userID)
	if err != nil {
		return err
	}
	return emitUnassigned(ctx, tx, boardID, userID, ids)
}

// emitUnassigned emits an event for each card that a person was unassigned from.
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

// unassigning prepares an operation by which a person loses access to boards. Before the
// transaction of the operation, it unassigns the person from most cards on those boards.
// Thousands of changes in one transaction would block other writers. After an
// interruption, the changes so far are valid and recorded, and the next attempt continues.
type unassigning struct {
	operation string
	userID    string

	// loses checks that the operation is allowed, and reports whether the person loses
	// access to the board because of it.
	loses func(ctx context.Context, tx *store.Tx, b store.AssignedBoard) (bool, error)
}

// run unassigns the person in slices until at most unassignSlice of the boards' assigned
// cards are left. It calls check once before the first slice. If no slice is needed, it
// does nothing.
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

// slice unassigns the person from some cards of a board and returns the number of cards.
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

// assignedBoards returns the boards with cards that a person is assigned to. It considers
// only the boards and workspaces whose ids are in within.
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

// unassignRemoved runs before RemoveBoardMember and unassigns the person in slices.
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

// unassignChanged runs before ChangeMember. It unassigns a person who becomes a guest, in
// slices, from the boards that the person can then no longer see.
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

// unassignLeaving runs before RemoveMember and unassigns the person in slices.
func unassignLeaving(ctx context.Context, db *store.DB, caller board.Caller, in *RemoveMemberInput) error {
	return unassignFrom(ctx, db, caller, "remove_member", in.UserID, []string{in.WorkspaceID})
}

// UnassignLeaving runs before an operation that removes the caller from workspaces. It
// unassigns the caller from most cards there in slices.
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
				_, err := needsNewAdmin(ctx, tx, boardID, on, leaving)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
}
