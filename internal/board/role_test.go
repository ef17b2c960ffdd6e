package board_test

import (
	"testing"

	"cardwall/internal/board"
)

// The expected roles are those of the table [role] in internal/app/testdata/access.txt, which
// explains the rules. They are listed by role in the workspace and by visibility. Each
// entry has the results for the roles none, viewer, commenter, editor and admin on the board.
func TestRoleOn(t *testing.T) {
	t.Parallel()
	given := []board.Role{board.RoleNone, board.RoleViewer, board.RoleCommenter, board.RoleEditor, board.RoleAdmin}
	asGiven := "-vcea"
	letters := map[board.Role]byte{board.RoleNone: '-', board.RoleViewer: 'v', board.RoleCommenter: 'c', board.RoleEditor: 'e',
		board.RoleAdmin: 'a'}
	for in, row := range map[board.WorkspaceRole]map[board.Visibility]string{
		board.WorkspaceOwner:  {board.VisibleToWorkspace: "aaaaa", board.Private: asGiven, board.Confidential: asGiven},
		board.WorkspaceAdmin:  {board.VisibleToWorkspace: "aaaaa", board.Private: asGiven, board.Confidential: asGiven},
		board.WorkspaceMember: {board.VisibleToWorkspace: "eeeea", board.Private: asGiven, board.Confidential: asGiven},
		board.WorkspaceGuest:  {board.VisibleToWorkspace: asGiven, board.Private: asGiven, board.Confidential: asGiven},
		"":                    {board.VisibleToWorkspace: "-----", board.Private: "-----", board.Confidential: "-----"},
	} {
		for visibility, want := range row {
			for i, role := range given {
				if got := board.RoleOn(in, role, visibility); letters[got] != want[i] {
					t.Errorf("%q in the workspace, %q on a %s board: got %q, want %c", in, role, visibility, got, want[i])
				}
			}
		}
	}
}

func TestCapabilitiesOfRoles(t *testing.T) {
	t.Parallel()
	for role, want := range map[board.Role][]board.Capability{
		board.RoleNone: {}, board.RoleViewer: {board.View}, board.RoleCommenter: {board.View, board.Discuss},
		board.RoleEditor: {board.View, board.Discuss, board.AddCards, board.Edit, board.Unarchive, board.Reopen},
		board.RoleAdmin:  {board.View, board.Discuss, board.AddCards, board.Edit, board.Unarchive, board.Reopen, board.Administer},
		"nonsense":       {},
	} {
		can := map[board.Capability]bool{}
		for _, c := range want {
			can[c] = true
		}
		for c := board.View; c <= board.Reopen; c++ {
			if role.Can(c) != can[c] {
				t.Errorf("%q, capability %d: got %v, want %v", role, c, role.Can(c), can[c])
			}
		}
	}
}

// Allow checks conditions in an order in which no error reveals more than the caller
// may know.
func TestAllow(t *testing.T) {
	t.Parallel()
	ada := board.Person("usr_x", board.ScopeRead)
	limited := ada
	limited.WorkspaceID = "wsp_other"
	for _, c := range []struct {
		what   string
		access board.Access
		caller board.Caller
		need   board.Capability
		want   board.Code
	}{
		{"a person outside the workspace", board.Access{ReadOnly: true, Archived: true}, ada, board.View, board.CodeNotFound},
		{"a token of another workspace", board.Access{WorkspaceID: "wsp_x", WorkspaceRole: "owner", BoardRole: "admin"}, limited,
			board.View, board.CodeNotFound},
		{"a viewer who edits", board.Access{WorkspaceRole: "guest", BoardRole: "viewer", ReadOnly: true, Archived: true}, ada,
			board.Edit, board.CodeForbidden},
		{"an editor on a read-only plan", board.Access{WorkspaceRole: "guest", BoardRole: "editor", ReadOnly: true, Archived: true},
			ada, board.Edit, board.CodePlanReadOnly},
		{"a reader on a read-only plan", board.Access{WorkspaceRole: "guest", BoardRole: "viewer", ReadOnly: true, Archived: true},
			ada, board.View, ""},
		{"an editor of an archived board", board.Access{WorkspaceRole: "guest", BoardRole: "editor", Archived: true}, ada, board.Edit,
			board.CodeBoardArchived},
		{"an admin of an archived board", board.Access{WorkspaceRole: "guest", BoardRole: "admin", Archived: true}, ada,
			board.Administer, board.CodeBoardArchived},
		{"an editor who restores", board.Access{WorkspaceRole: "guest", BoardRole: "editor", Archived: true}, ada, board.Reopen, ""},
		{"an editor of a board in the trash", board.Access{WorkspaceRole: "guest", BoardRole: "editor", Trashed: true}, ada, board.Reopen,
			board.CodeNotFound},
		{"an admin who restores from the trash", board.Access{WorkspaceRole: "guest", BoardRole: "admin", Trashed: true}, ada, board.Reopen, ""},
		{"an admin who views a board in the trash", board.Access{WorkspaceRole: "guest", BoardRole: "admin", Trashed: true}, ada,
			board.View, board.CodeNotFound},
		{"the service on a read-only plan", board.Access{ReadOnly: true}, board.System(), board.Administer, ""},
	} {
		err := c.access.Allow(c.caller, c.need)
		if f, _ := board.AsFault(err); c.want == "" && err != nil || c.want != "" && (f == nil || f.Code != c.want) {
			t.Errorf("%s: got error %v, want %q", c.what, err, c.want)
		}
	}
}
