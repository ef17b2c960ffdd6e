package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// ChangeMemberInput is the input of ChangeMember.
type ChangeMemberInput struct {
	WorkspaceInput
	UserID string              `json:"userId" maxLength:"64" doc:"The id of a person in the workspace." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Role   board.WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The person's new role. Only owners can make someone an owner." example:"admin"`
}

// ChangeMember changes a person's role in a workspace. Only owners can change
// an owner's role, and the last owner must stay an owner. A person who becomes a
// guest is unassigned from the cards of boards that the person can no longer see.
// Open invitations that the person has sent are withdrawn if the person may no longer
// give their roles.
func ChangeMember(ctx context.Context, tx *store.Tx, in ChangeMemberInput) (board.Member, error) {
	w, m, err := memberToChange(ctx, tx, in)
	if err != nil || m.Role == in.Role {
		return m, err
	}
	if err := tx.SetMember(ctx, w.ID, m.ID, in.Role); err != nil {
		return m, err
	}
	tx.Note("", board.Changes{"role": {From: m.Role, To: in.Role}})
	m.Role = in.Role
	if !m.Role.Can(board.OwnWorkspace) {
		if err := tx.WithdrawInvitationsBy(ctx, w.ID, m.ID, m.Role.Can(board.ManageMembers)); err != nil {
			return m, err
		}
	}
	return m, eachBoard(ctx, tx, w.ID, m.ID, func(boardID string, on board.BoardMember) error {
		if on.Role != board.RoleNone {
			return nil
		}
		return unassignFromBoard(ctx, tx, boardID, m.ID)
	})
}

// memberToChange locks the workspace and returns the person whose role is to change. It
// returns an error if the caller may not make this change.
func memberToChange(ctx context.Context, tx *store.Tx, in ChangeMemberInput) (w board.Workspace, m board.Member, err error) {
	if w, err = tx.OnWorkspace(ctx, in.WorkspaceID, board.ManageMembers); err != nil {
		return w, m, err
	}
	if m, err = tx.Member(ctx, w.ID, in.UserID); err != nil || m.Role == in.Role {
		return w, m, err
	}
	for _, role := range []board.WorkspaceRole{m.Role, in.Role} {
		if err := canGive(tx, w, role); err != nil {
			return w, m, err
		}
	}
	return w, m, requireOtherOwner(ctx, tx, w.ID, m)
}

