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
	Add    workspaceAddCommand    `cmd:"" help:"Make a workspace; prints its id."`
	Member workspaceMemberCommand `cmd:"" help:"Put a person into a workspace, or change the person's role."`
}

type workspaceAddCommand struct {
	Owner string `required:"" placeholder:"EMAIL" help:"Who owns it."`
	Name  string `required:"" help:"Its name."`
	Org   string `placeholder:"ID" help:"Organization that it belongs to; one of its own when absent."`
}

func (workspaceAddCommand) Help() string {
	return "Example:\n  cardwall workspace add --owner ada@example.com --name 'Analytical Engines'"
}

func (c *workspaceAddCommand) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(db *store.DB) error {
		var u board.User
		if err := db.Read(ctx, board.System(), func(v *store.View) (err error) {
			u, err = owner(ctx, v, c.Owner)
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
	ID   string `arg:"" help:"The workspace's id (wsp_…)."`
	User string `required:"" placeholder:"EMAIL" help:"The person."`
	Role string `default:"member" enum:"owner,admin,member,guest" help:"Role: owner, admin, member or guest."`
}

func (c *workspaceMemberCommand) Run(ctx context.Context, g *globals) error {
	role, err := board.ParseWorkspaceRole("role", c.Role)
	if err != nil {
		return err
	}
	return g.write(ctx, board.System(), func(tx *store.Tx) error {
		u, err := owner(ctx, tx.View, c.User)
		if err != nil {
			return err
		}
		if _, err := tx.Workspace(ctx, c.ID, board.ManageMembers); err != nil {
			return fmt.Errorf("there is no workspace %s", c.ID)
		}
		return tx.SetMember(ctx, c.ID, u.ID, role)
	})
}

type orgCommand struct {
	List     orgListCommand     `cmd:"" help:"List the organizations with their plans."`
	Plan     orgPlanCommand     `cmd:"" help:"Change an organization's plan."`
	ReadOnly orgReadOnlyCommand `cmd:"" name:"read-only" help:"Make an organization read-only, or lift that."`
}

type orgListCommand struct{}

func (orgListCommand) Run(ctx context.Context, g *globals) error {
	return g.with(ctx, func(db *store.DB) error {
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
	ID   string `arg:"" help:"The organization's id (org_…)."`
	Plan string `arg:"" enum:"free,team,business" help:"free, team or business."`
}

func (c *orgPlanCommand) Run(ctx context.Context, g *globals) error {
	plan := board.Plan(c.Plan)
	return changeOrg(ctx, g, c.ID, &plan, nil)
}

type orgReadOnlyCommand struct {
	ID    string `arg:"" help:"The organization's id (org_…)."`
	State string `arg:"" enum:"on,off" help:"on or off."`
}

func (c *orgReadOnlyCommand) Run(ctx context.Context, g *globals) error {
	on := c.State == "on"
	return changeOrg(ctx, g, c.ID, nil, &on)
}

func changeOrg(ctx context.Context, g *globals, id string, plan *board.Plan, readOnly *bool) error {
	err := g.write(ctx, board.System(), func(tx *store.Tx) error { return tx.UpdateOrganization(ctx, id, plan, readOnly) })
	if board.IsCode(err, board.CodeNotFound) {
		return fmt.Errorf("there is no organization %s", id)
	}
	return err
}
