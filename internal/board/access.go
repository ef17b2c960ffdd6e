package board

// Access holds the state of a board and the caller's relation to it. The store
// loads it with each record of the board, and every permission check uses it.
type Access struct {
	BoardID        string
	WorkspaceID    string
	OrganizationID string
	Visibility     Visibility
	Features       Features
	WorkspaceRole  WorkspaceRole // empty for people outside the workspace
	BoardRole      Role          // the role given on the board itself
	ReadOnly       bool          // the organization's plan is read-only
	Archived       bool
	Trashed        bool
	Hidden         bool  // a job is creating or deleting the board, so nobody can see it
	Version        int64 // the boardVersion
	OpenCards      int   // not archived, including done ones
	DoneCards      int   // the done ones among OpenCards
	AllCards       int
	OpenLists      int
	NextNumber     int   // the number that the next card gets
	NamesVersion   int64 // the version of all people's names
}

// CountOpen adds n to the number of cards that are not archived, and to the number of
// done ones among them if the card is done. For a card that becomes archived, n is -1.
func (a *Access) CountOpen(c Card, n int) {
	a.OpenCards += n
	if c.DoneAt != nil {
		a.DoneCards += n
	}
}

// Unfinished returns the number of cards that are neither done nor archived.
func (a *Access) Unfinished() int { return a.OpenCards - a.DoneCards }

// Role returns the caller's role on the board.
func (a *Access) Role(c Caller) Role {
	if c.System {
		return RoleAdmin
	}
	if c.WorkspaceID != "" && c.WorkspaceID != a.WorkspaceID {
		return RoleNone
	}
	return RoleOn(a.WorkspaceRole, a.BoardRole, a.Visibility)
}

// can reports whether the caller has the given capability on the board, regardless
// of the board's state.
func (a *Access) can(c Caller, need Capability) bool {
	if c.Guest != nil {
		return c.Guest.can(a, need)
	}
	return a.Role(c).Can(need)
}

// CanSee reports whether the caller can see the board, regardless of its state.
func (a *Access) CanSee(c Caller) bool { return a.can(c, View) }

// Allow returns an error unless the caller may use the capability now. The code
// is not_found if the caller cannot see the board, forbidden if the role is too
// weak, and plan_read_only or board_archived if the board cannot be changed. A board
// in the trash is not_found, except that an admin may use Reopen.
func (a *Access) Allow(c Caller, need Capability) error {
	if a.Hidden || !a.can(c, View) {
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
			return Forbidden("The public page of this board does not allow this.")
		}
		return Forbidden("Your role on this board is %s; this action requires the "+
			"%s role.", a.Role(c), capabilities[need])
	}
	if a.ReadOnly && !c.System {
		return Refuse(CodePlanReadOnly, "The organization is read-only. Nothing on its boards can be changed until "+
			"an operator of this server allows changes again.")
	}
	if a.Archived && need != Reopen {
		return Refuse(CodeBoardArchived, "The board is archived. Restore it before changing anything on it.")
	}
	return nil
}

// Needs returns a powerup_disabled error if the feature is off on the board.
func (a *Access) Needs(f Feature) error {
	if a.Features.Has(f) {
		return nil
	}
	return Refuse(CodePowerupDisabled, "The %s feature is off on this board. A board admin can enable it in the "+
		"board's features.", f)
}
