package app

import (
	"context"
	"time"

	"cardwall/internal/board"
	"cardwall/internal/op"
	"cardwall/internal/store"
)

// OrganizationInput identifies an organization.
type OrganizationInput struct {
	OrganizationID string `json:"organizationId" maxLength:"64" doc:"The organization." example:"org_01jb2m3n4p5q6r7s8t9v0w1x2y"`
}

// PlanNumbers holds the limits of a plan.
type PlanNumbers struct {
	Plan              board.Plan `json:"plan" enum:"free,team,business" doc:"The plan." example:"team"`
	RequestsPerMinute int        `json:"requestsPerMinute" doc:"REST and MCP requests per minute and person." example:"300"`
	SearchesPerMinute int        `json:"searchesPerMinute" doc:"Searches per minute and person. They also count as requests." example:"60"`
	Webhooks          int        `json:"webhooks" doc:"Webhooks of the organization." example:"25"`
	DeliveriesPerDay  int        `json:"deliveriesPerDay" doc:"Webhook deliveries of the organization per day, in UTC." example:"10000"`
	StorageBytes      int64      `json:"storageBytes" doc:"Storage of the organization, in bytes." example:"25000000000"`
}

// OrganizationOverview is an organization with its plan and its usage.
type OrganizationOverview struct {
	board.Organization
	Owned      bool                          `json:"owned" doc:"Whether the caller owns one of its workspaces." example:"true"`
	Webhooks   board.Usage                   `json:"webhooks" doc:"Its webhooks. At the limit no more can be created."`
	Deliveries board.Usage                   `json:"deliveries" doc:"The deliveries of its webhooks today. Deliveries over the limit are skipped."`
	Storage    board.Usage                   `json:"storage" doc:"Its storage in bytes: text, activity and files, with 256 bytes for each record. Boards in the trash count until they are deleted permanently. At the limit, calls that add something are refused with plan_limit; reading, moving, shortening and deleting still work."`
	RenewsAt   board.Instant                 `json:"renewsAt" format:"date-time" doc:"When the count of deliveries restarts." example:"2026-03-03T00:00:00.000Z"`
	Plans      []PlanNumbers                 `json:"plans" doc:"All plans, smallest first."`
	Workspaces []board.OrganizationWorkspace `json:"workspaces" doc:"Its workspaces. A caller who owns none of them gets only the workspaces that the caller belongs to."`
}

// GetOrganization returns an organization's plan and its usage. The caller must be
// allowed to see the directory of one of its workspaces.
func GetOrganization(ctx context.Context, v *store.View, in OrganizationInput) (OrganizationOverview, error) {
	o, owned, err := v.Organization(ctx, in.OrganizationID, board.ViewDirectory)
	if err != nil {
		return OrganizationOverview{}, err
	}
	limits := o.Plan.Limits()
	webhooks, deliveries, err := v.OrganizationUsage(ctx, o.ID)
	if err != nil {
		return OrganizationOverview{}, err
	}
	used, err := v.OrganizationStorage(ctx, o.ID)
	if err != nil {
		return OrganizationOverview{}, err
	}
	out := OrganizationOverview{
		Organization: o, Owned: owned, Webhooks: board.UsageOf(webhooks, limits.Webhooks), Deliveries: board.UsageOf(deliveries,
			limits.DeliveriesPerDay),
		Storage:  board.UsageOf(int(used), int(v.StorageQuota(o.Plan))),
		RenewsAt: board.InstantOf(v.Time().Truncate(24 * time.Hour).Add(24 * time.Hour)),
	}
	for _, p := range board.Plans() {
		l := p.Limits()
		out.Plans = append(out.Plans, PlanNumbers{p, l.RequestsPerMinute, l.SearchesPerMinute, l.Webhooks, l.DeliveriesPerDay,
			int64(v.StorageQuota(p))})
	}
	out.Workspaces, err = v.OrganizationWorkspaces(ctx, o.ID, owned)
	return out, err
}

// ListOrganizationMembersInput is the input of ListOrganizationMembers.
type ListOrganizationMembersInput struct {
	OrganizationInput
	op.Paging
}

// ListOrganizationMembers returns the people in all workspaces of an
// organization. The caller must own one of the workspaces.
func ListOrganizationMembers(ctx context.Context, v *store.View,
	in ListOrganizationMembersInput) (op.Page[board.OrganizationMember], error) {
	var after string
	if err := in.After(&after); err != nil {
		return op.Page[board.OrganizationMember]{}, err
	}
	o, _, err := v.Organization(ctx, in.OrganizationID, board.OwnWorkspace)
	if err != nil {
		return op.Page[board.OrganizationMember]{}, err
	}
	members, err := v.OrganizationMembers(ctx, o.ID, after, in.Size()+1)
	return op.Cut(members, in.Size(), func(m board.OrganizationMember) any { return m.ID }), err
}

// ListOrganizationsInput is the input of ListOrganizations.
type ListOrganizationsInput struct {
	Q        string     `json:"q,omitempty" maxLength:"512" doc:"Only organizations with this text in their name or id, or in the name or email address of an owner." example:"ada@example.com"`
	Plan     board.Plan `json:"plan,omitempty" enum:"free,team,business" doc:"Only organizations on this plan." example:"free"`
	ReadOnly string     `json:"readOnly,omitempty" enum:"true,false" doc:"Only organizations that are read-only (true) or not (false)." example:"true"`
	op.Paging
}

// ListOrganizations returns the organizations of the server to its operators,
// newest first.
func ListOrganizations(ctx context.Context, v *store.View, in ListOrganizationsInput) (op.Page[board.OperatedOrganization], error) {
	var before string
	if err := in.After(&before); err != nil {
		return op.Page[board.OperatedOrganization]{}, err
	}
	filter := store.OrganizationFilter{Text: in.Q, Plan: in.Plan}
	if in.ReadOnly != "" {
		only := in.ReadOnly == "true"
		filter.ReadOnly = &only
	}
	all, err := v.Organizations(ctx, filter, before, in.Size()+1)
	return op.Cut(all, in.Size(), func(o board.OperatedOrganization) any { return o.ID }), err
}

// UpdateOrganizationInput holds the fields to change. Absent fields stay
// unchanged.
type UpdateOrganizationInput struct {
	OrganizationInput
	Plan     *board.Plan `json:"plan,omitempty" enum:"free,team,business" doc:"The new plan. Anything over its limits is kept, but nothing can be added." example:"business"`
	ReadOnly *bool       `json:"readOnly,omitempty" doc:"Whether its workspaces are read-only." example:"true"`
}

// UpdateOrganization changes an organization's plan, or whether it is read-only.
// The caller must be an operator. The audit logs of all its workspaces record
// the change.
func UpdateOrganization(ctx context.Context, tx *store.Tx, in UpdateOrganizationInput) (board.OperatedOrganization, error) {
	o, err := tx.OnOrganization(ctx, in.OrganizationID)
	if err != nil {
		return o, err
	}
	changes := board.Changes{}
	if in.Plan != nil {
		board.Set(changes, "plan", o.Plan, *in.Plan)
		o.Plan = *in.Plan
	}
	if in.ReadOnly != nil {
		board.Set(changes, "readOnly", o.ReadOnly, *in.ReadOnly)
		o.ReadOnly = *in.ReadOnly
	}
	tx.Note("", changes)
	return o, tx.UpdateOrganization(ctx, o.ID, &o.Plan, &o.ReadOnly)
}
