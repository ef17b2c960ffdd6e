package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListBoardMembersInput is the input of ListBoardMembers.
type ListBoardMembersInput struct {
	BoardInput
	op.Paging
}

// ListBoardMembers returns the people who can see a board, with their roles.
func ListBoardMembers(ctx context.Context, v *store.View, in ListBoardMembersInput) (op.Page[board.BoardMember], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.BoardMember]{}, err
	}
	if err := v.CheckBoard(ctx, in.BoardID, board.View); err != nil {
		return op.Page[board.BoardMember]{}, err
	}
	members, err := v.BoardMembers(ctx, in.BoardID, after, in.Size()+1)
	return op.Cut(members, in.Size(), func(m board.BoardMember) any { return m.ID }), err
}

// ShareBoardInput is the input of ShareBoard.
type ShareBoardInput struct {
	BoardInput
	UserID string     `json:"userId" maxLength:"64" doc:"The id of a person in the board's workspace." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Role   board.Role `json:"role" enum:"admin,editor,commenter,viewer" doc:"The person's new role on the board." example:"editor"`
}

// ShareBoard gives a person of the workspace a role on the board. It returns an
// error if the last admin would lose the role.
func ShareBoard(ctx context.Context, tx *store.Tx, in ShareBoardInput) (board.BoardMember, error) {
	m, err := boardMember(ctx, tx, in.BoardID, in.UserID)
	if err != nil {
		return m, err
	}
	if m.Given != nil && *m.Given == in.Role {
		return m, nil
	}
	if m.Given == nil {
		count, err := tx.CountBoardMembers(ctx, in.BoardID)
		if err != nil {
			return m, err
		}
		if err := board.CheckLimit("members of a board", count, 1, tx.Limits().BoardMembers); err != nil {
			return m, err
		}
	}
	if err := tx.SetBoardMember(ctx, in.BoardID, in.UserID, in.Role); err != nil {
		return m, err
	}
	kind := board.KindBoardMemberUpdated
	changes := board.Changes{"userId": {To: m.ID}, "role": {From: m.Given, To: in.Role}}
	if m.Given == nil {
		kind = board.KindBoardMemberAdded
	}
	wasAdmin := m.Role == board.RoleAdmin
	if m, err = tx.BoardMember(ctx, in.BoardID, in.UserID); err != nil {
		return m, err
	}
	if wasAdmin && m.Role != board.RoleAdmin {
		if err := requireOtherAdmin(ctx, tx, in.BoardID, in.UserID); err != nil {
			return m, err
		}
	}
	tx.Emit(in.BoardID, board.BoardEvent(kind, changes))
	return m, nil
}

// RemoveBoardMemberInput is the input of RemoveBoardMember.
type RemoveBoardMemberInput struct {
	BoardInput
	UserID string `json:"userId" maxLength:"64" doc:"The id of the person." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// RemoveBoardMember removes the role that a person was given on the board. A
// person who can no longer see the board is unassigned from its cards. The last
// admin cannot be removed.
func RemoveBoardMember(ctx context.Context, tx *store.Tx, in RemoveBoardMemberInput) (Deleted, error) {
	m, err := boardMemberToRemove(ctx, tx, in)
	if err != nil {
		return Deleted{}, err
	}
	if err := tx.RemoveBoardMember(ctx, in.BoardID, in.UserID); err != nil {
		return Deleted{}, err
	}
	tx.Emit(in.BoardID, board.BoardEvent(board.KindBoardMemberRemoved, board.Changes{"userId": {From: m.ID}, "role": {From: m.Given}}))
	after, err := tx.BoardMember(ctx, in.BoardID, in.UserID)
	if err != nil || after.Role != board.RoleNone {
		return Deleted{in.UserID}, err
	}
	return Deleted{in.UserID}, tx.AsSystem(func() error { // a caller who leaves the board no longer sees it
		return unassignFromBoard(ctx, tx, in.BoardID, in.UserID)
	})
}

// boardMemberToRemove locks the board and returns the person to remove. It returns
// the errors of boardMember, and an error if the person was given no role on the board or
// is its last admin.
func boardMemberToRemove(ctx context.Context, tx *store.Tx, in RemoveBoardMemberInput) (board.BoardMember, error) {
	m, err := boardMember(ctx, tx, in.BoardID, in.UserID)
	if err != nil {
		return m, err
	}
	if m.Given == nil {
		return m, board.NotFound()
	}
	if m.Role == board.RoleAdmin {
		err = requireOtherAdmin(ctx, tx, in.BoardID, in.UserID)
	}
	return m, err
}

// boardMember locks the board and returns the person whose role on it will change.
// It returns an error if the caller may not administer the board, or if the person
// does not belong to the board's workspace.
func boardMember(ctx context.Context, tx *store.Tx, boardID, userID string) (board.BoardMember, error) {
	if _, err := tx.Board(ctx, boardID, board.Administer); err != nil {
		return board.BoardMember{}, err
	}
	m, err := tx.BoardMember(ctx, boardID, userID)
	if board.IsCode(err, board.CodeNotFound) {
		err = board.Invalid("userId must be a person of the board's workspace. Invite the person first.").
			In("userId", board.RuleValue)
	}
	return m, err
}

// requireOtherAdmin returns an error if the board has no admin besides the given
// person.
func requireOtherAdmin(ctx context.Context, tx *store.Tx, boardID, except string) error {
	n, err := tx.CountBoardAdmins(ctx, boardID, except)
	if err == nil && n == 0 {
		err = board.Forbidden("This is the board's last admin. Make someone else an admin first.")
	}
	return err
}
