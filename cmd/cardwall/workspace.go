package main

import (
	"context"
	"fmt"
	"math"

	"cardwall/internal/app"
	"cardwall/internal/board"
	"cardwall/internal/store"
)

type workspaceCommand struct {
	Add    workspaceAddCommand    `cmd:"" help:"Create a workspace and print its id."`
	Member workspaceMemberCommand `cmd:"" help:"Add a person to a workspace or change the person's role."`
}

type workspaceAddCommand struct {
	Owner string `required:"" placeholder:"EMAIL" help:"Owner of the workspace."`
	Name  string `required:"" help:"Name of the workspace."`
	Org   string `placeholder:"ID" help:"Organization of the workspace (default: a new one)."`
}

func (workspaceAddCommand) Help() string {
	return "Example:\n  cardwall workspace add --owner ada@example.com --name 'Analytical Engines'"
}

func (c *workspaceAddCommand) Run(ctx context.Context, g *globals) error {
	return g.withStore(ctx, func(db *store.DB) error {
		var u board.User
		if err := db.Read(ctx, board.System(), func(v *store.View) (err error) {
			u, err = userByEmail(ctx, v, c.Owner)
			return err
		}); err != nil {
			return err
		}
		var w board.Workspace
		if err := db.Write(ctx, board.Person(u.ID), func(tx *store.Tx) (err error) {
			w, err = app.AddWorkspace(ctx, tx, app.NewWorkspace{Name: c.Name, OrganizationID: c.Org})
			return err
		}); err != nil {
			return err
		}
		g.print("%s", w.ID)
		return nil
	})
}

type workspaceMemberCommand struct {
	ID   string `arg:"" help:"Id of the workspace (wsp_…)."`
	User string `required:"" placeholder:"EMAIL" help:"Person to add or change."`
	Role string `default:"member" enum:"owner,admin,member,guest" help:"Role of the person: owner, admin, member or guest (default ${default})."`
}

func (c *workspaceMemberCommand) Run(ctx context.Context, g *globals) error {
	role, err := board.ParseWorkspaceRole("role", c.Role)
	if err != nil {
		return err
	}
	return g.write(ctx, board.System(), func(tx *store.Tx) error {
		u, err := userByEmail(ctx, tx.View, c.User)
		if err != nil {
			return err
		}
		if _, err := tx.Workspace(ctx, c.ID, board.ManageMembers); err != nil {
			return noWorkspace(err, c.ID)
		}
		return tx.SetMember(ctx, c.ID, u.ID, role)
	})
}

// noWorkspace replaces a not_found error with one that contains the workspace's id. It
// returns other errors, such as those of the database, unchanged.
func noWorkspace(err error, id string) error {
	if board.IsCode(err, board.CodeNotFound) {
		return fmt.Errorf("there is no workspace %s", id)
	}
	return err
}

type orgCommand struct {
	List     orgListCommand     `cmd:"" help:"List organizations and their plans."`
	Plan     orgPlanCommand     `cmd:"" help:"Change the plan of an organization."`
	ReadOnly orgReadOnlyCommand `cmd:"" name:"read-only" help:"Make an organization read-only or writable again."`
}

type orgListCommand struct{}

func (orgListCommand) Run(ctx context.Context, g *globals) error {
	return g.withStore(ctx, func(db *store.DB) error {
		return db.Read(ctx, board.System(), func(v *store.View) error {
			all, err := v.Organizations(ctx, store.OrganizationFilter{}, "", math.MaxInt32)
			for _, o := range all {
				state := ""
				if o.ReadOnly {
					state = "  read-only"
				}
				g.print("%s  %-8s  %s%s", o.ID, o.Plan, o.Name, state)
			}
			return err
		})
	})
}

type orgPlanCommand struct {
	ID   string `arg:"" help:"Id of the organization (org_…)."`
	Plan string `arg:"" enum:"free,team,business" help:"The new plan: free, team or business."`
}

func (c *orgPlanCommand) Run(ctx context.Context, g *globals) error {
	plan := board.Plan(c.Plan)
	return changeOrg(ctx, g, c.ID, &plan, nil)
}

type orgReadOnlyCommand struct {
	ID    string `arg:"" help:"Id of the organization (org_…)."`
	State string `arg:"" enum:"on,off" help:"on makes the organization read-only, and off makes it writable."`
}

func (c *orgReadOnlyCommand) Run(ctx context.Context, g *globals) error {
	on := c.State == "on"
	return changeOrg(ctx, g, c.ID, nil, &on)
}

// changeOrg changes the plan of an organization if plan is not nil, and the
// read-only state if readOnly is not nil.
func changeOrg(ctx context.Context, g *globals, id string, plan *board.Plan, readOnly *bool) error {
	err := g.write(ctx, board.System(), func(tx *store.Tx) error {
		return tx.UpdateOrganization(ctx, id, plan, readOnly)
	})
	if board.IsCode(err, board.CodeNotFound) {
		return fmt.Errorf("there is no organization %s", id)
	}
	return err
}
