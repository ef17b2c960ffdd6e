package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// DeleteWorkspace moves a workspace to the trash. Its owners can restore it within 30
// days. Its open invitations are withdrawn. Tokens limited to the workspace work again
// after it is restored.
func DeleteWorkspace(ctx context.Context, tx *store.Tx, in WorkspaceInput) (Deleted, error) {
	w, err := tx.OnWorkspace(ctx, in.WorkspaceID, board.OwnWorkspace)
	if err != nil {
		return Deleted{}, err
	}
	return Deleted{w.ID}, tx.TrashWorkspace(ctx, w.ID)
}

// RestoreWorkspace restores a workspace from the trash with the members it had.
// The caller must be one of its owners. RestoreWorkspace returns an error if the
// caller already owns maxOwned workspaces. It removes from the boards the people whose
// accounts were deleted in the meantime. If the plan no longer allows all webhooks, it
// disables the newest ones.
func RestoreWorkspace(ctx context.Context, tx *store.Tx, in WorkspaceInput) (board.Workspace, error) {
	if err := tx.TrashedWorkspace(ctx, in.WorkspaceID); err != nil {
		return board.Workspace{}, err
	}
	owned, err := tx.CountOwnedWorkspaces(ctx)
	if err == nil {
		err = board.CheckLimit("workspaces that one person owns", owned, 1, maxOwned)
	}
	if err != nil {
		return board.Workspace{}, err
	}
	gone, err := tx.RestoreWorkspace(ctx, in.WorkspaceID)
	if err == nil {
		err = tx.LimitRestoredWebhooks(ctx, in.WorkspaceID)
	}
	if err != nil {
		return board.Workspace{}, err
	}
	heir := tx.Caller().UserID
	err = tx.AsSystem(func() error {
		for _, userID := range gone {
			boards, err := tx.MemberBoards(ctx, in.WorkspaceID, userID)
			if err != nil {
				return err
			}
			for _, id := range boards {
				if err := removeDeletedUser(ctx, tx, id, userID, heir); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return board.Workspace{}, err
	}
	return tx.View.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace)
}

// removeDeletedUser removes a person with a deleted account from a board. If the
// person had a role on the board and no admin is left, heir becomes its admin.
func removeDeletedUser(ctx context.Context, tx *store.Tx, boardID, userID, heir string) error {
	if _, err := tx.Board(ctx, boardID, board.Reopen); err != nil { // includes archived and trashed boards
		return err
	}
	if err := unassignFromBoard(ctx, tx, boardID, userID); err != nil {
		return err
	}
	given, err := tx.GivenRole(ctx, boardID, userID)
	if err != nil || given == nil {
		return err
	}
	if err := tx.RemoveBoardMember(ctx, boardID, userID); err != nil {
		return err
	}
	tx.Emit(boardID, board.BoardEvent(board.KindBoardMemberRemoved, board.Changes{"userId": {From: userID}, "role": {From: given}}))
	admins, err := tx.CountBoardAdmins(ctx, boardID, "")
	if err != nil || admins > 0 {
		return err
	}
	before, err := tx.GivenRole(ctx, boardID, heir)
	if err != nil {
		return err
	}
	return makeAdmin(ctx, tx, boardID, heir, before)
}

// makeAdmin gives a person the admin role on a board. before is the person's previous
// role, or nil if there was none.
func makeAdmin(ctx context.Context, tx *store.Tx, boardID, userID string, before *board.Role) error {
	kind := board.KindBoardMemberUpdated
	if before == nil {
		kind = board.KindBoardMemberAdded
	}
	tx.Emit(boardID, board.BoardEvent(kind, board.Changes{"userId": {To: userID}, "role": {From: before, To: board.RoleAdmin}}))
	return tx.SetBoardMember(ctx, boardID, userID, board.RoleAdmin)
}
