package board

// WorkspaceRole is what a person is in a workspace.
type WorkspaceRole string

// Workspace roles, strongest first.
const (
	WorkspaceOwner  WorkspaceRole = "owner"
	WorkspaceAdmin  WorkspaceRole = "admin"
	WorkspaceMember WorkspaceRole = "member"
	WorkspaceGuest  WorkspaceRole = "guest"
)

// ParseWorkspaceRole refuses every word that is not a workspace role.
func ParseWorkspaceRole(field, s string) (WorkspaceRole, error) {
	switch r := WorkspaceRole(s); r {
	case WorkspaceOwner, WorkspaceAdmin, WorkspaceMember, WorkspaceGuest:
		return r, nil
	}
	return "", Invalid("%s must be one of owner, admin, member, guest.", field)
}

// Role is what a person is on a board. The empty role is a stranger.
type Role string

// Board roles, strongest first.
const (
	RoleAdmin     Role = "admin"
	RoleEditor    Role = "editor"
	RoleCommenter Role = "commenter"
	RoleViewer    Role = "viewer"
	RoleNone      Role = ""
)

// strength orders the board roles; a stronger role may do all that a weaker may.
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

// AtLeast tells whether r may do all that other may.
func (r Role) AtLeast(other Role) bool { return r.strength() >= other.strength() }

// Capability is a thing that can be done on a board. Loaders of the store take
// one, so that nothing is loaded without saying what for.
type Capability int

// The capabilities on a board.
const (
	View       Capability = iota // read it
	Discuss                      // write comments
	AddCards                     // make new cards
	Edit                         // change content: lists, cards, labels, status updates
	Unarchive                    // Edit, and the object may be an archived list or card
	Administer                   // share, features, visibility, trash, webhooks, automation
	Reopen                       // Edit, and the board itself may be archived (Administer if it is in the trash)
)

// capabilities is the one table of who may do what on a board: the weakest
// role that has the capability.
var capabilities = map[Capability]Role{
	View:       RoleViewer,
	Discuss:    RoleCommenter,
	AddCards:   RoleEditor,
	Edit:       RoleEditor,
	Unarchive:  RoleEditor,
	Administer: RoleAdmin,
	Reopen:     RoleEditor,
}

// Can tells whether a role has a capability.
func (r Role) Can(c Capability) bool {
	return r != RoleNone && r.AtLeast(capabilities[c])
}

// WorkspaceCapability is a thing that can be done in a workspace.
type WorkspaceCapability int

// The capabilities in a workspace.
const (
	ViewWorkspace WorkspaceCapability = iota // see its name and the boards open to oneself
	ViewDirectory                            // see who else is a member
	CreateBoards                             // make boards
	ManageMembers                            // invite, change roles, settings, webhooks; sees email addresses
	OwnWorkspace                             // the plan, other owners, deleting the workspace
)

var workspaceCapabilities = map[WorkspaceRole][]WorkspaceCapability{
	WorkspaceOwner:  {ViewWorkspace, ViewDirectory, CreateBoards, ManageMembers, OwnWorkspace},
	WorkspaceAdmin:  {ViewWorkspace, ViewDirectory, CreateBoards, ManageMembers},
	WorkspaceMember: {ViewWorkspace, ViewDirectory, CreateBoards},
	WorkspaceGuest:  {ViewWorkspace},
}

// Can tells whether a workspace role has a capability.
func (r WorkspaceRole) Can(c WorkspaceCapability) bool {
	for _, has := range workspaceCapabilities[r] {
		if has == c {
			return true
		}
	}
	return false
}

// Visibility is who sees a board.
type Visibility string

// The three visibilities.
const (
	VisibleToWorkspace Visibility = "workspace"    // every member edits, admins and owners administer
	Private            Visibility = "private"      // board members only
	Confidential       Visibility = "confidential" // private, and nothing leaves: no webhook, no export of the workspace, no one else's search
)

// RoleOn is the role that a person has on a board, from the role in the
// workspace (empty for a stranger), the role given on the board (empty for
// none) and the board's visibility. Who left the workspace has none, whatever
// the board says.
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
