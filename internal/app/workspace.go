package app

import (
	"cmp"
	"context"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// ListWorkspacesInput is the input of ListWorkspaces.
type ListWorkspacesInput struct {
	op.Paging
}

// ListWorkspaces returns the caller's workspaces, oldest first.
func ListWorkspaces(ctx context.Context, v *store.View, in ListWorkspacesInput) (op.Page[board.Workspace], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.Workspace]{}, err
	}
	all, err := v.Workspaces(ctx, after, in.Size()+1)
	return op.Cut(all, in.Size(), func(w board.Workspace) any { return w.ID }), err
}

// WorkspaceInput identifies a workspace.
type WorkspaceInput struct {
	WorkspaceID string `json:"workspaceId" maxLength:"64" doc:"The id of the workspace." example:"wsp_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// GetWorkspace returns a workspace.
func GetWorkspace(ctx context.Context, v *store.View, in WorkspaceInput) (board.Workspace, error) {
	return v.Workspace(ctx, in.WorkspaceID, board.ViewWorkspace)
}

// ListWorkspaceMembersInput is the input of ListWorkspaceMembers.
type ListWorkspaceMembersInput struct {
	WorkspaceInput
	op.Paging
}

// ListWorkspaceMembers returns the people in a workspace. Guests may not list them.
// Only owners and admins see email addresses.
func ListWorkspaceMembers(ctx context.Context, v *store.View, in ListWorkspaceMembersInput) (op.Page[board.Member], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.Member]{}, err
	}
	w, err := v.Workspace(ctx, in.WorkspaceID, board.ViewDirectory)
	if err != nil {
		return op.Page[board.Member]{}, err
	}
	members, err := v.Members(ctx, w.ID, after, in.Size()+1)
	if !w.Role.Can(board.ManageMembers) {
		for i := range members {
			members[i].Email = nil
		}
	}
	return op.Cut(members, in.Size(), func(m board.Member) any { return m.ID }), err
}

// maxOwned is the number of owned workspaces at which a person can no longer create or
// restore one. It does not limit becoming an owner of an existing workspace.
const maxOwned = 50

// CreateWorkspaceInput holds the fields of a new workspace.
type CreateWorkspaceInput struct {
	Name string `json:"name" minLength:"1" maxLength:"512" doc:"The workspace's name." example:"Analytical Engines"`
}

// CreateWorkspace creates a workspace with an organization of its own, on the
// operator's plan for new organizations. It returns an error if the caller already
// owns maxOwned workspaces.
func CreateWorkspace(ctx context.Context, tx *store.Tx, in CreateWorkspaceInput) (board.Workspace, error) {
	owned, err := tx.CountOwnedWorkspaces(ctx)
	if err == nil {
		err = board.CheckLimit("workspaces that one person owns", owned, 1, maxOwned)
	}
	if err != nil {
		return board.Workspace{}, err
	}
	return AddWorkspace(ctx, tx, NewWorkspace{Name: in.Name})
}

// UpdateWorkspaceInput is the input of UpdateWorkspace.
type UpdateWorkspaceInput struct {
	WorkspaceInput
	Name string `json:"name" minLength:"1" maxLength:"512" doc:"The new name." example:"Difference Engines"`
}

// UpdateWorkspace changes a workspace's name.
func UpdateWorkspace(ctx context.Context, tx *store.Tx, in UpdateWorkspaceInput) (board.Workspace, error) {
	w, err := tx.OnWorkspace(ctx, in.WorkspaceID, board.ManageMembers)
	if err != nil {
		return w, err
	}
	before := w.Name
	if w.Name, err = title("name", in.Name); err != nil {
		return w, err
	}
	changes := board.Changes{}
	board.Set(changes, "name", before, w.Name)
	tx.Note("", changes)
	return w, tx.UpdateWorkspace(ctx, w)
}

// NewWorkspace holds the fields of a new workspace. If OrganizationID is empty, the
// workspace gets a new organization on the given plan.
type NewWorkspace struct {
	Name           string
	OrganizationID string
	Plan           board.Plan // "" for the operator's plan for new organizations
}

// AddWorkspace creates a workspace owned by the caller.
func AddWorkspace(ctx context.Context, tx *store.Tx, in NewWorkspace) (board.Workspace, error) {
	name, err := title("name", in.Name)
	if err != nil {
		return board.Workspace{}, err
	}
	w := board.Workspace{ID: tx.NewID("wsp_"), OrganizationID: in.OrganizationID, Name: name, Role: board.WorkspaceOwner}
	if w.OrganizationID == "" {
		w.Plan = cmp.Or(in.Plan, tx.DefaultPlan())
		w.OrganizationID = tx.NewID("org_")
		if err := tx.InsertOrganization(ctx, board.Organization{ID: w.OrganizationID, Name: name, Plan: w.Plan}); err != nil {
			return w, err
		}
	}
	if err := tx.InsertWorkspace(ctx, &w); err != nil {
		return w, err
	}
	return w, tx.SetMember(ctx, w.ID, tx.Caller().UserID, board.WorkspaceOwner)
}
