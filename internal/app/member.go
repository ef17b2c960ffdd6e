package app

import (
	"context"

	"cardwall/internal/board"
	"cardwall/internal/store"
)

// ChangeMemberInput says who, and as what.
type ChangeMemberInput struct {
	WorkspaceInput
	UserID string              `json:"userId" maxLength:"64" doc:"A person of the workspace." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
	Role   board.WorkspaceRole `json:"role" enum:"owner,admin,member,guest" doc:"The person's new role. Only owners can make someone an owner." example:"admin"`
}

// ChangeMember gives a person of a workspace another role. Only owners change
// owners, and the last one stays. Who becomes a guest is taken off the cards of
// boards that a guest does not see; open invitations that the person may not
// give any more are withdrawn.
func ChangeMember(ctx context.Context, tx *store.Tx, in ChangeMemberInput) (board.Member, error) {
	w, err := tx.OnWorkspace(ctx, in.WorkspaceID, board.ManageMembers)
	if err != nil {
		return board.Member{}, err
	}
	m, err := tx.Member(ctx, w.ID, in.UserID)
	if err != nil || m.Role == in.Role {
		return m, err
	}
	for _, role := range []board.WorkspaceRole{m.Role, in.Role} {
		if err := canGive(tx, w, role); err != nil {
			return m, err
		}
	}
	if err := ownerLeft(ctx, tx, w.ID, m); err != nil {
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
		return takeOffCards(ctx, tx, boardID, m.ID)
	})
}

// RemoveMemberInput says who.
type RemoveMemberInput struct {
	WorkspaceInput
	UserID string `json:"userId" maxLength:"64" doc:"A person of the workspace. Give your own id to leave it." example:"usr_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// RemoveMember takes a person out of a workspace, or lets the caller leave it.
// Only owners remove owners, and the last one stays. The person's roles on
// boards go, cards are unassigned, tokens limited to the workspace and open
// invitations end; what the person made stays.
//
// Who leaves a private board without an admin is refused until another one is
// made. When somebody else removes its last admin, who cannot know of it, the
// workspace's owner takes the board over.
func RemoveMember(ctx context.Context, tx *store.Tx, in RemoveMemberInput) (Deleted, error) {
	need, leaving := board.ManageMembers, in.UserID == tx.Caller().UserID
	if leaving {
		need = board.ViewWorkspace
	}
	w, err := tx.OnWorkspace(ctx, in.WorkspaceID, need)
	if err != nil {
		return Deleted{}, err
	}
	m, err := tx.Member(ctx, w.ID, in.UserID)
	if err != nil {
		return Deleted{}, err
	}
	if !leaving {
		if err := canGive(tx, w, m.Role); err != nil {
			return Deleted{}, err
		}
	}
	if err := ownerLeft(ctx, tx, w.ID, m); err != nil {
		return Deleted{}, err
	}
	err = eachBoard(ctx, tx, w.ID, m.ID, func(boardID string, on board.BoardMember) error {
		if err := leaveBoard(ctx, tx, w.ID, boardID, on, leaving); err != nil {
			return err
		}
		return takeOffCards(ctx, tx, boardID, m.ID)
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

// ownerLeft refuses when a workspace would have no owner without a person.
func ownerLeft(ctx context.Context, tx *store.Tx, workspaceID string, m board.Member) error {
	if m.Role != board.WorkspaceOwner {
		return nil
	}
	other, err := tx.OtherOwner(ctx, workspaceID, m.ID)
	if err == nil && other == "" {
		err = board.Forbidden("This is the workspace's last owner; make somebody else an owner first.")
	}
	return err
}

// eachBoard locks the boards on which a person of the workspace has a role or
// cards, in the order of their ids, and calls fn for each with what the person
// is there now. It reaches boards that the caller does not see.
func eachBoard(ctx context.Context, tx *store.Tx, workspaceID, userID string, fn func(boardID string, on board.BoardMember) error) error {
	return tx.AsSystem(func() error {
		boards, err := tx.MemberBoards(ctx, workspaceID, userID)
		if err != nil {
			return err
		}
		for _, id := range boards {
			if _, err := tx.Board(ctx, id, board.Reopen); err != nil { // in the archive and the trash too
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

// leaveBoard takes a person's role on a board away, and sees to it that the
// board has an admin.
func leaveBoard(ctx context.Context, tx *store.Tx, workspaceID, boardID string, on board.BoardMember, leaving bool) error {
	if on.Given == nil {
		return nil
	}
	if err := tx.RemoveBoardMember(ctx, boardID, on.ID); err != nil {
		return err
	}
	tx.Emit(boardID, board.BoardEvent("board_member.removed", board.Changes{"userId": {From: on.ID}, "role": {From: on.Given}}))
	if on.Role != board.RoleAdmin {
		return nil
	}
	admins, err := tx.CountBoardAdmins(ctx, boardID, on.ID)
	if err != nil || admins > 0 {
		return err
	}
	if leaving && !tx.On(boardID).Trashed {
		return board.Forbidden("You are the last admin of the board %s; make somebody else its admin first.", boardID)
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

// takeOffCards unassigns a person from all cards of a locked board.
func takeOffCards(ctx context.Context, tx *store.Tx, boardID, userID string) error {
	ids, err := tx.UnassignFromBoard(ctx, boardID, userID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		card, err := tx.View.Card(ctx, id, board.Reopen)
		if err != nil {
			return err
		}
		before := append([]board.UserRef{{ID: userID}}, card.Assignees...)
		tx.Emit(boardID, board.CardAssigneesChanged(card, before, []string{}, []string{userID}))
	}
	return nil
}
