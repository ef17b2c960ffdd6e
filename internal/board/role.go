package board

// WorkspaceRole is a person's role in a workspace.
type WorkspaceRole string

// Workspace roles, strongest first.
const (
	WorkspaceOwner  WorkspaceRole = "owner"
	WorkspaceAdmin  WorkspaceRole = "admin"
	WorkspaceMember WorkspaceRole = "member"
	WorkspaceGuest  WorkspaceRole = "guest"
)

// ParseWorkspaceRole parses a workspace role. It returns an error for any other
// value.
func ParseWorkspaceRole(field, s string) (WorkspaceRole, error) {
	switch r := WorkspaceRole(s); r {
	case WorkspaceOwner, WorkspaceAdmin, WorkspaceMember, WorkspaceGuest:
		return r, nil
	}
	return "", Invalid("%s must be one of owner, admin, member, guest.", field).In(field, RuleValue)
}

// Role is a person's role on a board. The empty role means no access.
type Role string

// Board roles, strongest first.
const (
	RoleAdmin     Role = "admin"
	RoleEditor    Role = "editor"
	RoleCommenter Role = "commenter"
	RoleViewer    Role = "viewer"
	RoleNone      Role = ""
)

// strength orders the board roles. A stronger role may do everything that a
// weaker one may.
func (r Role) strength() int {
	switch r {
	case RoleAdmin:
		return 4
	case RoleEditor:
		return 3
	case RoleCommenter:
		return 2
	case RoleViewer:
		return 1
	case RoleNone:
		return 0
	}
	return 0
}

// AtLeast reports whether r may do everything that other may.
func (r Role) AtLeast(other Role) bool { return r.strength() >= other.strength() }

// Capability is an action that requires a role on a board. The loaders of the store
// take a capability, so that each load checks the permission for its purpose.
type Capability int

// The capabilities on a board.
const (
	View       Capability = iota // read the board
	Discuss                      // write comments
	AddCards                     // create cards
	Edit                         // change content: lists, cards, labels, status updates
	Unarchive                    // Edit, even if the list or card is archived
	Administer                   // manage sharing, features, visibility, trash, webhooks and automation
	Reopen                       // Edit, even if the board is archived (a board in the trash requires Administer)
)

// capabilities maps each capability on a board to the weakest role that has it.
var capabilities = map[Capability]Role{
	View:       RoleViewer,
	Discuss:    RoleCommenter,
	AddCards:   RoleEditor,
	Edit:       RoleEditor,
	Unarchive:  RoleEditor,
	Administer: RoleAdmin,
	Reopen:     RoleEditor,
}

// Can reports whether a role has a capability.
func (r Role) Can(c Capability) bool {
	return r != RoleNone && r.AtLeast(capabilities[c])
}

// WorkspaceCapability is an action that requires a role in a workspace.
type WorkspaceCapability int

// The capabilities in a workspace.
const (
	ViewWorkspace WorkspaceCapability = iota // see its name and the boards open to the caller
	ViewDirectory                            // see the other members
	CreateBoards                             // create boards
	ManageMembers                            // invite people, see email addresses, manage roles, settings and webhooks
	OwnWorkspace                             // manage the owners, see all people of the organization, delete the workspace
)

var workspaceCapabilities = map[WorkspaceRole][]WorkspaceCapability{
	WorkspaceOwner:  {ViewWorkspace, ViewDirectory, CreateBoards, ManageMembers, OwnWorkspace},
	WorkspaceAdmin:  {ViewWorkspace, ViewDirectory, CreateBoards, ManageMembers},
	WorkspaceMember: {ViewWorkspace, ViewDirectory, CreateBoards},
	WorkspaceGuest:  {ViewWorkspace},
}

// Can reports whether a workspace role has a capability.
func (r WorkspaceRole) Can(c WorkspaceCapability) bool {
	for _, has := range workspaceCapabilities[r] {
		if has == c {
			return true
		}
	}
	return false
}

// Visibility determines who can see a board.
type Visibility string

// The three visibilities.
const (
	VisibleToWorkspace Visibility = "workspace"    // every member can edit; admins and owners administer
	Private            Visibility = "private"      // board members only
	Confidential       Visibility = "confidential" // private, without webhooks or workspace exports
)

// RoleOn returns a person's role on a board. It depends on the role in the workspace
// (empty for none), the role given on the board (empty for none) and the board's
// visibility. A person who left the workspace has no role, even if one was given on
// the board.
func RoleOn(inWorkspace WorkspaceRole, onBoard Role, v Visibility) Role {
	role := onBoard
	if inWorkspace == "" {
		return RoleNone
	}
	if v == VisibleToWorkspace {
		switch inWorkspace {
		case WorkspaceOwner, WorkspaceAdmin:
			return RoleAdmin
		case WorkspaceMember:
			if !role.AtLeast(RoleEditor) {
				role = RoleEditor
			}
		case WorkspaceGuest:
		}
	}
	return role
}