// RemoveMemberInput is the input of RemoveMember.
type RemoveMemberInput struct {
	WorkspaceInput
	UserID string `json:"userId" maxLength:"64" doc:"The id of a person in the workspace. Give your own id to leave the workspace." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// RemoveMember removes a person from a workspace, or lets the caller leave it.
// Only owners can remove owners, and the last owner must stay. The person's
// board roles are removed, and the person is unassigned from all cards. The person's
// tokens limited to the workspace are revoked, and open invitations that the person
// has sent are withdrawn. Everything else that the person created stays.
//
// A caller who is the last admin of a board cannot leave until the board has another
// admin or is in the trash. Someone else can remove the last admin, even without
// access to the board. An owner of the workspace then becomes the board's admin.
func RemoveMember(ctx context.Context, tx *store.Tx, in RemoveMemberInput) (Deleted, error) {
	w, m, leaving, err := memberToRemove(ctx, tx, in)
	if err != nil {
		return Deleted{}, err
	}
	err = eachBoard(ctx, tx, w.ID, m.ID, func(boardID string, on board.BoardMember) error {
		if err := leaveBoard(ctx, tx, w.ID, boardID, on, leaving); err != nil {
			return err
		}
		return unassignFromBoard(ctx, tx, boardID, m.ID)
	})
	if err != nil {
		return Deleted{}, err
	}
	if err := tx.RevokeWorkspaceTokens(ctx, m.ID, w.ID); err != nil {
		return Deleted{}, err
	}
	if err := tx.WithdrawInvitationsBy(ctx, w.ID, m.ID, false); err != nil {
		return Deleted{}, err
	}
	tx.Note("", board.Changes{"role": {From: m.Role}})
	return Deleted{m.ID}, tx.RemoveMember(ctx, w.ID, m.ID)
}

// memberToRemove locks the workspace and returns the person to remove. It returns an
// error if the caller may not remove this person. leaving is true if the person is
// the caller.
func memberToRemove(ctx context.Context, tx *store.Tx, in RemoveMemberInput) (w board.Workspace, m board.Member, leaving bool, err error) {
	need, leaving := board.ManageMembers, in.UserID == tx.Caller().UserID
	if leaving {
		need = board.ViewWorkspace
	}
	if w, err = tx.OnWorkspace(ctx, in.WorkspaceID, need); err != nil {
		return w, m, leaving, err
	}
	if m, err = tx.Member(ctx, w.ID, in.UserID); err != nil {
		return w, m, leaving, err
	}
	if !leaving {
		if err := canGive(tx, w, m.Role); err != nil {
			return w, m, leaving, err
		}
	}
	return w, m, leaving, requireOtherOwner(ctx, tx, w.ID, m)
}

// requireOtherOwner returns an error if the person is the only owner of the
// workspace.
func requireOtherOwner(ctx context.Context, tx *store.Tx, workspaceID string, m board.Member) error {
	if m.Role != board.WorkspaceOwner {
		return nil
	}
	other, err := tx.OtherOwner(ctx, workspaceID, m.ID)
	if err == nil && other == "" {
		err = board.Forbidden("This is the workspace's last owner. Make someone else an owner first.")
	}
	return err
}

// eachBoard locks, in the order of their ids, all boards of a workspace on which a person
// has a role or assigned cards. It calls fn for each board with the person's role there.
// It includes boards that the caller cannot see, so fn runs with the permissions of the
// service.
func eachBoard(ctx context.Context, tx *store.Tx, workspaceID, userID string, fn func(boardID string, on board.BoardMember) error) error {
	return tx.AsSystem(func() error {
		boards, err := tx.MemberBoards(ctx, workspaceID, userID)
		if err != nil {
			return err
		}
		for _, id := range boards {
			if _, err := tx.Board(ctx, id, board.Reopen); err != nil { // includes archived and trashed boards
				return err
			}
			on, err := tx.BoardMember(ctx, id, userID)
			if err != nil {
				return err
			}
			if err := fn(id, on); err != nil {
				return err
			}
		}
		return nil
	})
}

// leaveBoard removes a person's role on a board. If the board loses its only admin, an
// owner of the workspace becomes its admin.
func leaveBoard(ctx context.Context, tx *store.Tx, workspaceID, boardID string, on board.BoardMember, leaving bool) error {
	if on.Given == nil {
		return nil
	}
	inherits, err := needsNewAdmin(ctx, tx, boardID, on, leaving)
	if err != nil {
		return err
	}
	if err := tx.RemoveBoardMember(ctx, boardID, on.ID); err != nil {
		return err
	}
	tx.Emit(boardID, board.BoardEvent(board.KindBoardMemberRemoved, board.Changes{"userId": {From: on.ID}, "role": {From: on.Given}}))
	if !inherits {
		return nil
	}
	heir, err := tx.OtherOwner(ctx, workspaceID, on.ID)
	if err != nil || heir == "" {
		return err
	}
	before, err := tx.BoardMember(ctx, boardID, heir)
	if err != nil {
		return err
	}
	return makeAdmin(ctx, tx, boardID, heir, before.Given)
}

// needsNewAdmin reports whether a board loses its only admin together with the person's
// role on it. It returns an error if the person must name another admin before leaving.
func needsNewAdmin(ctx context.Context, tx *store.Tx, boardID string, on board.BoardMember, leaving bool) (bool, error) {
	if on.Given == nil || on.Role != board.RoleAdmin {
		return false, nil
	}
	admins, err := tx.CountBoardAdmins(ctx, boardID, on.ID)
	if err != nil || admins > 0 {
		return false, err
	}
	if leaving && !tx.On(boardID).Trashed {
		return false, board.Forbidden("You are the last admin of the board %s. Make someone else its admin first.", boardID)
	}
	return true, nil
}
