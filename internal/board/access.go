package board

// Access is what the store knows of a board and of the caller's relation to it
// when it loads anything on that board. It decides every question of who may.
type Access struct {
	BoardID        string
	WorkspaceID    string
	OrganizationID string
	Visibility     Visibility
	Features       Features
	WorkspaceRole  WorkspaceRole // empty for a stranger
	BoardRole      Role          // the role given on the board itself
	ReadOnly       bool          // the organization's plan is read-only
	Archived       bool
	Trashed        bool
	Version        int64 // the boardVersion
	OpenCards      int
	AllCards       int
	OpenLists      int
	NextNumber     int // the number of the next card
}

// Role is the caller's role on the board.
func (a *Access) Role(c Caller) Role {
	if c.System {
		return RoleAdmin
	}
	if c.WorkspaceID != "" && c.WorkspaceID != a.WorkspaceID {
		return RoleNone
	}
	return RoleOn(a.WorkspaceRole, a.BoardRole, a.Visibility)
}

// can tells whether the caller has a capability on the board, in whatever
// state it is.
func (a *Access) can(c Caller, need Capability) bool {
	if c.Guest != nil {
		return c.Guest.can(a, need)
	}
	return a.Role(c).Can(need)
}

// Sees tells whether the caller sees the board, in whatever state it is.
func (a *Access) Sees(c Caller) bool { return a.can(c, View) }

// Allow refuses what the caller may not do: not_found for who may not even
// see the board, forbidden for a role that is too weak, plan_read_only and
// board_archived for a board that takes no changes.
func (a *Access) Allow(c Caller, need Capability) error {
	if !a.can(c, View) {
		return NotFound()
	}
	if a.Trashed {
		if need != Reopen || !a.can(c, Administer) {
			return NotFound()
		}
	}
	if need == View {
		return nil
	}
	if !a.can(c, need) {
		if c.Guest != nil {
			return Forbidden("The public page of this board does not take this.")
		}
		return Forbidden("Your role on this board is %s; this needs the role %s.", a.Role(c), capabilities[need])
	}
	if a.ReadOnly && !c.System {
		return Refuse(CodePlanReadOnly, "The organization's plan is read-only; nothing on its boards can be changed until its operator lifts that.")
	}
	if a.Archived && need != Reopen {
		return Refuse(CodeBoardArchived, "The board is archived; restore it before changing anything on it.")
	}
	return nil
}

// Needs refuses with powerup_disabled when the board's feature is off.
func (a *Access) Needs(f Feature) error {
	if a.Features.Has(f) {
		return nil
	}
	return Refuse(CodePowerupDisabled, "The feature %s is off on this board; a board admin can switch it on under features.", f)
}
